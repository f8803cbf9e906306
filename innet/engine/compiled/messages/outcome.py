"""What a point-to-point run in compiled code leaves behind: its trace, or who is stuck."""

from typing import Any

import numpy as np
import numpy.typing as npt

from innet.collectives.progress import next_receipt
from innet.engine.compiled.conditions import ENGINE
from innet.engine.compiled.messages.state import State
from innet.plan.plan import Plan
from innet.trace.records import LinkRecord, RankRecord, Trace


def trace_of(plan: Plan, state: State, results: tuple[npt.NDArray[Any], ...] | None) -> Trace:
    """Return the trace of a finished run."""
    links = tuple(link_record(index, link) for index, link in enumerate(state.net.links))
    return Trace(
        ENGINE,
        tuple(_rank_record(rank, member) for rank, member in enumerate(state.members)),
        links,
        (),
        sum(link.packets for link in links),
        results,
    )


def _rank_record(rank: int, member: np.void) -> RankRecord:
    return RankRecord(
        rank,
        int(member["start_ps"]),
        int(member["finish"]),
        int(member["sent"]),
        int(member["received"]),
        int(member["retransmissions"]),
        int(member["timeouts"]),
        int(member["stale"]),
        0,
        int(member["stalled_ps"]),
        0,
    )


def link_record(index: int, link: np.void) -> LinkRecord:
    """Return what a link direction counted."""
    return LinkRecord(
        index,
        int(link["packets"]),
        int(link["bytes"]),
        int(link["busy_ps"]),
        int(link["lost"]),
        int(link["queue_dropped"]),
        0,
        0,
        int(link["queued_ps"]),
    )


def waiting(plan: Plan, state: State) -> list[str]:
    """Say who waits for which message."""
    assert plan.schedule is not None
    lines = []
    # Plain Python reads records by attribute as compiled code does.
    records: Any = state.steps.messages
    steps = state.steps._replace(messages=records.view(np.recarray))
    for rank in range(plan.schedule.ranks):
        message = next_receipt(steps, rank)
        if message is not None:
            move = plan.schedule.messages[message]
            lines.append(
                f"rank {rank} waits for the message of step {move.step} "
                f"(block {move.first}) from rank {move.source}"
            )
    return lines
