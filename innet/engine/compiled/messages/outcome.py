"""What ranks and links have counted in compiled code."""

import numpy as np

from innet.trace.records import LinkRecord, RankRecord


def rank_record(rank: int, member: np.void) -> RankRecord:
    """Return what a rank counted in an operation."""
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
