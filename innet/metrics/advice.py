"""The sentences of a diagnosis: why, with numbers, and what would help."""

from collections.abc import Callable, Mapping
from statistics import median_high

from innet.metrics import message_estimate
from innet.metrics.estimate import round_trip_ps, slowest_sum_ps
from innet.metrics.traffic import (
    busiest_link,
    finish_time_ps,
    link_name,
    packets_dropped,
    packets_sent,
    rank_name,
    retransmissions,
)
from innet.plan.plan import Plan
from innet.plan.ways import filling_window, slowest_packet_ps
from innet.trace.records import Trace
from innet.units import format_duration, format_rate, noun_for, serialisation_ps

Sentences = tuple[str, str]


def sentences(limit: str, plan: Plan, trace: Trace, cost_ps: int) -> Sentences:
    """Return why a run was limited by `limit`, which cost it `cost_ps`, and what would help."""
    return _WRITERS[limit](plan, trace, cost_ps)


def enough_packets(plan: Plan) -> int:
    """Return the fewest slots, or packets in flight of one stream, that fill the slowest link."""
    if plan.aggregation is not None:
        round_trip = round_trip_ps(plan, plan.aggregation)
        return filling_window(round_trip, slowest_sum_ps(plan, plan.aggregation))
    assert plan.stream is not None
    size = plan.stream.payload_bytes + plan.stream.overhead_bytes
    ways = [pair.there for pair in message_estimate.pairs_of(plan)]
    round_trip = message_estimate.round_trip_ps(plan, plan.stream)
    return filling_window(round_trip, slowest_packet_ps(ways, size))


def _link(plan: Plan, trace: Trace, _cost_ps: int) -> Sentences:
    busiest = busiest_link(trace)
    if busiest is None or not busiest.busy_ps:
        return "Nothing had to be sent.", "Nothing is left to gain."
    time = finish_time_ps(plan, trace)
    name = link_name(plan, busiest.link)
    rate = format_rate(plan.graph.links[busiest.link].rate_bps)
    because = f"The busiest link, {name} at {rate}, was sending {_share(busiest.busy_ps, time)}."
    if 2 * busiest.busy_ps < time:
        return because, (
            "The steps wait for each other, so no link is kept busy: an algorithm that cuts the "
            "tensor into more pieces, or faster links."
        )
    return because, "Faster links, fewer header bytes, or an algorithm that sends fewer bytes."


def _latency(plan: Plan, trace: Trace, cost_ps: int) -> Sentences:
    busiest = busiest_link(trace)
    if busiest is None or not busiest.busy_ps:
        return "Nothing had to be sent.", "Nothing is left to gain."
    time = finish_time_ps(plan, trace)
    because = (
        f"Packets crossing the network (propagation, switch, whole packets stored and forwarded) "
        f"take {_share(cost_ps, time)}; the busiest link was sending "
        f"{_share(busiest.busy_ps, time)}."
    )
    propagation = max(link.delay_ps for link in plan.graph.links)
    latency = max(node.latency_ps for node in plan.graph.nodes)
    return because, (
        f"Fewer steps one after another, larger tensors at a time, shorter links (now "
        f"{format_duration(propagation)}) or a faster switch (now "
        f"{format_duration(latency)})."
    )


def _window(plan: Plan, trace: Trace, cost_ps: int) -> Sentences:
    gain = _share(cost_ps, finish_time_ps(plan, trace))
    enough = enough_packets(plan)
    if plan.aggregation is not None:
        slots, round_trip = plan.aggregation.slots, round_trip_ps(plan, plan.aggregation)
        return (
            f"{_count(slots, 'slot')} let a worker send {_count(slots, 'packet')} a round trip of "
            f"{format_duration(round_trip, 4)}; the link could carry {enough}.",
            f"switch.slots: {enough} is the fewest that fills the link and saves about {gain}.",
        )
    assert plan.stream is not None
    window, round_trip = plan.stream.window, message_estimate.round_trip_ps(plan, plan.stream)
    return (
        f"A window of {_count(window, 'packet')} a round trip of {format_duration(round_trip, 4)} "
        f"leaves the link idle in between; it could carry {enough}.",
        f"message.window: {enough} is the fewest that fills the link with one stream and "
        f"saves about {gain}.",
    )


def _host(plan: Plan, trace: Trace, cost_ps: int) -> Sentences:
    busiest = max(trace.ranks, key=lambda record: (record.cpu_busy_ps, -record.rank))
    host = plan.hosts[busiest.rank]
    time = finish_time_ps(plan, trace)
    because = (
        f"{rank_name(plan, busiest.rank).capitalize()} spends {_cost(host.send_ps)} a packet sent "
        f"and {_cost(host.receive_ps)} a packet received; its {_count(host.cores, 'core')} worked "
        f"{_share(min(busiest.cpu_busy_ps, time * host.cores), time * host.cores)}."
    )
    gain = _share(cost_ps, time)
    return because, (
        f"More cores (host.cores, now {host.cores}) or larger packets; hosts that cost nothing "
        f"would save about {gain}."
    )


