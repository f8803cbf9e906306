"""How long a loss-free run should take, and how long it would take without one of its burdens.

This is a coarse model for the diagnosis only: whole messages instead of packets, every queue
first in first out. What a burden costs is the estimate with it minus the estimate without it.
For in-network aggregation among equal workers the estimate is the exact closed form: N packets
through a window of s, each packet or round trip one after another, whichever takes longer.
"""

from dataclasses import replace
from enum import Enum
from fractions import Fraction
from statistics import median_high

from innet.plan.plan import Aggregation, Plan
from innet.plan.ways import tree_loads, tree_round_trip_ps, tree_ways
from innet.topology.graph import Graph
from innet.units import serialisation_ps


class Burden(Enum):
    """What can be thought away from a run."""

    LATE_START = "late start"
    SLOW_MEMBER = "slow member"
    WINDOW = "window"
    HOST = "host"
    LATENCY = "latency"


def plan_without(plan: Plan, burden: Burden | None = None) -> Plan:
    """Return the plan without a burden: then every worker is as good as the typical one.

    Late starts are compared with the earliest, rates and costs with the median worker; without
    latency, links have no delay and switches no latency.
    """
    hosts, workers = plan.hosts, plan.hosts[: plan.workers]
    if burden is Burden.LATE_START:
        earliest = min(worker.start_ps for worker in workers)
        return replace(plan, hosts=tuple(replace(host, start_ps=earliest) for host in hosts))
    if burden is Burden.SLOW_MEMBER:
        return _no_slower(plan)
    if burden is Burden.HOST:
        return replace(plan, hosts=tuple(replace(host, send_ps=0, receive_ps=0) for host in hosts))
    if burden is Burden.LATENCY:
        nodes = tuple(replace(node, latency_ps=0) for node in plan.graph.nodes)
        links = tuple(replace(link, delay_ps=0) for link in plan.graph.links)
        return replace(plan, graph=Graph(nodes, links))
    return plan


def round_trip_ps(plan: Plan, aggregation: Aggregation) -> int:
    """Return the unloaded time from sending an update to holding its result, slowest worker's."""
    ways = tree_ways(plan.graph, plan.routes, aggregation.tree)
    return tree_round_trip_ps(ways, plan.hosts, aggregation.packet_bytes)


def aggregation_ps(plan: Plan, aggregation: Aggregation, without: Burden | None = None) -> int:
    """Return the estimated time of an in-network all-reduce, in ps from time 0."""
    plan = plan_without(plan, without)
    workers = plan.hosts[: plan.workers]
    start = max(worker.start_ps for worker in workers)
    chunks = -(-plan.elements // aggregation.elements_per_packet)
    if chunks == 0:
        return start
    round_trip = round_trip_ps(plan, aggregation)
    packet = max(
        Fraction(slowest_sum_ps(plan, aggregation)),
        *(Fraction(w.send_ps + w.receive_ps, w.cores) for w in workers),
    )
    window = min(chunks, aggregation.slots)
    packets = chunks + (window if aggregation.exponent_round else 0)
    if without is Burden.WINDOW:
        window = chunks
    elif without is Burden.LATENCY:
        window = packets
    rounds = -(-packets // window)
    filled = start + round_trip + round(packet * (packets - 1))
    last = packets - (rounds - 1) * window
    return max(filled, start + rounds * round_trip + round(packet * (last - 1)))


def slowest_sum_ps(plan: Plan, aggregation: Aggregation) -> int:
    """Return the longest time that a link takes for all its packets of one chunk."""
    loads = tree_loads(plan.graph, plan.routes, aggregation.tree)
    size, links = aggregation.packet_bytes, plan.graph.links
    return max(
        edges * serialisation_ps(size, links[link].rate_bps) for link, edges in loads.items()
    )


def _no_slower(plan: Plan) -> Plan:
    """Return the plan in which no host costs more, and no worker's link is slower, than usual."""
    workers = plan.hosts[: plan.workers]
    send, receive = (
        median_high([getattr(worker, name) for worker in workers])
        for name in ("send_ps", "receive_ps")
    )
    hosts = tuple(
        replace(host, send_ps=min(host.send_ps, send), receive_ps=min(host.receive_ps, receive))
        for host in plan.hosts
    )
    links = list(plan.graph.links)
    for groups in (plan.graph.links_out, plan.graph.links_into):
        usual = median_high([links[groups[worker.node][0]].rate_bps for worker in workers])
        for host in plan.hosts:
            for link in groups[host.node]:
                rate = max(links[link].rate_bps, usual)
                links[link] = replace(links[link], rate_bps=rate)
    return replace(plan, hosts=hosts, graph=Graph(plan.graph.nodes, tuple(links)))
