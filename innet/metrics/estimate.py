"""How long a loss-free run should take, and how long it would take without one of its burdens.

This is a coarse model for the diagnosis only: whole messages instead of packets, every queue
first in first out. What a burden costs is the estimate with it minus the estimate without it.
For in-network aggregation among equal workers the estimate is the exact closed form while the
window fills the link: (N + 1) packets, two propagation delays and the switch.
"""

from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from statistics import median_high

from innet.plan.plan import Aggregation, Host, Plan
from innet.units import serialisation_ps


class Burden(Enum):
    """What can be thought away from a run."""

    LATE_START = "late start"
    SLOW_MEMBER = "slow member"
    WINDOW = "window"
    HOST = "host"
    LATENCY = "latency"


@dataclass(frozen=True, slots=True)
class Member:
    """A rank with its two link directions and its costs a packet; costs are per core already."""

    start_ps: int
    up_bps: int
    down_bps: int
    up_delay_ps: int
    down_delay_ps: int
    send_ps: Fraction
    receive_ps: Fraction

    def slowest_ps(self, medium_bytes: int) -> int:
        """Return the longer medium time of a packet on the member's two link directions."""
        return serialisation_ps(medium_bytes, min(self.up_bps, self.down_bps))


def members_of(plan: Plan, without: Burden | None = None) -> list[Member]:
    """Return every rank's member, without a burden: then it is as good as the typical worker.

    Late starts are compared with the earliest, rates and costs with the median worker.
    """
    members = [_member(plan, host) for host in plan.hosts]
    workers = members[: plan.workers]
    if without is Burden.LATE_START:
        earliest = min(worker.start_ps for worker in workers)
        return [replace(member, start_ps=earliest) for member in members]
    if without is Burden.SLOW_MEMBER:
        return [_no_slower(member, workers) for member in members]
    if without is Burden.HOST:
        free = Fraction(0)
        return [replace(member, send_ps=free, receive_ps=free) for member in members]
    if without is Burden.LATENCY:
        return [replace(member, up_delay_ps=0, down_delay_ps=0) for member in members]
    return members


def switch_latency_ps(plan: Plan) -> int:
    """Return the largest latency of a switch on the way."""
    return max((node.latency_ps for node in plan.graph.nodes if node.kind == "switch"), default=0)


def chunk_count(plan: Plan, aggregation: Aggregation) -> int:
    """Return the packets that each worker sends, the round of exponents included."""
    chunks = -(-plan.elements // aggregation.elements_per_packet)
    return chunks + (min(chunks, aggregation.slots) if aggregation.exponent_round else 0)


def round_trip_ps(plan: Plan, aggregation: Aggregation) -> int:
    """Return the unloaded time from sending an update to holding its result, slowest worker's."""
    workers = members_of(plan)[: plan.workers]
    return max(_round_trip(worker, aggregation, switch_latency_ps(plan)) for worker in workers)


def aggregation_ps(plan: Plan, aggregation: Aggregation, without: Burden | None = None) -> int:
    """Return the estimated time of an in-network all-reduce, in ps from time 0."""
    chunks = chunk_count(plan, aggregation)
    workers = members_of(plan, without)[: plan.workers]
    latency = 0 if without is Burden.LATENCY else switch_latency_ps(plan)
    round_trip = max(_round_trip(worker, aggregation, latency) for worker in workers)
    start = max(worker.start_ps for worker in workers)
    if chunks == 0:
        return start
    per_chunk = max(
        max(Fraction(worker.slowest_ps(aggregation.packet_bytes)), _host_ps(worker))
        for worker in workers
    )
    if without not in (Burden.WINDOW, Burden.LATENCY) and chunks > aggregation.slots:
        per_chunk = max(per_chunk, Fraction(round_trip, aggregation.slots))
    return start + round(per_chunk * (chunks - 1)) + round_trip


def _host_ps(member: Member) -> Fraction:
    return member.send_ps + member.receive_ps


def _round_trip(worker: Member, aggregation: Aggregation, latency_ps: int) -> int:
    up = serialisation_ps(aggregation.packet_bytes, worker.up_bps)
    down = serialisation_ps(aggregation.packet_bytes, worker.down_bps)
    delays = worker.up_delay_ps + worker.down_delay_ps
    return up + down + delays + latency_ps + round(_host_ps(worker))


def _member(plan: Plan, host: Host) -> Member:
    up = plan.graph.links[plan.graph.links_out[host.node][0]]
    down = plan.graph.links[plan.graph.links_into[host.node][0]]
    return Member(
        start_ps=host.start_ps,
        up_bps=up.rate_bps,
        down_bps=down.rate_bps,
        up_delay_ps=up.delay_ps,
        down_delay_ps=down.delay_ps,
        send_ps=Fraction(host.send_ps, host.cores),
        receive_ps=Fraction(host.receive_ps, host.cores),
    )


def _no_slower(member: Member, workers: list[Member]) -> Member:
    return replace(
        member,
        up_bps=max(member.up_bps, median_high(worker.up_bps for worker in workers)),
        down_bps=max(member.down_bps, median_high(worker.down_bps for worker in workers)),
        send_ps=min(member.send_ps, median_high(worker.send_ps for worker in workers)),
        receive_ps=min(member.receive_ps, median_high(worker.receive_ps for worker in workers)),
    )
