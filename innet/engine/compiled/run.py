"""A run of the compiled engine, from the plan to the trace."""

from collections.abc import Callable
from typing import NoReturn

from innet.engine.compiled.conditions import ENGINE, refusal
from innet.engine.compiled.jit import announced
from innet.engine.compiled.kernel import FULL, MORE, QUIET, run_windows
from innet.engine.compiled.lower import grown, lower
from innet.engine.compiled.outcome import trace_of, waiting
from innet.engine.refused import RefusedError
from innet.errors import UnfinishedError
from innet.plan.plan import Plan
from innet.trace.records import Trace
from innet.units import format_duration

# Between slices, of some tens of milliseconds, Ctrl-C is noticed. An event of the switch may send
# to all workers.
_EVENTS_A_SLICE = 2_000_000
_SENDS_A_SLICE = 20_000_000


def run_compiled(
    plan: Plan,
    progress: Callable[[float], None] | None = None,
    note: Callable[[str], None] | None = None,
) -> Trace:
    """Run a plan without values; RefusedError where this would not be exact.

    `note` is told when the engine must be compiled first.
    """
    why = refusal(plan)
    if why is not None:
        raise RefusedError(ENGINE, why)
    with announced(note):
        return CompiledRun(plan).run(progress)


class CompiledRun:
    """A plan on its way."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self.state = lower(plan)
        self._total = max(1, int(self.state.hosts.shards["blocks"].sum()))

    def run(self, progress: Callable[[float], None] | None) -> Trace:
        """Run until the network is quiet; raise UnfinishedError when nobody can go on.

        The run is looked at as `reference/run.py` does: after the plan's patience, again and
        again, it must have moved, and not for longer than the plan's limit.
        """
        plan = self._plan
        before, now = -1, 0
        while True:
            now += min(plan.patience_ps, max(1, plan.maximum_time_ps - now))
            quiet = self._run_to(now, progress)
            done = bool((self.state.hosts.workers["finish"] >= 0).all())
            if done and quiet:
                break
            too_long = now >= plan.maximum_time_ps
            moved = self._completed()
            if too_long or (moved == before and now >= plan.patience_ps):
                if done:
                    break
                self._give_up(too_long, now)
            before = moved
        return trace_of(plan, self.state)

    def _run_to(self, last: int, progress: Callable[[float], None] | None) -> bool:
        """Handle all events up to `last`; return whether there are no others."""
        while True:
            self.state.switch.counters["sends_left"] = _SENDS_A_SLICE
            status = run_windows(self.state, last, _EVENTS_A_SLICE)
            if status == FULL:
                self.state = grown(self.state)
            elif status == MORE:
                if progress is not None:
                    progress(min(1.0, self._completed() / self._total))
            else:
                return bool(status == QUIET)

    def _completed(self) -> int:
        return int(self.state.hosts.shards["completed"].sum())

    def _give_up(self, too_long: bool, now: int) -> NoReturn:
        why = "reached the simulated time limit"
        if not too_long:
            why = f"nothing has moved for {format_duration(self._plan.patience_ps)}"
        lines = waiting(self._plan, self.state)[:10]
        raise UnfinishedError(
            f"{why} (at {format_duration(now)})" + "".join("\n  " + line for line in lines)
        )
