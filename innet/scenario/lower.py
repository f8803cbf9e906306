"""How every operation of a training step runs: in the network, or by which schedule and why."""

from collections.abc import Sequence
from dataclasses import dataclass

from innet.collectives.algorithms import build_schedule
from innet.collectives.schedule import Message, Schedule
from innet.errors import ConfigurationError
from innet.plan.operation import Operation, OperationKind
from innet.plan.plan import Aggregation, Host, Rto, Stream, one_switch
from innet.plan.step import Lowered, Request
from innet.scenario.build import packet_bytes
from innet.scenario.network import common_switch
from innet.scenario.schema import Scenario
from innet.topology.graph import Graph
from innet.wire.dtypes import ITEMSIZE, DType
from innet.wire.headers import help_medium_bytes
from innet.workload.sparse import as_exchange


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
        why = f"{algorithm} was asked for"
        return {each: point_to_point(each, algorithm, why, dtype) for each in requests}
    offers = _offers(scenario, graph, hosts, requests)
    fallback = scenario.training.fallback
    return {
        request: point_to_point(request, fallback, offer, dtype)
        if isinstance(offer, str)
        else _in_network(request, offer, job, dtype)
        for request, (offer, job) in zip(requests, offers, strict=True)
    }


def _in_network(request: Request, aggregation: Aggregation, job: int, default: DType) -> Way:
    call = request.call
    assert call is not None
    dtype = call.dtype or default
    elements = _elements(request.size, dtype)
    kind, root = call.kind, call.root
    return Way(
        kind, call.group, root, elements, dtype, "in_network", "", aggregation=aggregation, job=job
    )


def _elements(size_bytes: int, dtype: DType) -> int:
    """Return the elements of a vector; what is only moved may end within an element."""
    return -(-size_bytes // ITEMSIZE[dtype])


def point_to_point(request: Request, algorithm: str, why: str, default: DType) -> Way:
    """Return how a request runs by messages; `algorithm` is the all-reduce that it follows."""
    call = request.call
    if call is None:
        message = Message(0, 0, 1, 0, 1, reduce=False)
        schedule = Schedule("send", 2, 2, 1, (message,))
        elements = _elements(request.size, default)
        why = "a message has no sum"
        return Way("send", request.group, 0, elements, default, "send", why, schedule=schedule)
    call = as_exchange(call, ITEMSIZE[call.dtype or default])
    dtype = call.dtype or default
    elements = _elements(call.size, dtype)
    if call.kind != "all_reduce":
        raise ConfigurationError(f"{call.kind} does not run point to point yet")
    schedule = build_schedule(algorithm, len(call.group), elements, ITEMSIZE[dtype])
    how = schedule.algorithm
    return Way(call.kind, call.group, call.root, elements, dtype, how, why, schedule=schedule)


def _offers(
    scenario: Scenario, graph: Graph, hosts: Sequence[Host], requests: Sequence[Request]
) -> list[tuple[Aggregation | str, int]]:
    """Return, for every request, its aggregation and job, or why no switch takes part."""
    assert scenario.training is not None
    jobs: dict[tuple[int, ...], int] = {}
    for request in requests:
        if request.kind not in ("send", "all_to_all", "gather"):
            jobs.setdefault(request.group, len(jobs))
    slots = scenario.switch.slots // max(1, len(jobs))
    found: list[tuple[Aggregation | str, int]] = []
    for request in requests:
        group = [hosts[rank].node for rank in request.group]
        switch = common_switch(graph, group)
        call = request.call
        if call is None or request.group not in jobs:
            found.append((f"{request.kind} has no sum", 0))
        elif call.op != "sum" or call.density is not None:
            found.append((f"switches take no {call.op} of sparse or compared values", 0))
        elif switch is None or slots < scenario.host.cores:
            found.append(("no switch has a cable to every rank", 0))
        else:
            aggregation = Aggregation(
                tree=one_switch(switch, len(group)),
                slots=slots,
                guard=scenario.switch.guard,
                elements_per_packet=scenario.packet.elements,
                packet_bytes=packet_bytes(scenario),
                help_bytes=help_medium_bytes(),
                exponent_round=(call.dtype or scenario.training.dtype) != "int32",
            )
            found.append((aggregation, jobs[request.group]))
    return found
