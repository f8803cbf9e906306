"""From one point of a scenario and an algorithm to the Plan that engines run."""

import math
from collections.abc import Sequence
from dataclasses import replace

from innet.collectives.algorithms import build_schedule
from innet.collectives.schedule import Schedule
from innet.plan.offload import VALUE_BYTES
from innet.plan.plan import Aggregation, Host, Plan, Stream
from innet.plan.tree import aggregation_tree
from innet.plan.ways import Pair, pair_of, tree_ways
from innet.scenario.network import Places, network_of
from innet.scenario.plan_faults import (
    chances_of_loss,
    latest_fault_ps,
    node_faults,
    packet_faults,
)
from innet.scenario.schema import Scenario
from innet.scenario.timers import aggregation_timeout, stream_timeout
from innet.topology.graph import Graph
from innet.topology.routes import Routes, shortest_routes
from innet.wire.dtypes import ITEMSIZE
from innet.wire.headers import help_medium_bytes

CHECKED_BYTES = 512 * 2**20
# A run without news for so many of the longest timeouts is stuck, or luckier runs are so rare.
_LEAST_PATIENCE = 4
_NEGLIGIBLE = 1e-12


def should_check(scenario: Scenario, elements: int | None = None) -> bool:
    """Say whether values travel and are verified, as `collective.check` wants it.

    `auto` checks while the tensors of all workers take 512 MiB or less. `elements` is the
    length of tensors from files, which are always few enough to have been read.
    """
    collective = scenario.collective
    if collective.check != "auto":
        return collective.check == "always"
    count = collective.elements if elements is None else elements
    if count is None:
        return True
    return count * ITEMSIZE[collective.dtype] * scenario.topology.workers <= CHECKED_BYTES


def build_plan(scenario: Scenario, algorithm: str, carry_payload: bool, elements: int) -> Plan:
    """Return the plan of one algorithm on one point of a scenario.

    `elements` is the length of each worker's tensor; `carry_payload` says whether values travel.
    """
    workers = scenario.topology.workers
    schedule = _schedule(scenario, algorithm, elements)
    ranks = workers if schedule is None else schedule.ranks
    graph, nodes = network_of(scenario, ranks)
    hosts = tuple(host_of(scenario, rank, node) for rank, node in enumerate(nodes))
    places = Places(graph, nodes, workers)
    routes = shortest_routes(graph, nodes, scenario.seed)
    configured = None if scenario.host.rto == "adaptive" else scenario.host.rto
    aggregation = stream = None
    if schedule is None:
        aggregation = _aggregation(scenario, routes)
        rto = aggregation_timeout(configured, graph, routes, hosts, aggregation)
        ways = [way.up + way.down for way in tree_ways(graph, routes, aggregation.tree)]
    else:
        stream = stream_of(scenario)
        pairs = _pairs(graph, routes, hosts, schedule)
        rto = stream_timeout(configured, graph, hosts, stream, pairs)
        ways = [pair.there for pair in pairs]
    longest = max((len(way) for way in ways), default=0)
    return Plan(
        name=scenario.name,
        seed=scenario.seed,
        algorithm=algorithm,
        graph=graph,
        hosts=hosts,
        workers=workers,
        routes=routes,
        elements=elements,
        dtype=scenario.collective.dtype,
        carry_payload=carry_payload,
        rto=rto,
        maximum_time_ps=scenario.limit,
        patience_ps=patience_trips(scenario, graph, longest) * rto.maximum_ps
        + latest_event_ps(scenario, hosts),
        aggregation=aggregation,
        stream=stream,
        schedule=schedule,
        packet_faults=packet_faults(scenario, places),
        node_faults=node_faults(scenario, places),
    )


def packet_bytes(scenario: Scenario) -> int:
    """Return the medium bytes of an aggregation packet."""
    return scenario.packet.elements * VALUE_BYTES + scenario.packet.overhead


def _schedule(scenario: Scenario, algorithm: str, elements: int) -> Schedule | None:
    if algorithm == "in_network":
        return None
    itemsize = ITEMSIZE[scenario.collective.dtype]
    return build_schedule(algorithm, scenario.topology.workers, elements, itemsize)


def host_of(scenario: Scenario, rank: int, node: int) -> Host:
    """Return what a rank's host is like; `node` is its node."""
    common = scenario.host
    worker = scenario.workers.get(rank)
    if worker is None:
        return Host(node, 0, common.send, common.receive, common.cores)
    own = worker.host
    send = common.send if own.send is None else own.send
    receive = common.receive if own.receive is None else own.receive
    return Host(node, worker.start, send, receive, common.cores)


def _aggregation(scenario: Scenario, routes: Routes) -> Aggregation:
    return replace(
        format_of(scenario),
        tree=aggregation_tree(routes, range(scenario.topology.workers)),
        exponent_round=scenario.collective.dtype != "int32",
    )


def format_of(scenario: Scenario) -> Aggregation:
    """Return what all in-network aggregations of a scenario have in common, without a tree."""
    return Aggregation(
        tree=(),
        slots=scenario.switch.slots,
        guard=scenario.switch.guard,
        elements_per_packet=scenario.packet.elements,
        packet_bytes=packet_bytes(scenario),
        help_bytes=help_medium_bytes(),
        exponent_round=False,
    )


def stream_of(scenario: Scenario) -> Stream:
    """Return what streams between hosts are like."""
    message = scenario.message
    return Stream(
        payload_bytes=message.payload,
        overhead_bytes=message.overhead,
        ack_bytes=message.ack,
        window=message.window,
        recovery=message.recovery,
    )


def _pairs(graph: Graph, routes: Routes, hosts: Sequence[Host], schedule: Schedule) -> list[Pair]:
    """Return the pairs of ranks between which a schedule has messages."""
    ranks = sorted({(message.source, message.target) for message in schedule.messages})
    return [pair_of(graph, routes, hosts, source, target) for source, target in ranks]


def patience_trips(scenario: Scenario, graph: Graph, links: int) -> int:
    """Return how many trips over `links` links in a row are all lost only once in 10**12 times."""
    arrives = (1 - max(link.loss for link in graph.links)) ** links * math.prod(
        1 - chance for chance in chances_of_loss(scenario)
    )
    if arrives >= 1:
        return _LEAST_PATIENCE
    return max(_LEAST_PATIENCE, math.ceil(math.log(_NEGLIGIBLE) / math.log1p(-arrives)))


def latest_event_ps(scenario: Scenario, hosts: Sequence[Host]) -> int:
    """Return when the last thing happens that the network itself does not bring about."""
    return max(latest_fault_ps(scenario), *(host.start_ps for host in hosts))
