"""How every operation of a training step runs: in the network, or by which schedule and why."""

from collections.abc import Sequence
from dataclasses import dataclass

from innet.collectives.operations import build_operation_schedule
from innet.collectives.schedule import Schedule
from innet.plan.operation import Operation, OperationKind
from innet.plan.plan import Aggregation, Host, Rto, Stream, one_switch
from innet.plan.step import Lowered, Request
from innet.scenario.build import packet_bytes
from innet.scenario.network import common_switch
from innet.scenario.schema import Scenario
from innet.topology.graph import Graph
from innet.wire.dtypes import ITEMSIZE, DType
from innet.wire.headers import help_medium_bytes
from innet.workload.actions import Call
from innet.workload.sparse import as_exchange

_NOT_SUMMED = ("send", "all_to_all", "gather")
# What a switch only copies: whatever their type, such vectors are words of 4 bytes to it.
_COPIED = ("all_gather", "broadcast")


@dataclass(frozen=True, slots=True)
class Way:
    """How an operation runs: by an aggregation, or by a schedule and why by none."""

    kind: OperationKind
    group: tuple[int, ...]
    root: int
    elements: int
    dtype: DType
    how: str
    why: str
    aggregation: Aggregation | None = None
    job: int = 0
    schedule: Schedule | None = None

    def lowered(self, stream: Stream, rto: Rto) -> Lowered:
        """Return the operation with its timeout."""
        operation = Operation(
            self.kind,
            self.group,
            self.elements,
            self.dtype,
            rto,
            self.aggregation,
            None if self.schedule is None else stream,
            self.schedule,
            self.job,
            self.root,
        )
        return Lowered(operation, self.how, self.why)


def ways_of(
    scenario: Scenario,
    algorithm: str,
    graph: Graph,
    hosts: Sequence[Host],
    requests: Sequence[Request],
) -> dict[Request, Way]:
    """Return how every request runs.

    With a point-to-point `algorithm` everything runs by it or its kin; with in_network, what no
    switch takes part in runs by the scenario's fallback.
    """
    assert scenario.training is not None
    dtype = scenario.training.dtype
    if algorithm != "in_network":
        messages = _PointToPoint(algorithm, dtype)
        return {each: messages.way(each, f"{algorithm} was asked for") for each in requests}
    messages = _PointToPoint(scenario.training.fallback, dtype)
    offers = _offers(scenario, graph, hosts, requests)
    return {
        request: messages.way(request, offer)
        if isinstance(offer, str)
        else _in_network(request, offer, job, dtype)
        for request, (offer, job) in zip(requests, offers, strict=True)
    }


def _in_network(request: Request, aggregation: Aggregation, job: int, default: DType) -> Way:
    call = request.call
    assert call is not None
    dtype = _switch_dtype(call, default)
    elements = _elements(request.size, dtype)
    kind, root = call.kind, call.root
    return Way(
        kind, call.group, root, elements, dtype, "in_network", "", aggregation=aggregation, job=job
    )


def _switch_dtype(call: Call, default: DType) -> DType:
    """Return the type of the elements that a switch sees."""
    return "int32" if call.kind in _COPIED else call.dtype or default


def _elements(size_bytes: int, dtype: DType) -> int:
    """Return the elements of a vector; what is only moved may end within an element."""
    return -(-size_bytes // ITEMSIZE[dtype])


class _PointToPoint:
    """How requests run by messages: as the parts of an all-reduce's `algorithm`, or its like."""

    def __init__(self, algorithm: str, dtype: DType) -> None:
        self._algorithm, self._dtype = algorithm, dtype
        self._schedules: dict[tuple[object, ...], Schedule] = {}

    def way(self, request: Request, why: str) -> Way:
        """Return how a request runs, given why no switch takes part."""
        if request.call is None:
            elements = _elements(request.size, self._dtype)
            told = "a message has no sum"
            return self._way("send", request.group, 0, elements, self._dtype, told)
        call = as_exchange(request.call, ITEMSIZE[request.call.dtype or self._dtype])
        dtype = call.dtype or self._dtype
        elements = _elements(call.size, dtype)
        if call.kind == "all_to_all":
            # The size is that of what one rank sends, an operation's that of what all send.
            elements *= len(call.group)
        return self._way(call.kind, call.group, call.root, elements, dtype, why)

    def _way(
        self,
        kind: OperationKind,
        group: tuple[int, ...],
        root: int,
        elements: int,
        dtype: DType,
        why: str,
    ) -> Way:
        schedule = self._schedule(kind, len(group), elements, ITEMSIZE[dtype], root)
        how = schedule.algorithm
        return Way(kind, group, root, elements, dtype, how, why, schedule=schedule)

    def _schedule(self, kind: str, *terms: int) -> Schedule:
        """Return a schedule; groups that are alike share it."""
        key = (kind, *terms)
        if key not in self._schedules:
            self._schedules[key] = build_operation_schedule(kind, self._algorithm, *terms)
        return self._schedules[key]


def _offers(
    scenario: Scenario, graph: Graph, hosts: Sequence[Host], requests: Sequence[Request]
) -> list[tuple[Aggregation | str, int]]:
    """Return, for every request, its aggregation and job, or why no switch takes part.

    A job is what runs one after another and in one format: with a round of exponents, or not.
    """
    assert scenario.training is not None
    default = scenario.training.dtype
    jobs: dict[tuple[tuple[int, ...], str | None, bool], int] = {}
    for request in requests:
        if request.call is not None and request.kind not in _NOT_SUMMED:
            floats = _switch_dtype(request.call, default) != "int32"
            jobs.setdefault((request.group, request.lane, floats), len(jobs))
    slots = scenario.switch.slots // max(1, len(jobs))
    found: list[tuple[Aggregation | str, int]] = []
    for request in requests:
        group = [hosts[rank].node for rank in request.group]
        switch = common_switch(graph, group)
        call = request.call
        if call is None or request.kind in _NOT_SUMMED:
            found.append((f"{request.kind} has no sum", 0))
        elif call.op != "sum" or call.density is not None or call.quorum is not None:
            found.append((f"switches take no {call.op} of sparse values or of a quorum", 0))
        elif switch is None or slots < scenario.host.cores:
            found.append(("no switch has a cable to every rank", 0))
        else:
            floats = _switch_dtype(call, default) != "int32"
            aggregation = Aggregation(
                tree=one_switch(switch, len(group)),
                slots=slots,
                guard=scenario.switch.guard,
                elements_per_packet=scenario.packet.elements,
                packet_bytes=packet_bytes(scenario),
                help_bytes=help_medium_bytes(),
                exponent_round=floats,
            )
            found.append((aggregation, jobs[request.group, request.lane, floats]))
    return found
