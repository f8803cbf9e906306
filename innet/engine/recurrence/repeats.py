"""All rounds of a run, those that repeat earlier ones at once.

A round is a window of chunks. Once a round, or several, does the same as before but later, all
rounds of that kind do: the recurrence has no memory but its state.
"""

from itertools import chain

import numpy as np
import numpy.typing as npt

from innet.engine.progress import Reached, Report
from innet.engine.recurrence.conditions import ENGINE
from innet.engine.recurrence.rounds import Round, first_state, go_round
from innet.engine.recurrence.shards import Shards
from innet.engine.recurrence.timeouts import Timeouts
from innet.engine.recurrence.tree import Tree
from innet.engine.refused import RefusedError
from innet.plan.plan import Plan


class Rounds:
    """The rounds of a run, and what is kept of them; `finish` has an entry a class.

    `up_queued` and `down_queued` are the longest waits for links, level by level.
    """

    def __init__(self, plan: Plan, tree: Tree, shards: Shards, timeouts: Timeouts) -> None:
        self.tree, self.shards = tree, shards
        self.finish = tree.start_ps
        self.up_queued = [np.zeros_like(level.up.packet_ps) for level in tree.levels]
        self.down_queued = [np.zeros_like(level.down.packet_ps) for level in tree.levels]
        self._limit_ps = plan.maximum_time_ps
        self._timeouts = timeouts
        self._turn = 0
        self._turns = shards.rounds
        self.state = first_state(tree, sum(shards.sizes(0)))
        self._mark = self.state
        self._since = 0  # rounds since the mark
        self._patience = 1  # rounds until the mark moves on
        self._equal = 0  # rounds left that are like the current one

    def run(self, progress: Report | None, take_repeats_at_once: bool) -> bool:
        """Return whether every answer came in time."""
        self._refuse_late(int(self.finish.max()))
        while any(sizes := self.shards.sizes(self._turn)):
            if not self._one(sizes):
                return False
            if take_repeats_at_once and not self._repeat():
                return False
            if progress is not None:
                progress(Reached(self._turn / self._turns, int(self.finish.max())))
        return True

    def _one(self, sizes: list[int]) -> bool:
        following = self.shards.sizes(self._turn + 1)
        if self._equal == 0:
            self._equal = self.shards.equal_rounds(self._turn)
            self._set_mark(1)
        self._equal = max(0, self._equal - 1)
        found = go_round(self.tree, self.state, _followed(sizes, following))
        self._keep(found)
        self._turn += 1
        self._since += 1
        return self._timeouts.in_time(found.waited, sizes)

    def _keep(self, found: Round) -> None:
        self.state = found.state
        self.finish = found.received
        for kept, new in (
            (self.up_queued, found.up_queued_ps),
            (self.down_queued, found.down_queued_ps),
        ):
            for mine, theirs in zip(kept, new, strict=True):
                np.maximum(mine, theirs, out=mine)
        self._refuse_late(int(found.received.max()))

    def _refuse_late(self, time_ps: int) -> None:
        if time_ps > self._limit_ps:
            raise RefusedError(ENGINE, "the run is longer than its simulated time limit")

    def _set_mark(self, patience: int) -> None:
        """Compare later rounds with this one; the mark moves on as in Brent's cycle search."""
        self._mark = self.state
        self._since = 0
        self._patience = patience
        self._timeouts.mark()

    def _repeat(self) -> bool:
        """Take at once what repeats the rounds since the mark; return whether all is in time."""
        times = self._equal // self._since
        shift = self.state.shift_from(self._mark) if times else None
        if shift is None:
            if self._since == self._patience:
                self._set_mark(2 * self._patience)
            return True
        self._refuse_late(int(self.finish.max()) + times * shift)
        self.state = self.state.shifted(times * shift)
        self.finish = self.finish + times * shift
        self._turn += times * self._since
        self._equal -= times * self._since
        return self._timeouts.repeat(times)


def _followed(sizes: list[int], following: list[int]) -> npt.NDArray[np.bool_] | None:
    """For a round's packets whether their results send another; None when all do.

    The first packets of each shard do, as many as its next round has.
    """
    if sizes == following:
        return None
    pairs = zip(sizes, following, strict=True)
    parts = ([place < more for place in range(size)] for size, more in pairs)
    return np.fromiter(chain.from_iterable(parts), dtype=np.bool_)
