"""A P4Runtime server that stands for simple_switch_grpc: the P4 program in Python behind gRPC.

It answers what BMv2 answers: errors for entries that are there already or not there, an empty
switch after a program was set, nothing about registers. Packets go straight to the program.
"""

from concurrent.futures import ThreadPoolExecutor

import grpc
from finsy.proto import p4r, p4r_grpc, rpc_code, rpc_status

from innet.emulator.bmv2_json.pipeline import Pipeline

DEVICE = 3
_VERBS = {1: "insert", 2: "modify", 3: "delete"}


class RefusedError(Exception):
    """A change that does not fit what is there."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class FakeSwitch(p4r_grpc.P4RuntimeServicer):
    """A switch for packets of any number of values; a program must be set first."""

    def __init__(self, folder):
        self.folder = folder
        self.writes = 0
        self.programs = 0
        self.groups_left = 0
        """Multicast groups that an exchange of programs left behind; BMv2 would go on copying."""
        self.primary_is_another = False
        self.full = None  # the name of a table that takes no more entries
        self._server = None
        self.lose_everything()

    def lose_everything(self):
        """Be as after a restart: no program, no tables, no registers."""
        self.pipeline = None
        self._config = p4r.ForwardingPipelineConfig()

    def start(self, address="127.0.0.1:0"):
        """Listen; returns the address for clients."""
        self._server = grpc.server(ThreadPoolExecutor(4))
        p4r_grpc.add_P4RuntimeServicer_to_server(self, self._server)
        port = self._server.add_insecure_port(address)
        self._server.start()
        return address.replace(":0", f":{port}")

    def stop(self):
        """Stop listening."""
        if self._server is not None:
            self._server.stop(None).wait()

    # --- P4Runtime ------------------------------------------------------------------------

    def Capabilities(self, request, context):  # noqa: N802
        return p4r.CapabilitiesResponse(p4runtime_api_version="1.4.0")

    def StreamChannel(self, requests, context):  # noqa: N802
        for request in requests:
            if request.WhichOneof("update") == "arbitration":
                answer = p4r.MasterArbitrationUpdate()
                answer.CopyFrom(request.arbitration)
                if self.primary_is_another:
                    answer.status.code = grpc.StatusCode.ALREADY_EXISTS.value[0]
                yield p4r.StreamMessageResponse(arbitration=answer)

    def GetForwardingPipelineConfig(self, request, context):  # noqa: N802
        self._check(request, context, needs_program=True)
        return p4r.GetForwardingPipelineConfigResponse(config=self._config)

    def SetForwardingPipelineConfig(self, request, context):  # noqa: N802
        self._check(request, context)
        program = self.folder / f"program{self.programs}.json"
        program.write_bytes(request.config.p4_device_config)
        self.programs += 1
        if self.pipeline is not None:
            self.groups_left += len(self.pipeline.groups)
        self._config = request.config
        self.pipeline = Pipeline.load(program)
        info = request.config.p4info
        self._tables = {each.preamble.id: each for each in info.tables}
        self._actions = {each.preamble.id: each for each in info.actions}
        self._counters = {each.preamble.id: each.preamble for each in info.counters}
        return p4r.SetForwardingPipelineConfigResponse()

    def Write(self, request, context):  # noqa: N802
        self._check(request, context, needs_program=True)
        problems = [self._try(update) for update in request.updates]
        if any(problem.canonical_code for problem in problems):
            status = rpc_status.Status(code=rpc_code.UNKNOWN, message="changes were refused")
            for problem in problems:
                status.details.add().Pack(problem)
            details = ("grpc-status-details-bin", status.SerializeToString())
            context.set_trailing_metadata((details,))
            context.abort(grpc.StatusCode.UNKNOWN, status.message)
        return p4r.WriteResponse()

    def _try(self, update):
        self.writes += 1
        kind = update.entity.WhichOneof("entity")
        verb = _VERBS[update.type]
        try:
            if kind == "table_entry":
                self._write_entry(verb, update.entity.table_entry)
            else:
                engine = update.entity.packet_replication_engine_entry
                self._write_group(verb, engine.multicast_group_entry)
        except RefusedError as refused:
            code = refused.code
            return p4r.Error(canonical_code=code, message=str(refused))
        return p4r.Error()

    def Read(self, request, context):  # noqa: N802
        self._check(request, context, needs_program=True)
        for entity in request.entities:
            kind = entity.WhichOneof("entity")
            if kind == "table_entry":
                yield p4r.ReadResponse(entities=self._read_table(entity.table_entry))
            elif kind == "packet_replication_engine_entry":
                yield p4r.ReadResponse(entities=self._read_groups())
            elif kind == "counter_entry":
                yield p4r.ReadResponse(entities=self._read_counter(entity.counter_entry))
            else:
                context.abort(grpc.StatusCode.UNIMPLEMENTED, f"{kind} is not implemented")

    def _check(self, request, context, *, needs_program=False):
        if request.device_id != DEVICE:
            context.abort(grpc.StatusCode.NOT_FOUND, f"no device {request.device_id}")
        if needs_program and self.pipeline is None:
            message = "No forwarding pipeline config set for this device"
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, message)

    # --- entries --------------------------------------------------------------------------

    def _write_entry(self, verb, entry):
        info = self._tables[entry.table_id]
        table = self.pipeline.tables[info.preamble.name]
        name, data = self._decoded_action(entry.action.action)
        if entry.is_default_action:
            assert verb == "modify"
            table.set_default(name, data)
            return
        if info.preamble.alias == self.full:
            raise RefusedError(rpc_code.RESOURCE_EXHAUSTED, f"{self.full} is full")
        match = self._decoded_match(info, entry)
        known = any(match == each for each, *_ in table.entries())
        if (verb == "insert") == known:
            code = rpc_code.ALREADY_EXISTS if known else rpc_code.NOT_FOUND
            raise RefusedError(code, f"{verb} of {match} in {table.name}")
        if verb == "delete":
            table.delete(match)
        else:
            getattr(table, verb)(match, name, data)

    def _decoded_match(self, info, entry):
        names = {field.id: field.name for field in info.match_fields}
        match = {}
        for field in entry.match:
            if field.WhichOneof("field_match_type") == "lpm":
                value = int.from_bytes(field.lpm.value), field.lpm.prefix_len
            else:
                value = int.from_bytes(field.exact.value)
            match[names[field.field_id]] = value
        return match

    def _decoded_action(self, action):
        if not action.action_id:
            return "", {}
        info = self._actions[action.action_id]
        names = {param.id: param.name for param in info.params}
        data = {names[each.param_id]: int.from_bytes(each.value) for each in action.params}
        return info.preamble.name, data

    def _read_table(self, asked):
        info = self._tables[asked.table_id]
        table = self.pipeline.tables[info.preamble.name]
        if asked.is_default_action:
            action = self._encoded_action(*table.default_action())
            entry = p4r.TableEntry(table_id=asked.table_id, action=action, is_default_action=True)
            return [p4r.Entity(table_entry=entry)]
        entities = []
        for match, name, data, _ in table.entries():
            entry = p4r.TableEntry(
                table_id=asked.table_id,
                match=[
                    self._encoded_match(field, match[field.name]) for field in info.match_fields
                ],
                action=self._encoded_action(name, data),
            )
            entities.append(p4r.Entity(table_entry=entry))
        return entities

    def _encoded_match(self, field, value):
        if isinstance(value, tuple):
            lpm = p4r.FieldMatch.LPM(value=_shortest(value[0]), prefix_len=value[1])
            return p4r.FieldMatch(field_id=field.id, lpm=lpm)
        exact = p4r.FieldMatch.Exact(value=_shortest(value))
        return p4r.FieldMatch(field_id=field.id, exact=exact)

    def _encoded_action(self, name, data):
        info = next(each for each in self._actions.values() if each.preamble.name == name)
        params = [
            p4r.Action.Param(param_id=param.id, value=_shortest(data[param.name]))
            for param in info.params
        ]
        return p4r.TableAction(action=p4r.Action(action_id=info.preamble.id, params=params))

    # --- groups and counters --------------------------------------------------------------

    def _write_group(self, verb, group):
        number = group.multicast_group_id
        if (verb == "insert") == (number in self.pipeline.groups):
            raise RefusedError(rpc_code.INVALID_ARGUMENT, f"{verb} of group {number}")
        if verb == "delete":
            self.pipeline.delete_group(number)
            return
        replicas = [(each.egress_port, each.instance) for each in group.replicas]
        self.pipeline.set_group(number, replicas)

    def _read_groups(self):
        for number, replicas in self.pipeline.groups.items():
            group = p4r.MulticastGroupEntry(
                multicast_group_id=number,
                replicas=[p4r.Replica(egress_port=p, instance=i) for p, i in replicas],
            )
            engine = p4r.PacketReplicationEngineEntry(multicast_group_entry=group)
            yield p4r.Entity(packet_replication_engine_entry=engine)

    def _read_counter(self, asked):
        counter = self.pipeline.counter(self._counters[asked.counter_id].name)
        for index, packets in enumerate(counter.packets):
            entry = p4r.CounterEntry(
                counter_id=asked.counter_id,
                index=p4r.Index(index=index),
                data=p4r.CounterData(packet_count=packets),
            )
            yield p4r.Entity(counter_entry=entry)


def _shortest(value):
    return value.to_bytes(max(1, (value.bit_length() + 7) // 8))
