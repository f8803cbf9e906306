"""What the ranks and links of a run by the recurrence counted."""

import numpy as np

from innet.engine.recurrence.conditions import ENGINE
from innet.engine.recurrence.repeats import Rounds
from innet.engine.recurrence.star import links_of
from innet.plan.plan import Aggregation, Plan
from innet.trace.records import LinkRecord, RankRecord, SwitchRecord, Trace


def trace_of(plan: Plan, format_: Aggregation, rounds: Rounds) -> Trace:
    """Return the trace of a run whose rounds are over."""
    chunks = sum(rounds.shards.chunks)
    ranks, links = [], {}
    for rank, class_ in enumerate(rounds.star.class_of):
        ranks.append(_rank_record(plan, rounds, rank, class_, chunks))
        up, down = links_of(plan, rank)
        star, size = rounds.star, format_.packet_bytes
        links[up] = _link_record(up, chunks, size, star.up_ps[class_], rounds.up_queued[class_])
        links[down] = _link_record(
            down, chunks, size, star.down_ps[class_], rounds.down_queued[class_]
        )
    switch = SwitchRecord(format_.switch, chunks, 0, 0, 0, 0)
    return Trace(
        ENGINE,
        tuple(ranks),
        tuple(links[index] for index in sorted(links)),
        (switch,),
        2 * plan.workers * chunks,
        None,
    )


def _rank_record(plan: Plan, rounds: Rounds, rank: int, class_: int, chunks: int) -> RankRecord:
    star, host = rounds.star, plan.hosts[rank]
    stalled_ps = 0
    if chunks:
        first_sent_ps = host.start_ps + host.send_ps
        busy_ps = chunks * int(star.up_ps[class_])
        stalled_ps = int(rounds.state.up_free[class_]) - first_sent_ps - busy_ps
    return RankRecord(
        rank=rank,
        start_ps=host.start_ps,
        finish_ps=int(rounds.finish[class_]),
        packets_sent=chunks,
        packets_received=chunks,
        retransmissions=0,
        timeouts=0,
        stale=0,
        helps_answered=0,
        window_stalled_ps=stalled_ps,
        cpu_busy_ps=chunks * (host.send_ps + host.receive_ps),
    )


def _link_record(
    link: int, packets: int, packet_bytes: int, packet_ps: np.int64, queued_ps: np.int64
) -> LinkRecord:
    return LinkRecord(
        link=link,
        packets=packets,
        bytes=packets * packet_bytes,
        busy_ps=packets * int(packet_ps),
        lost=0,
        queue_dropped=0,
        corrupted=0,
        duplicated=0,
        queued_ps=int(queued_ps),
    )
