"""The control plane of simple_switch_grpc: P4Runtime, with finsy's tables and messages.

BMv2 cannot read or write registers over P4Runtime; jobs start afresh by a new epoch instead.
finsy (extra `bmv2`) is imported where it is used.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from innet.emulator.bmv2_json.load import load_program
from innet.emulator.control.build import Build, find_build
from innet.emulator.control.entries import (
    DEFAULT_HOST,
    HOSTS,
    Action,
    Contents,
    Groups,
    Key,
    Rows,
    action,
    key,
)
from innet.emulator.control.local import POOL_REGISTER, short_name
from innet.emulator.control.plane import Change, GroupChange, RowChange, TablePlane
from innet.emulator.control.runtime_client import RuntimeClient, import_finsy


class RuntimeSwitch:
    """simple_switch_grpc with the P4 program for packets of `elements` values.

    `target` is a gRPC address (`127.0.0.1:9559`, `unix:/path`), `device` the device id that
    BMv2 was started with. MissingToolError if finsy is not installed.
    """

    def __init__(self, target: str, device: int, elements: int) -> None:
        self.elements = elements
        self._client = RuntimeClient(target, device)
        build = find_build(elements)
        self.slots = _pool_slots(build)
        self._schema = import_finsy().P4Schema(build.p4info, build.json)

    @property
    def cookie(self) -> int:
        """What marks the program on a switch that has it."""
        return int(self._schema.p4cookie)

    def load(self) -> None:
        """Put the program on the switch, also if it has it; its tables are empty afterwards."""
        with self._client as client:
            self._set_program(client, client.cookie())

    @contextmanager
    def session(self) -> Iterator["RuntimeSession"]:
        """Connect; a switch that has no program, or another one, gets ours."""
        with self._client as client:
            cookie = client.cookie()
            if cookie != self.cookie:
                self._set_program(client, cookie)
            version = import_finsy().P4RuntimeVersion.parse(client.version())
            self._schema.set_p4runtime_version(version)
            yield RuntimeSession(client, self._schema)

    def _set_program(self, client: RuntimeClient, cookie: int | None) -> None:
        """Exchange the program. BMv2 would keep the copies of the old one's multicast groups."""
        if cookie is not None:
            RuntimeSession(client, self._schema).delete_groups()
        client.set_program(self._schema.get_pipeline_config())


class RuntimeSession:
    """A connection to one switch."""

    def __init__(self, client: RuntimeClient, schema: Any) -> None:  # noqa: ANN401
        self._client = client
        self._schema = schema

    def read(self) -> Contents:
        """All entries, the default action of the hosts, and all multicast groups."""
        finsy = import_finsy()
        tables = [table.alias for table in self._schema.tables if len(table.match_fields) > 0]
        rows: Rows = {}
        for entry in self._read([finsy.P4TableEntry(name) for name in tables]):
            rows[_key(entry)] = _action(entry)
        for entry in self._read([finsy.P4TableEntry(HOSTS, is_default_action=True)]):
            rows[DEFAULT_HOST] = _action(entry)
        return Contents(rows, self._groups())

    def delete_groups(self) -> None:
        """Delete all multicast groups."""
        groups = self._groups()
        self.write([GroupChange("delete", number, groups[number]) for number in groups])

    def _groups(self) -> Groups:
        found = self._read([import_finsy().P4MulticastGroupEntry()])
        return {each.multicast_group_id: frozenset(map(_replica, each.replicas)) for each in found}

    def write(self, changes: Sequence[Change]) -> None:
        """Make changes, in order."""
        if changes:
            self._client.write([_update(change).encode_update(self._schema) for change in changes])

    def counters(self) -> Mapping[str, int]:
        """Packets by the last part of the counter's name, summed over its cells."""
        names = [counter.alias for counter in self._schema.counters]
        found = Counter(dict.fromkeys(names, 0))
        for cell in self._read([import_finsy().P4CounterEntry(name) for name in names]):
            found[cell.counter_id] += cell.packet_count
        return found

    def _read(self, asked: list[Any]) -> Iterator[Any]:
        """Entities of the kind of those that are asked for."""
        for entity in self._client.read([each.encode(self._schema) for each in asked]):
            yield type(asked[0]).decode(entity, self._schema)


class RuntimePlane(TablePlane):
    """A ControlPlane for a running simple_switch_grpc (see RuntimeSwitch).

    SwitchError names the switch if it does not answer or refuses; MissingToolError if finsy is
    not installed.
    """

    def __init__(self, target: str, elements: int, device: int = 0) -> None:
        super().__init__(RuntimeSwitch(target, device, elements))


def _pool_slots(build: Build) -> int:
    registers = load_program(build.json).registers
    return next(each.size for name, each in registers.items() if name.endswith(POOL_REGISTER))


def _key(entry: Any) -> Key:  # noqa: ANN401
    match = entry.match or {}
    return key(entry.table_id, **{name: _plain(value) for name, value in match.items()})


def _plain(value: Any) -> int | tuple[int, int]:  # noqa: ANN401
    return (int(value[0]), int(value[1])) if isinstance(value, tuple) else int(value)


def _action(entry: Any) -> Action:  # noqa: ANN401
    data = {name: int(value) for name, value in entry.action.args.items()}
    return action(short_name(entry.action.name), data)


def _replica(replica: Any) -> tuple[int, int]:  # noqa: ANN401
    """finsy writes a replica with instance 0 as its port alone."""
    return (replica, 0) if isinstance(replica, int) else (replica.port, replica.instance)


def _update(change: Change) -> Any:  # noqa: ANN401
    """finsy's form of a change: + inserts, ~ modifies, - deletes."""
    if isinstance(change, GroupChange):
        replicas = sorted(change.replicas)
        entity = import_finsy().P4MulticastGroupEntry(change.number, replicas=replicas)
    else:
        entity = _entry(change)
    if change.verb == "insert":
        return +entity
    return ~entity if change.verb == "modify" else -entity


def _entry(change: RowChange) -> Any:  # noqa: ANN401
    finsy = import_finsy()
    match = dict(change.key.match)
    done = finsy.P4TableAction(change.action.name, **dict(change.action.data))
    return finsy.P4TableEntry(
        change.key.table,
        match=finsy.P4TableMatch(match) if match else None,
        action=None if change.verb == "delete" else done,
        is_default_action=not match,
    )
