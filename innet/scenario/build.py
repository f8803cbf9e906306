"""From one point of a scenario and an algorithm to the Plan that engines run."""

import math
from collections.abc import Sequence

from innet.collectives.algorithms import build_schedule
from innet.collectives.schedule import Schedule
from innet.plan.members import (
    Member,
    lone_packet_ps,
    members_of,
    slowest_packet_ps,
    stream_round_trip_ps,
)
from innet.plan.plan import Aggregation, Host, Plan, Rto, Stream, one_switch
from innet.scenario.plan_faults import (
    chances_of_loss,
    latest_fault_ps,
    node_faults,
    packet_faults,
)
from innet.scenario.schema import Scenario
from innet.scenario.timers import retransmission_timeout
from innet.topology.graph import Graph
from innet.topology.routes import shortest_routes
from innet.topology.star import Cable, build_star, host_node
from innet.wire.dtypes import ITEMSIZE
from innet.wire.headers import help_medium_bytes

# A value of any type takes 4 bytes in an aggregation packet (block floating point).
VALUE_BYTES = 4
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
    graph, hosts = network_of(scenario, ranks)
    rto = _timeout(scenario, members_of(graph, hosts), schedule is None)
    return Plan(
        name=scenario.name,
        seed=scenario.seed,
        algorithm=algorithm,
        graph=graph,
        hosts=hosts,
        workers=workers,
        routes=shortest_routes(graph, [host.node for host in hosts], scenario.seed),
        elements=elements,
        dtype=scenario.collective.dtype,
        carry_payload=carry_payload,
        rto=rto,
        maximum_time_ps=scenario.limit,
        patience_ps=_patience(scenario, graph) * rto.maximum_ps + _latest_event_ps(scenario, hosts),
        aggregation=_aggregation(scenario) if schedule is None else None,
        stream=None if schedule is None else _stream(scenario),
        schedule=schedule,
        packet_faults=packet_faults(scenario, ranks),
        node_faults=node_faults(scenario, ranks),
    )


def _cable(scenario: Scenario, rank: int) -> Cable:
    """Return a rank's cable: the topology's link with what `workers` changes on it."""
    common = scenario.topology.link
    own = scenario.workers[rank].link if rank in scenario.workers else None
    changed = {} if own is None else {name: getattr(own, name) for name in own.model_fields_set}
    link = common.model_copy(update=changed)
    return Cable(link.rate, link.delay, link.loss, link.queue)


def network_of(scenario: Scenario, ranks: int) -> tuple[Graph, tuple[Host, ...]]:
    """Return the star and the hosts of all ranks, a parameter server's behind the workers'."""
    cables = [_cable(scenario, rank) for rank in range(ranks)]
    graph = build_star(cables, scenario.topology.workers, scenario.switch.latency)
    return graph, tuple(_host(scenario, rank) for rank in range(ranks))


def packet_bytes(scenario: Scenario) -> int:
    """Return the medium bytes of an aggregation packet."""
    return scenario.packet.elements * VALUE_BYTES + scenario.packet.overhead


def _schedule(scenario: Scenario, algorithm: str, elements: int) -> Schedule | None:
    if algorithm == "in_network":
        return None
    itemsize = ITEMSIZE[scenario.collective.dtype]
    return build_schedule(algorithm, scenario.topology.workers, elements, itemsize)


def _host(scenario: Scenario, rank: int) -> Host:
    common = scenario.host
    node = host_node(rank, scenario.topology.workers)
    worker = scenario.workers.get(rank)
    if worker is None:
        return Host(node, 0, common.send, common.receive, common.cores)
    own = worker.host
    send = common.send if own.send is None else own.send
    receive = common.receive if own.receive is None else own.receive
    return Host(node, worker.start, send, receive, common.cores)


def _aggregation(scenario: Scenario) -> Aggregation:
    return Aggregation(
        tree=one_switch(scenario.topology.workers, scenario.topology.workers),
        slots=scenario.switch.slots,
        guard=scenario.switch.guard,
        elements_per_packet=scenario.packet.elements,
        packet_bytes=packet_bytes(scenario),
        help_bytes=help_medium_bytes(),
        exponent_round=scenario.collective.dtype != "int32",
    )


def _stream(scenario: Scenario) -> Stream:
    message = scenario.message
    return Stream(
        payload_bytes=message.payload,
        overhead_bytes=message.overhead,
        ack_bytes=message.ack,
        window=message.window,
        recovery=message.recovery,
    )


def _timeout(scenario: Scenario, members: Sequence[Member], in_network: bool) -> Rto:
    configured = None if scenario.host.rto == "adaptive" else scenario.host.rto
    latency = scenario.switch.latency
    if in_network:
        size = packet_bytes(scenario)
        unloaded_ps = lone_packet_ps(members, latency, size)
        shared = scenario.switch.slots
    else:
        message = scenario.message
        size = message.payload + message.overhead
        unloaded_ps = stream_round_trip_ps(members, latency, size, message.ack)
        # All streams of a rank share its cable, and its peers may all send at once.
        shared = max(1, len(members) - 1) * message.window
    packet_ps = max(slowest_packet_ps(members, size), *(member.host_ps for member in members))
    return retransmission_timeout(configured, unloaded_ps, shared, packet_ps)


def _patience(scenario: Scenario, graph: Graph) -> int:
    """Return how many round trips in a row are all lost only once in 10**12 times."""
    arrives = (1 - max(link.loss for link in graph.links)) ** 2 * math.prod(
        1 - chance for chance in chances_of_loss(scenario)
    )
    if arrives >= 1:
        return _LEAST_PATIENCE
    return max(_LEAST_PATIENCE, math.ceil(math.log(_NEGLIGIBLE) / math.log1p(-arrives)))


def _latest_event_ps(scenario: Scenario, hosts: Sequence[Host]) -> int:
    return max(latest_fault_ps(scenario), *(host.start_ps for host in hosts))
