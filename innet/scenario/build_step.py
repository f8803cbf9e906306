"""From one point of a training scenario and an algorithm to the StepPlan that engines run."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from innet.collectives.algorithms import build_schedule
from innet.collectives.schedule import Message, Schedule
from innet.errors import ConfigurationError
from innet.plan.operation import Operation
from innet.plan.plan import Aggregation, Host, Rto, Stream, one_switch
from innet.plan.step import Lowered, Request, StepPlan, request_of
from innet.plan.ways import pair_of
from innet.scenario.build import (
    host_of,
    latest_event_ps,
    packet_bytes,
    patience_trips,
    stream_of,
)
from innet.scenario.network import Places, common_switch, network_of
from innet.scenario.placement import placed
from innet.scenario.plan_faults import node_faults, packet_faults
from innet.scenario.schema import Scenario
from innet.scenario.step import workload_of
from innet.scenario.timers import Load
from innet.topology.graph import Graph
from innet.topology.routes import Routes, shortest_routes
from innet.wire.dtypes import ITEMSIZE, DType
from innet.wire.headers import help_medium_bytes
from innet.workload.program import Call, Exchange, Workload

_SUMMED = ("all_reduce", "reduce_scatter", "reduce")


class Asked(NamedTuple):
    """A workload with everything different that its ranks ask for, and how often they do."""

    workload: Workload
    dtype: DType
    requests: tuple[Request, ...]
    calls: int


def asked_of(scenario: Scenario) -> Asked:
    """Return what the ranks of a training scenario ask for, by expanding every rank's program.

    Raises ConfigurationError, with line and rank, for an expression that has no right value and
    for a sum of no whole number of elements.
    """
    workload, dtype = workload_of(scenario), _dtype(scenario)
    found: dict[Request, None] = {}
    calls = 0
    for rank in range(workload.mesh.ranks):
        for action in workload.program(rank):
            if not isinstance(action, Call | Exchange):
                continue
            request = request_of(action)
            if not request.size or len(request.group) == 1:
                continue
            calls += 1
            if request not in found:
                _refuse_part_of_element(action, rank, dtype)
                found[request] = None
    return Asked(workload, dtype, tuple(found), calls)


def _dtype(scenario: Scenario) -> DType:
    assert scenario.training is not None
    return scenario.training.dtype


def _refuse_part_of_element(action: Call | Exchange, rank: int, dtype: DType) -> None:
    item = ITEMSIZE[dtype]
    if isinstance(action, Call) and action.kind in _SUMMED and action.size % item:
        told = f"{action.size} B is not a whole number of {dtype} elements of {item} B"
        raise ConfigurationError(
            f"rank {rank}: {action.kind}: {told}", file=action.place.file, line=action.place.line
        )


def build_step_plan(scenario: Scenario, algorithm: str, asked: Asked) -> StepPlan:
    """Return the plan of one step with one algorithm; `asked` is the scenario's."""
    assert scenario.training is not None
    workers = scenario.topology.workers
    graph, nodes = network_of(scenario, workers)
    placement = placed(scenario.training.placement, scenario.topology)
    hosts = tuple(host_of(scenario, worker, nodes[worker]) for worker in placement)
    routes = shortest_routes(graph, [host.node for host in hosts], scenario.seed)
    chosen = dict(
        zip(asked.requests, _choose(scenario, algorithm, graph, hosts, asked), strict=True)
    )
    stream = stream_of(scenario)
    load = _load(graph, routes, hosts, stream, chosen.items())
    rto = load.timeout(None if scenario.host.rto == "adaptive" else scenario.host.rto)
    places = Places(graph, nodes, workers)
    trips = patience_trips(scenario, graph, load.longest_way)
    return StepPlan(
        name=scenario.name,
        algorithm=algorithm,
        graph=graph,
        hosts=hosts,
        routes=routes,
        seed=scenario.seed,
        maximum_time_ps=scenario.limit,
        patience_ps=trips * rto.maximum_ps + latest_event_ps(scenario, hosts),
        packet_faults=packet_faults(scenario, places),
        node_faults=node_faults(scenario, places),
        workload=asked.workload,
        operations={
            request: _lowered(request, way, stream, rto) for request, way in chosen.items()
        },
        calls=asked.calls,
    )


