"""When a run of the compiled engine ends, as `reference/run.py` has it."""

from collections.abc import Callable
from typing import NoReturn, Protocol

from innet.errors import UnfinishedError
from innet.plan.plan import Plan
from innet.units import format_duration

Report = Callable[[float], None]


class Watched(Protocol):
    """A run that can be looked at."""

    def run_to(self, last: int, progress: Report | None) -> bool:
        """Handle all events up to `last`; return whether there are no others."""

    def done(self) -> bool:
        """Whether everybody has finished."""

    def moved(self) -> int:
        """A number that grows as long as something is moving."""

    def waiting(self) -> list[str]:
        """Who waits for what."""


def run_watched(plan: Plan, run: Watched, progress: Report | None) -> None:
    """Run until the network is quiet; raise UnfinishedError when nobody can go on.

    After the plan's patience, again and again, the run must have moved, and not for longer than
    the plan's limit.
    """
    before, now = -1, 0
    while True:
        now += min(plan.patience_ps, max(1, plan.maximum_time_ps - now))
        quiet = run.run_to(now, progress)
        done = run.done()
        if done and quiet:
            return
        too_long = now >= plan.maximum_time_ps
        moved = run.moved()
        if too_long or (moved == before and now >= plan.patience_ps):
            if done:
                return
            _give_up(plan, run, too_long, now)
        before = moved


def _give_up(plan: Plan, run: Watched, too_long: bool, now: int) -> NoReturn:
    why = "reached the simulated time limit"
    if not too_long:
        why = f"nothing has moved for {format_duration(plan.patience_ps)}"
    lines = run.waiting()[:10]
    raise UnfinishedError(
        f"{why} (at {format_duration(now)})" + "".join("\n  " + line for line in lines)
    )