def _straggler(plan: Plan, trace: Trace, cost_ps: int) -> Sentences:
    workers = plan.hosts[: plan.workers]
    last = max(range(plan.workers), key=lambda rank: (workers[rank].start_ps, -rank))
    start = workers[last].start_ps - min(worker.start_ps for worker in workers)
    time = finish_time_ps(plan, trace)
    rates = [_own_rate_bps(plan, worker.node) for worker in workers]
    slow = min(range(plan.workers), key=lambda rank: (rates[rank], rank))
    cost = f"about {format_duration(cost_ps, 4)}, {_share(cost_ps, time)}"
    if start * 2 >= cost_ps:
        return (
            f"Worker {last} started {format_duration(start)} after the first; waiting for it "
            f"cost {cost}.",
            f"Start worker {last} with the others (workers.{last}.start).",
        )
    if rates[slow] < median_high(rates):
        return (
            f"Worker {slow}'s link has {format_rate(rates[slow])}, the typical worker's "
            f"{format_rate(median_high(rates))}; waiting for it cost {cost}.",
            f"Give worker {slow} the others' rate (workers.{slow}.link.rate).",
        )
    return _slow_or_paused(plan, cost)


def _own_rate_bps(plan: Plan, node: int) -> int:
    """Return the rate of the slowest link of a host."""
    own = (*plan.graph.links_out[node], *plan.graph.links_into[node])
    return min(plan.graph.links[link].rate_bps for link in own)


def _slow_or_paused(plan: Plan, cost: str) -> Sentences:
    ranks = {host.node: rank for rank, host in enumerate(plan.hosts[: plan.workers])}
    faults = [fault for fault in plan.node_faults if fault.node in ranks]
    if faults:
        longest = max(faults, key=lambda fault: (fault.for_ps, -fault.node))
        return (
            f"Worker {ranks[longest.node]} stood still (fault {longest.verb} at "
            f"{format_duration(longest.at_ps)} for {format_duration(longest.for_ps)}); waiting "
            f"for it cost {cost}.",
            "A worker that does not stop.",
        )
    costs = [host.send_ps + host.receive_ps for host in plan.hosts[: plan.workers]]
    slow = costs.index(max(costs))
    return (
        f"Worker {slow} spends {_cost(costs[slow])} on a packet and its answer, the typical "
        f"worker {_cost(median_high(costs))}; waiting for it cost {cost}.",
        f"A faster worker {slow} (workers.{slow}.host).",
    )


def _recovery(plan: Plan, trace: Trace, cost_ps: int) -> Sentences:
    dropped = packets_dropped(trace)
    timeouts = sum(record.timeouts for record in trace.ranks)
    cost = f"about {format_duration(cost_ps, 4)}, {_share(cost_ps, finish_time_ps(plan, trace))}"
    kind = "adaptive, at first" if plan.rto.adaptive else "fixed,"
    now = f"now {kind} {format_duration(plan.rto.initial_ps, 3)}"
    again = f"sending {retransmissions(trace)} again, after {_count(timeouts, 'timeout')}, cost"
    if dropped == 0:
        return (
            f"Every packet arrived, but some later than the timeout; {again} {cost}.",
            f"A longer host.rto, or adaptive ({now}).",
        )
    return (
        f"{_count(dropped, 'packet')} of {packets_sent(plan, trace)} did not arrive; noticing and "
        f"{again} {cost}.",
        f"A shorter retransmission timeout (host.rto, {now}) or links that lose less.",
    )


def _queue(plan: Plan, trace: Trace, cost_ps: int) -> Sentences:
    worst = max(trace.links, key=lambda record: (record.queue_dropped, -record.link))
    limit = plan.graph.links[worst.link].queue_bytes
    packet = 0
    if plan.stream is not None:
        packet = plan.stream.payload_bytes + plan.stream.overhead_bytes
    elif plan.aggregation is not None:
        packet = plan.aggregation.packet_bytes
    window = plan.stream.window if plan.stream is not None else None
    rate = plan.graph.links[worst.link].rate_bps
    because = (
        f"The queue of {link_name(plan, worst.link)} ({limit} B, "
        f"{format_duration(serialisation_ps(limit or 0, rate), 3)} of the link) dropped "
        f"{_count(worst.queue_dropped, 'packet')} of {packet} B; recovering cost about "
        f"{format_duration(cost_ps, 4)}, {_share(cost_ps, finish_time_ps(plan, trace))}."
    )
    smaller = f", a smaller message.window (now {window})" if window is not None else ""
    return because, f"A larger queue (topology.link.queue){smaller}, or fewer senders at once."


def _cost(cost_ps: int) -> str:
    return format_duration(cost_ps) if cost_ps else "nothing"


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.3g} % of the time" if whole else "no time"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun_for(number, noun)}"


_WRITERS: Mapping[str, Callable[[Plan, Trace, int], Sentences]] = {
    "link": _link,
    "latency": _latency,
    "window": _window,
    "host": _host,
    "straggler": _straggler,
    "loss recovery": _recovery,
    "queue": _queue,
}