@dataclass(frozen=True, slots=True)
class _Way:
    """How an operation runs: by an aggregation, or a schedule and why not by an aggregation."""

    how: str
    why: str
    elements: int
    dtype: DType
    aggregation: Aggregation | None = None
    job: int = 0
    schedule: Schedule | None = None


def _lowered(request: Request, way: _Way, stream: Stream, rto: Rto) -> Lowered:
    operation = Operation(
        request.kind,
        request.group,
        way.elements,
        way.dtype,
        rto,
        way.aggregation,
        None if way.schedule is None else stream,
        way.schedule,
        way.job,
        request.root,
    )
    return Lowered(operation, way.how, way.why)


def _load(
    graph: Graph,
    routes: Routes,
    hosts: Sequence[Host],
    stream: Stream,
    chosen: Iterable[tuple[Request, _Way]],
) -> Load:
    """Return what can be on its way at once: a group runs one operation at a time."""
    load = Load(graph, hosts)
    pairs: dict[tuple[bool, tuple[int, ...], int, int], None] = {}
    jobs: dict[int, tuple[Request, Aggregation]] = {}
    for request, way in chosen:
        if way.aggregation is not None:
            jobs[way.job] = (request, way.aggregation)
        elif way.schedule is not None:
            for message in way.schedule.messages:
                ends = request.group[message.source], request.group[message.target]
                pairs[request.kind == "send", request.group, *ends] = None
    for _, _, source, target in pairs:
        load.add_stream(stream, pair_of(graph, routes, hosts, source, target))
    for request, aggregation in jobs.values():
        group = [hosts[rank] for rank in request.group]
        own = shortest_routes(graph, [host.node for host in group], routes.seed)
        load.add_tree(own, group, aggregation)
    return load


def _choose(
    scenario: Scenario, algorithm: str, graph: Graph, hosts: Sequence[Host], asked: Asked
) -> list[_Way]:
    """Return how every request runs, in order."""
    assert scenario.training is not None
    if algorithm != "in_network":
        why = f"{algorithm} was asked for"
        return [_point_to_point(request, algorithm, why, asked.dtype) for request in asked.requests]
    offers = _offers(scenario, graph, hosts, asked)
    fallback = scenario.training.fallback
    return [
        _point_to_point(request, fallback, offer, asked.dtype)
        if isinstance(offer, str)
        else _Way("in_network", "", _elements(request, asked.dtype), asked.dtype, offer, job)
        for request, (offer, job) in zip(asked.requests, offers, strict=True)
    ]


def _elements(request: Request, dtype: DType) -> int:
    """Return the elements of a vector; what is only moved may end within an element."""
    return -(-request.size // ITEMSIZE[dtype])


def _point_to_point(request: Request, algorithm: str, why: str, dtype: DType) -> _Way:
    elements, count = _elements(request, dtype), len(request.group)
    if request.kind == "send":
        message = Message(0, 0, 1, 0, 1, reduce=False)
        schedule = Schedule("send", 2, 2, 1, (message,))
        return _Way("send", "a message has no sum", elements, dtype, schedule=schedule)
    if request.kind != "all_reduce":
        raise ConfigurationError(f"{request.kind} does not run point to point yet")
    schedule = build_schedule(algorithm, count, elements, ITEMSIZE[dtype])
    return _Way(schedule.algorithm, why, elements, dtype, schedule=schedule)


def _offers(
    scenario: Scenario, graph: Graph, hosts: Sequence[Host], asked: Asked
) -> list[tuple[Aggregation | str, int]]:
    """Return, for every request, its aggregation and job, or why no switch takes part."""
    jobs: dict[tuple[int, ...], int] = {}
    for request in asked.requests:
        if request.kind not in ("send", "all_to_all"):
            jobs.setdefault(request.group, len(jobs))
    slots = scenario.switch.slots // max(1, len(jobs))
    found: list[tuple[Aggregation | str, int]] = []
    for request in asked.requests:
        group = [hosts[rank].node for rank in request.group]
        switch = common_switch(graph, group)
        if request.kind in ("send", "all_to_all"):
            found.append((f"{request.kind} has no sum", 0))
        elif request.op != "sum":
            found.append((f"switches add; they take no {request.op}", 0))
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
                exponent_round=asked.dtype != "int32",
            )
            found.append((aggregation, jobs[request.group]))
    return found
