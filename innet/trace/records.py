"""What a run leaves behind, the same for every engine and emulator.

Counters are plain integers; times are picoseconds on the run's own clock (simulated time in
an engine, the monotonic clock in an emulator).
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class RankRecord:
    """One participant. `finish_ps` is when it held its whole result."""

    rank: int
    start_ps: int
    finish_ps: int
    packets_sent: int
    packets_received: int
    retransmissions: int
    timeouts: int
    stale: int
    helps_answered: int
    window_stalled_ps: int
    cpu_busy_ps: int


@dataclass(frozen=True, slots=True)
class LinkRecord:
    """One link direction. Bytes are medium bytes; what was lost had occupied the link,
    what the queue dropped had not. `queued_ps` is the longest wait for the link.
    """

    link: int
    packets: int
    bytes: int
    busy_ps: int
    lost: int
    queue_dropped: int
    corrupted: int
    duplicated: int
    queued_ps: int


@dataclass(frozen=True, slots=True)
class SwitchRecord:
    """What an aggregating switch counted."""

    node: int
    completed: int
    unicasts: int
    repeats_dropped: int
    stale_dropped: int
    helps_sent: int


@dataclass(frozen=True, slots=True)
class Trace:
    """One finished run. `results[w]` is worker w's vector, None when timing only."""

    engine: str
    ranks: tuple[RankRecord, ...]
    links: tuple[LinkRecord, ...]
    switches: tuple[SwitchRecord, ...]
    hops: int
    results: tuple[npt.NDArray[np.generic], ...] | None
    flushed_blocks: int = 0
