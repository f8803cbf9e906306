"""What the ranks and links of a ring by the recurrence counted."""

from collections import Counter

import numpy as np

from innet.engine.recurrence.conditions import ENGINE
from innet.engine.recurrence.ring import Ring, RingRun
from innet.engine.recurrence.tree import Times
from innet.engine.refused import RefusedError
from innet.trace.records import LinkRecord, RankRecord, Trace
from innet.units import serialisation_ps


def refuse_full_ring(run: RingRun) -> None:
    """Refuse where what waits for a link, which its longest wait tells, could fill its queue."""
    ring = run.ring
    packet_bytes = ring.stream.payload_bytes + ring.stream.overhead_bytes
    for rank, pair in enumerate(ring.pairs):
        for place, hop in enumerate(pair.there):
            limit = ring.plan.graph.links[hop.link].queue_bytes
            queued_ps = int(run.queued_ps[rank % len(ring.rows), place])
            ahead = -(-queued_ps * hop.rate_bps // (8 * 10**12))
            if limit is not None and queued_ps and ahead + packet_bytes >= limit:
                raise RefusedError(ENGINE, f"the queue of link {hop.link} may overflow")


def trace_of_ring(run: RingRun) -> Trace:
    """Return the trace of a run whose steps are over."""
    plan = run.ring.plan
    packets = (-(-run.ring.sizes // run.ring.stream.payload_bytes)).sum(axis=0)
    links = _links(run, packets)
    return Trace(
        ENGINE,
        tuple(_rank_record(run, rank, packets) for rank in range(plan.workers)),
        links,
        (),
        sum(link.packets for link in links),
        None,
    )


def _rank_record(run: RingRun, rank: int, packets: Times) -> RankRecord:
    ring, row = run.ring, rank % len(run.ring.rows)
    sent, received = int(packets[rank]), int(packets[ring.target.index(rank)])
    return RankRecord(
        rank=rank,
        start_ps=ring.plan.hosts[rank].start_ps,
        finish_ps=int(run.received[row]),
        # Each packet that has come in is answered by one.
        packets_sent=sent + received,
        packets_received=sent + received,
        retransmissions=0,
        timeouts=0,
        stale=0,
        helps_answered=0,
        window_stalled_ps=int(run.stalled_ps[row]),
        cpu_busy_ps=0,
    )


def _links(run: RingRun, packets: Times) -> tuple[LinkRecord, ...]:
    ring = run.ring
    answers: Counter[int] = Counter()
    data = {}
    for rank, pair in enumerate(ring.pairs):
        answers.update({hop.link: int(packets[rank]) for hop in pair.back})
        for place, hop in enumerate(pair.there):
            queued_ps = int(run.queued_ps[rank % len(ring.rows), place])
            data[hop.link] = (rank, hop.rate_bps, queued_ps)
    return tuple(
        _link_record(ring, link, data.get(link), answers[link])
        for link in range(len(ring.plan.graph.links))
    )


def _link_record(
    ring: Ring, link: int, data: tuple[int, int, int] | None, answers: int
) -> LinkRecord:
    """Write the record of a link: `data` are the rank that sends on it, its rate and a wait."""
    packets = medium_bytes = busy_ps = queued_ps = 0
    if data is not None:
        rank, rate_bps, queued_ps = data
        for size, count in _packet_sizes(ring, rank).items():
            packets += count
            medium_bytes += count * size
            busy_ps += count * serialisation_ps(size, rate_bps)
    return LinkRecord(
        link=link,
        packets=packets + answers,
        bytes=medium_bytes,
        busy_ps=busy_ps,
        lost=0,
        queue_dropped=0,
        corrupted=0,
        duplicated=0,
        queued_ps=queued_ps,
    )


def _packet_sizes(ring: Ring, rank: int) -> Counter[int]:
    """Count the packets that a rank sends by their medium bytes."""
    payload, overhead = ring.stream.payload_bytes, ring.stream.overhead_bytes
    found: Counter[int] = Counter()
    sizes, counts = np.unique(ring.sizes[:, rank], return_counts=True)
    for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
        full = -(-size // payload) - 1
        found[payload + overhead] += full * count
        found[size - full * payload + overhead] += count
    return found
