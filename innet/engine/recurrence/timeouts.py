"""Whether any answer of a loss-free run comes after the timeout that was set for it.

The timeout of a packet is the interval that its shard's timer has when the packet is sent. A
shard measures one packet a round trip: the first of its first round, and then, since each
result sends the next packet of its slot, the first of every round. So round m is sent under
the interval after m samples.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from innet.engine.recurrence.tree import Times
from innet.plan.plan import Rto
from innet.protocol.transitions import NEW_TIMER, rto_answered, rto_interval, rto_time

_SLOT = 0  # of the packet that is measured; which one it is has no effect


class Timeouts(Protocol):
    """Is shown every round in order and says whether all its answers came in time."""

    def in_time(self, waited: Times, sizes: Sequence[int]) -> bool:
        """Take a round: `waited` is [classes, packets], `sizes` how many each shard sent."""

    def repeat(self, times: int) -> bool:
        """Take the rounds since the last mark `times` more times."""

    def mark(self) -> None:
        """The rounds that may be repeated begin here."""


def least_interval_ps(rto: Rto) -> int:
    """Return the smallest timeout that a timer can ever have."""
    least = min(rto.initial_ps, rto.minimum_ps) if rto.adaptive else rto.initial_ps
    return min(rto.maximum_ps, least)


class LeastTimeout:
    """The interval taken as the smallest that it can ever be."""

    def __init__(self, rto: Rto) -> None:
        self._least_ps = least_interval_ps(rto)

    def in_time(self, waited: Times, sizes: Sequence[int]) -> bool:
        """Whether no packet waited longer than the smallest interval."""
        return int(waited.max()) <= self._least_ps

    def repeat(self, times: int) -> bool:
        """Whether no packet waited too long, as before."""
        return True

    def mark(self) -> None:
        """Need nothing of the rounds so far."""


class MeasuredTimeouts:
    """The intervals as the workers' timers have them, by class and shard."""

    def __init__(self, rto: Rto, classes: int, shards: int) -> None:
        self._rto = rto
        self._timers = [[list(NEW_TIMER) for _ in range(shards)] for _ in range(classes)]
        self._rounds: list[list[_Seen]] = []

    def in_time(self, waited: Times, sizes: Sequence[int]) -> bool:
        """Whether no packet waited longer than the interval in force."""
        moving = [shard for shard, size in enumerate(sizes) if size]
        starts = np.array([sum(sizes[:shard]) for shard in moving])
        longest = np.maximum.reduceat(waited, starts, axis=1).tolist()
        samples = waited[:, starts].tolist()
        seen = [
            _Seen(timers[shard], longest[place][column], samples[place][column])
            for place, timers in enumerate(self._timers)
            for column, shard in enumerate(moving)
        ]
        self._rounds.append(seen)
        return self._take(seen)

    def repeat(self, times: int) -> bool:
        """Go on until the timers no longer change from one repetition to the next."""
        for _ in range(times):
            before = [[list(timer) for timer in timers] for timers in self._timers]
            if not all(self._take(seen) for seen in self._rounds):
                return False
            if before == self._timers:
                break
        return True

    def mark(self) -> None:
        """Forget the rounds so far."""
        self._rounds.clear()

    def _take(self, round_: list["_Seen"]) -> bool:
        in_time = True
        for seen in round_:
            in_time = in_time and seen.longest_ps <= self._interval(seen.timer)
            rto_time(seen.timer, 0, _SLOT, 0)
            rto_answered(seen.timer, 0, _SLOT, seen.sample_ps)
        return in_time

    def _interval(self, timer: list[int]) -> int:
        rto = self._rto
        return rto_interval(
            timer, 0, rto.adaptive, rto.initial_ps, rto.minimum_ps, rto.maximum_ps, 0
        )


class _Seen(NamedTuple):
    """A shard's timer in a round, its longest wait, and the one that the timer measures."""

    timer: list[int]
    longest_ps: int
    sample_ps: int
