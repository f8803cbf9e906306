"""A run of a point-to-point plan in compiled code, from the plan to the trace."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy.typing as npt

from innet.collectives.execute import execute
from innet.engine.compiled.kernel import FULL, MORE, QUIET
from innet.engine.compiled.messages.kernel import run_windows
from innet.engine.compiled.messages.lower import grown, lower
from innet.engine.compiled.messages.outcome import trace_of, waiting
from innet.engine.compiled.watch import run_watched
from innet.plan.plan import Plan
from innet.trace.records import Trace
from innet.wire.dtypes import add

Vectors = Sequence[npt.NDArray[Any]]

# Between slices, of some tens of milliseconds, Ctrl-C is noticed.
_EVENTS_A_SLICE = 500_000


class CompiledMessages:
    """A point-to-point plan on its way.

    Every message arrives once, whatever happens to its packets, and the schedule alone decides
    which values meet: so results are worked out when all of them have arrived.
    """

    def __init__(self, plan: Plan, tensors: Vectors | None) -> None:
        self._plan, self._tensors = plan, tensors
        self.state = lower(plan)

    def run(self, progress: Callable[[float], None] | None) -> Trace:
        """Run until the network is quiet; raise UnfinishedError when nobody can go on."""
        run_watched(self._plan, self, progress)
        return trace_of(self._plan, self.state, self._results())

    def _results(self) -> tuple[npt.NDArray[Any], ...] | None:
        plan = self._plan
        if self._tensors is None:
            return None
        assert plan.schedule is not None
        return tuple(
            execute(
                plan.schedule, self._tensors, lambda mine, theirs: add(mine, theirs, plan.dtype)
            )
        )

    def run_to(self, last: int, progress: Callable[[float], None] | None) -> bool:
        """Handle all events up to `last`; return whether there are no others."""
        total = max(1, len(self.state.messages))
        while True:
            status = run_windows(self.state, last, _EVENTS_A_SLICE)
            if status == FULL:
                self.state = grown(self.state)
            elif status == MORE:
                if progress is not None:
                    progress(self.state.steps.top[1] / total)
            else:
                return bool(status == QUIET)

    def done(self) -> bool:
        """Whether every rank has all that the schedule gives it."""
        return bool((self.state.members["finish"] >= 0).all())

    def moved(self) -> int:
        """The packets that have come through, each counted once at either end."""
        rows = self.state.streams.rows
        return int(rows["base"].sum() + rows["expected"].sum())

    def waiting(self) -> list[str]:
        """Who waits for what."""
        return waiting(self._plan, self.state)
