"""From one point of a training scenario and an algorithm to the StepPlan that engines run."""

from collections.abc import Mapping, Sequence

from innet.plan.plan import Aggregation, Host, Stream
from innet.plan.step import Request, StepPlan
from innet.plan.ways import pair_of
from innet.scenario.asked import StepRequests
from innet.scenario.build import host_of, latest_event_ps, patience_trips, stream_of
from innet.scenario.lower import Way, ways_of
from innet.scenario.network import Places, network_of
from innet.scenario.placement import placed
from innet.scenario.plan_faults import node_faults, packet_faults
from innet.scenario.schema import Scenario
from innet.scenario.timers import Load
from innet.topology.graph import Graph
from innet.topology.routes import Routes, shortest_routes


def build_step_plan(scenario: Scenario, algorithm: str, asked: StepRequests) -> StepPlan:
    """Return the plan of one step with one algorithm; `asked` is the scenario's."""
    assert scenario.training is not None
    workers = scenario.topology.workers
    graph, nodes = network_of(scenario, workers)
    placement = placed(scenario.training.placement, scenario.topology)
    hosts = tuple(host_of(scenario, worker, nodes[worker]) for worker in placement)
    routes = shortest_routes(graph, [host.node for host in hosts], scenario.seed)
    ways = ways_of(scenario, algorithm, routes, asked.requests)
    stream = stream_of(scenario)
    load = _load(graph, routes, hosts, stream, ways)
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
        operations={request: way.lowered(stream, rto) for request, way in ways.items()},
        calls=asked.calls,
    )


def _load(
    graph: Graph,
    routes: Routes,
    hosts: Sequence[Host],
    stream: Stream,
    ways: Mapping[Request, Way],
) -> Load:
    """Return what can be on its way at once: a group's lane runs one operation at a time."""
    load = Load(graph, hosts)
    pairs: dict[tuple[tuple[object, ...], int, int], None] = {}
    jobs: dict[int, tuple[tuple[int, ...], Aggregation]] = {}
    for request, way in ways.items():
        if way.aggregation is not None:
            jobs[way.job] = (way.group, way.aggregation)
        elif way.schedule is not None:
            lane = (way.kind == "send", way.group, request.lane)
            for message in way.schedule.messages:
                pairs[lane, way.group[message.source], way.group[message.target]] = None
    for _, source, target in pairs:
        load.add_stream(stream, pair_of(graph, routes, hosts, source, target))
    for group, aggregation in jobs.values():
        members = [hosts[rank] for rank in group]
        own = shortest_routes(graph, [host.node for host in members], routes.seed)
        load.add_tree(own, members, aggregation)
    return load
