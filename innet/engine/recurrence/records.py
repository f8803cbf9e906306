"""What the ranks and links of a run by the recurrence counted."""

from collections.abc import Iterator

from innet.engine.recurrence.conditions import ENGINE
from innet.engine.recurrence.repeats import Rounds
from innet.plan.plan import Aggregation, Plan
from innet.trace.records import LinkRecord, RankRecord, SwitchRecord, Trace


def trace_of(plan: Plan, format_: Aggregation, rounds: Rounds) -> Trace:
    """Return the trace of a run whose rounds are over."""
    chunks = sum(rounds.shards.chunks)
    links = {
        index: _link_record(index, chunks, format_.packet_bytes, packet_ps, queued_ps)
        for index, packet_ps, queued_ps in crossed_links(rounds)
    }
    every = range(len(plan.graph.links))
    return Trace(
        ENGINE,
        tuple(_rank_record(plan, rounds, rank, chunks) for rank in range(plan.workers)),
        tuple(links.get(index) or _link_record(index, 0, 0, 0, 0) for index in every),
        tuple(
            SwitchRecord(node, chunks, 0, 0, 0, 0)
            for node in sorted(switch.node for switch in format_.tree)
        ),
        len(links) * chunks,
        None,
    )


def crossed_links(rounds: Rounds) -> Iterator[tuple[int, int, int]]:
    """Yield every link of the tree, its packet time and the longest wait for it, in ps."""
    for edge in rounds.tree.edges:
        level = rounds.tree.levels[edge.level]
        for links, way, queued in (
            (edge.up, level.up, rounds.up_queued[edge.level]),
            (edge.down, level.down, rounds.down_queued[edge.level]),
        ):
            for hop, index in enumerate(links):
                at = edge.place, hop
                yield index, int(way.packet_ps[at]), int(queued[at])


def _rank_record(plan: Plan, rounds: Rounds, rank: int, chunks: int) -> RankRecord:
    tree, host, edge = rounds.tree, plan.hosts[rank], rounds.tree.edge_of[rank]
    stalled_ps = 0
    if chunks:
        first_sent_ps = host.start_ps + host.send_ps
        busy_ps = chunks * int(tree.levels[edge.level].up.packet_ps[edge.place, 0])
        free_ps = int(rounds.state.up_free[edge.level][edge.place, 0])
        stalled_ps = free_ps - first_sent_ps - busy_ps
    return RankRecord(
        rank=rank,
        start_ps=host.start_ps,
        finish_ps=int(rounds.finish[tree.class_of[rank]]),
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
    link: int, packets: int, packet_bytes: int, packet_ps: int, queued_ps: int
) -> LinkRecord:
    return LinkRecord(
        link=link,
        packets=packets,
        bytes=packets * packet_bytes,
        busy_ps=packets * packet_ps,
        lost=0,
        queue_dropped=0,
        corrupted=0,
        duplicated=0,
        queued_ps=queued_ps,
    )
