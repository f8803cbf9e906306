"""Ends a run in which nothing moves any more."""

from typing import Protocol

from innet.engine.reference.clock import WATCH, Clock, call_at, priority
from innet.engine.reference.program import unfinished
from innet.plan.plan import Fabric
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
    """Looks every `patience_ps` of the fabric, from when it is armed until nothing is left."""

    def __init__(self, env: Clock, fabric: Fabric, watched: Watched) -> None:
        self._env, self._fabric, self._watched = env, fabric, watched
        self._armed = False

    def arm(self) -> None:
        """Look from now on."""
        if not self._armed:
            self._armed = True
            self._again(-1, int(self._env.now))

    def _again(self, progress_before: int, now: int) -> None:
        fabric = self._fabric
        wait = min(fabric.patience_ps, max(1, fabric.maximum_time_ps - now))
        order = priority(WATCH, 0, 0)
        call_at(self._env, now + wait, order, lambda then: self._look(progress_before, then))

    def _look(self, progress_before: int, now: int) -> None:
        """A run in which everybody is done goes on while packets are on their way, unless all
        that moves is sent again in vain: its answers may be lost for ever.
        """
        watched, fabric = self._watched, self._fabric
        done = watched.all_done()
        if done and self._env.peek() == float("inf"):
            self._armed = False
            return
        if now >= fabric.maximum_time_ps:
            self._end(done, "reached the simulated time limit", now)
        progress = watched.progress_made()
        if progress == progress_before and now >= fabric.patience_ps and watched.hopeless():
            waited = format_duration(fabric.patience_ps)
            self._end(done, f"nothing has moved for {waited}", now)
        self._again(progress, now)

    def _end(self, done: bool, why: str, now: int) -> None:
        if not done:
            raise unfinished(why, now, self._watched.waiting())
        self._armed = False
        raise QuietError
