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

from innet.plan.members import Member, lone_packet_ps, members_of, switch_latency_ps
from innet.plan.plan import Aggregation, Plan


class Burden(Enum):
    """What can be thought away from a run."""

    LATE_START = "late start"
    SLOW_MEMBER = "slow member"
    WINDOW = "window"
    HOST = "host"
    LATENCY = "latency"


def members_without(plan: Plan, burden: Burden | None = None) -> list[Member]:
    """Return every rank's member, without a burden: then it is as good as the typical worker.

    Late starts are compared with the earliest, rates and costs with the median worker.
    """
    members = members_of(plan.graph, plan.hosts)
    workers = members[: plan.workers]
    if burden is Burden.LATE_START:
        earliest = min(worker.start_ps for worker in workers)
        return [replace(member, start_ps=earliest) for member in members]
    if burden is Burden.SLOW_MEMBER:
        typical = _typical(workers)
        return [_no_slower(member, typical) for member in members]
    if burden is Burden.HOST:
        return [replace(member, send_ps=0, receive_ps=0) for member in members]
    if burden is Burden.LATENCY:
        return [replace(member, up_delay_ps=0, down_delay_ps=0) for member in members]
    return members


def latency_without(plan: Plan, burden: Burden | None) -> int:
    """Return the switch's latency, 0 without the burden of latency."""
    return 0 if burden is Burden.LATENCY else switch_latency_ps(plan.graph)


def round_trip_ps(plan: Plan, aggregation: Aggregation) -> int:
    """Return the unloaded time from sending an update to holding its result, slowest worker's."""
    workers = members_of(plan.graph, plan.hosts)[: plan.workers]
    return lone_packet_ps(workers, switch_latency_ps(plan.graph), aggregation.packet_bytes)


def aggregation_ps(plan: Plan, aggregation: Aggregation, without: Burden | None = None) -> int:
    """Return the estimated time of an in-network all-reduce, in ps from time 0."""
    workers = members_without(plan, without)[: plan.workers]
    start = max(worker.start_ps for worker in workers)
    chunks = -(-plan.elements // aggregation.elements_per_packet)
    if chunks == 0:
        return start
    size = aggregation.packet_bytes
    round_trip = lone_packet_ps(workers, latency_without(plan, without), size)
    packet = max(max(Fraction(w.packet_ps(size)), w.shared_host_ps) for w in workers)
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


def _typical(workers: list[Member]) -> Member:
    """Return a worker with the median rates and costs."""
    return replace(
        workers[0],
        up_bps=median_high(worker.up_bps for worker in workers),
        down_bps=median_high(worker.down_bps for worker in workers),
        send_ps=median_high(worker.send_ps for worker in workers),
        receive_ps=median_high(worker.receive_ps for worker in workers),
    )


def _no_slower(member: Member, typical: Member) -> Member:
    return replace(
        member,
        up_bps=max(member.up_bps, typical.up_bps),
        down_bps=max(member.down_bps, typical.down_bps),
        send_ps=min(member.send_ps, typical.send_ps),
        receive_ps=min(member.receive_ps, typical.receive_ps),
    )
