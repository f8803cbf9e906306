"""The event loop that drives agents and switches: one selector, one clock, one timer each.

Linux's poll counts milliseconds, so that is how finely timers are met.
"""

import selectors
from collections.abc import Callable, Sequence
from typing import Protocol

from innet.emulator.clock import PS_PER_SECOND, Clock


class Participant(Protocol):
    """What a loop drives."""

    def descriptors(self) -> Sequence[int]:
        """What to wait for, for reading; may change."""

    def next_time(self) -> int | None:
        """When to call `on_time` at the latest, in the clock's picoseconds; None: whenever."""

    def on_time(self, now: int) -> None:
        """Do what is due."""

    def on_readable(self, now: int) -> None:
        """Something waits at one of the descriptors, or did."""


class Loop:
    """Drives its participants, in their order, until it is told to stop."""

    def __init__(self, clock: Clock, participants: Sequence[Participant] = ()) -> None:
        self.clock = clock
        self.participants = list(participants)
        self._watched: dict[int, Participant] = {}

    def run(self, is_over: Callable[[], bool]) -> None:
        """Run until `is_over()`, which is asked between any two things that happen."""
        with selectors.DefaultSelector() as selector:
            self._watched = {}
            while not is_over():
                self._run_due()
                self._watch(selector)
                if is_over():
                    return
                ready = selector.select(self._seconds_left())
                for participant in dict.fromkeys(self._watched[key.fd] for key, _ in ready):
                    participant.on_readable(self.clock.now())

    def _run_due(self) -> None:
        now = self.clock.now()
        for participant in self.participants:
            time = participant.next_time()
            if time is not None and time <= now:
                participant.on_time(now)

    def _watch(self, selector: selectors.BaseSelector) -> None:
        wanted = {
            descriptor: participant
            for participant in self.participants
            for descriptor in participant.descriptors()
        }
        if wanted == self._watched:
            return
        for descriptor in self._watched.keys() - wanted.keys():
            selector.unregister(descriptor)
        for descriptor in wanted.keys() - self._watched.keys():
            selector.register(descriptor, selectors.EVENT_READ)
        self._watched = wanted

    def _seconds_left(self) -> float | None:
        times = [participant.next_time() for participant in self.participants]
        first = min((time for time in times if time is not None), default=None)
        if first is None:
            return None
        return max(0, first - self.clock.now()) / PS_PER_SECOND
