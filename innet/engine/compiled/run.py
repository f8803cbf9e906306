"""A run of the compiled engine, from the plan to the trace."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy.typing as npt

from innet.engine.compiled.conditions import ENGINE, is_star, refusal
from innet.engine.compiled.jit import announced
from innet.engine.compiled.kernel import FULL, MORE, QUIET, run_windows
from innet.engine.compiled.lower import grown, lower
from innet.engine.compiled.outcome import trace_of, waiting
from innet.engine.compiled.sums import results_of
from innet.engine.compiled.watch import QuietError, Watch
from innet.engine.progress import Reached, Report
from innet.engine.refused import RefusedError
from innet.plan.plan import Plan
from innet.protocol.machine import NEVER
from innet.trace.records import Trace

# Between slices, of some tens of milliseconds, Ctrl-C is noticed. An event of the switch may send
# to all workers.
_EVENTS_A_SLICE = 2_000_000
_SENDS_A_SLICE = 20_000_000


def run_compiled(
    plan: Plan,
    progress: Report | None = None,
    note: Callable[[str], None] | None = None,
    tensors: Sequence[npt.NDArray[Any]] | None = None,
) -> Trace:
    """Run a plan; RefusedError where this would not be exact.

    `progress` is told how far the run is, `note` when the engine must be compiled first.
    `tensors` holds a vector of `plan.elements` a worker, or is None for timing only.
    """
    why = refusal(plan)
    if why is not None:
        raise RefusedError(ENGINE, why)
    with announced(note):
        if is_star(plan):
            return CompiledRun(plan, tensors).run(progress)
        # Compiled, or loaded, only when it is needed.
        from innet.engine.compiled.messages.run import run_on_network

        return run_on_network(plan, tensors, progress)


class CompiledRun:
    """An in-network plan on its way."""

    def __init__(self, plan: Plan, tensors: Sequence[npt.NDArray[Any]] | None = None) -> None:
        self._plan, self._tensors = plan, tensors
        self.state = lower(plan, tensors is not None)
        self._total = max(1, int(self.state.hosts.shards["blocks"].sum()))

    def run(self, progress: Report | None) -> Trace:
        """Run until the network is quiet; raise UnfinishedError when nobody can go on."""
        watch = Watch(self._plan, self)
        watch.arm(0)
        try:
            while watch.armed:
                watch.look(self._run_to(watch.at_ps, progress))
        except QuietError:
            pass
        results = None
        if self._tensors is not None:
            results = results_of(self._plan, self.state, self._tensors)
        return trace_of(self._plan, self.state, results)

    def _run_to(self, last: int, progress: Report | None) -> bool:
        """Handle all events up to `last`; return whether there are no others."""
        while True:
            self.state.switch.counters["sends_left"] = _SENDS_A_SLICE
            status = run_windows(self.state, last, _EVENTS_A_SLICE)
            if status == FULL:
                self.state = grown(self.state)
            elif status == MORE:
                self._tell(progress)
            else:
                return bool(status == QUIET)

    def _tell(self, progress: Report | None) -> None:
        first = int(self.state.net.due.min())
        if progress is not None and first < NEVER:
            progress(Reached(min(1.0, self.progress_made() / self._total), first))

    def all_done(self) -> bool:
        """Whether every worker has its result."""
        return bool((self.state.hosts.workers["finish"] >= 0).all())

    def hopeless(self) -> bool:
        """Nobody begins later."""
        return True

    def progress_made(self) -> int:
        """The chunks of which workers have the sum."""
        return int(self.state.hosts.shards["completed"].sum())

    def waiting(self) -> list[str]:
        """Who waits for what."""
        return waiting(self._plan, self.state)
