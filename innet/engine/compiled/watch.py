"""Ends a run of the compiled engine in which nothing moves, as `reference/watch.py` has it."""

from typing import NoReturn, Protocol

from innet.errors import UnfinishedError
from innet.plan.plan import Fabric
from innet.protocol.machine import NEVER
from innet.units import format_duration


class QuietError(Exception):
    """All that was begun is done; what still happens is sent again in vain."""


class Watched(Protocol):
    """What the watch looks at."""

    def all_done(self) -> bool:
        """Whether all that was begun is complete."""

    def hopeless(self) -> bool:
        """Whether those who wait need nothing but what the network brings."""

    def progress_made(self) -> int:
        """A number that grows as long as something is moving."""

    def waiting(self) -> list[str]:
        """Who waits for what."""


class Watch:
    """Looks at `at_ps`, NEVER unless it is armed, after all that happens then or before."""

    def __init__(self, fabric: Fabric, watched: Watched) -> None:
        self._fabric, self._watched = fabric, watched
        self._before = -1
        self.at_ps = NEVER

    @property
    def armed(self) -> bool:
        """Whether it will look."""
        return self.at_ps < NEVER

    def arm(self, now: int) -> None:
        """Look every `patience_ps` of the fabric from now on."""
        if not self.armed:
            self._again(-1, now)

    def _again(self, before: int, now: int) -> None:
        fabric = self._fabric
        self._before = before
        self.at_ps = now + min(fabric.patience_ps, max(1, fabric.maximum_time_ps - now))

    def look(self, quiet: bool) -> None:
        """Look; `quiet` says that nothing is left to happen.

        Raises QuietError for what is sent again in vain, UnfinishedError where nobody can go on.
        """
        watched, fabric, now = self._watched, self._fabric, self.at_ps
        done = watched.all_done()
        if done and quiet:
            self.at_ps = NEVER
            return
        if now >= fabric.maximum_time_ps:
            self._end(done, "reached the simulated time limit", now)
        progress = watched.progress_made()
        if progress == self._before and now >= fabric.patience_ps and watched.hopeless():
            waited = format_duration(fabric.patience_ps)
            self._end(done, f"nothing has moved for {waited}", now)
        self._again(progress, now)

    def _end(self, done: bool, why: str, now: int) -> NoReturn:
        self.at_ps = NEVER
        if done:
            raise QuietError
        lines = self._watched.waiting()[:10]
        raise UnfinishedError("\n  ".join([f"{why} (at {format_duration(now)})", *lines]))
