"""The event loop that drives agents and switches: one selector, one clock, one timer each.

Linux's poll counts milliseconds, so that is how finely timers are met.
"""

import selectors
import time
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
    """Drives its participants, in their order, until it is told to stop.

    `rest_ps`, if there is one, says how long to leave descriptors alone after one was read.
    """

    def __init__(
        self,
        clock: Clock,
        participants: Sequence[Participant] = (),
        rest_ps: Callable[[], int] = lambda: 0,
    ) -> None:
        self.clock = clock
        self.participants = list(participants)
        self._rest_ps = rest_ps
        self._descriptors: list[Sequence[int]] = []
        self._watched: dict[int, Participant] = {}

    def run(self, is_over: Callable[[], bool]) -> None:
        """Run until `is_over()`, which is asked between any two things that happen."""
        with selectors.DefaultSelector() as selector:
            self._descriptors, self._watched = [], {}
            while not is_over():
                seconds_left = self._run_due()
                self._watch(selector)
                if is_over():
                    return
                ready = selector.select(seconds_left)
                for participant in dict.fromkeys(self._watched[key.fd] for key, _ in ready):
                    participant.on_readable(self.clock.now())
                rest = self._rest_ps() if ready else 0
                if rest:
                    time.sleep(rest / PS_PER_SECOND)

    def _run_due(self) -> float | None:
        """Run what is due; return in how many seconds something will be, None if nothing."""
        now = self.clock.now()
        first: int | None = None
        for participant in self.participants:
            due = participant.next_time()
            if due is not None and due <= now:
                participant.on_time(now)
                due = participant.next_time()
            if due is not None and (first is None or due < first):
                first = due
        return None if first is None else max(0, first - self.clock.now()) / PS_PER_SECOND

    def _watch(self, selector: selectors.BaseSelector) -> None:
        descriptors = [participant.descriptors() for participant in self.participants]
        if descriptors == self._descriptors:
            return
        self._descriptors = descriptors
        wanted = {
            descriptor: participant
            for participant, its in zip(self.participants, descriptors, strict=True)
            for descriptor in its
        }
        for descriptor in self._watched.keys() - wanted.keys():
            selector.unregister(descriptor)
        for descriptor in wanted.keys() - self._watched.keys():
            selector.register(descriptor, selectors.EVENT_READ)
        self._watched = wanted
