"""Time: SimPy's environment in whole picoseconds, and the order of what happens at one instant.

Deliveries come first, by node and port, then finished work of hosts, then timers by node and
place, then starts, then faults of nodes. No result depends on the order in which events were
scheduled.
"""

from collections.abc import Callable, Sequence
from heapq import heappop

import simpy
from simpy.events import EventPriority

from innet.protocol.machine import NEVER

Action = Callable[[int], object]  # what to do at a time; what it returns is ignored

DELIVERY, WORK, TIMER, START, FAULT, WATCH = range(6)
_NODES, _PLACES = 1 << 20, 1 << 32


class Clock(simpy.Environment):
    """SimPy's environment, with its loop over events in one place: a call less an event.

    What must be fast may push (time, priority, next(ids), event) on `queue` itself, as
    `schedule` does.
    """

    def __init__(self) -> None:
        super().__init__(0)
        self.queue, self.ids = self._queue, self._eid

    def run_events(self, count: int) -> bool:
        """Handle the next `count` events; return whether there are more."""
        queue = self.queue
        for _ in range(count):
            if not queue:
                return False
            self._now, _, _, event = heappop(queue)
            callbacks = event.callbacks
            event.callbacks = None  # type: ignore[assignment]  # taken away, as SimPy does
            for callback in callbacks:
                callback(event)
        return True

    def run_before(self, limit: int, found: Sequence[object]) -> None:
        """Handle the events before `limit`, in order, until `found` holds something.

        What then happens at the same instant, before anything starts, is handled as well.
        """
        queue = self.queue
        while queue and queue[0][0] < limit:
            self.run_events(1)
            if found:
                last = (self._now, _FIRST_START)
                while queue and queue[0][:2] < last:
                    self.run_events(1)
                return


def priority(kind: int, node: int, place: int) -> EventPriority:
    """SimPy's priority of an event: its place in the order of one instant."""
    return EventPriority((kind * _NODES + node) * _PLACES + place)


_FIRST_START = priority(START, 0, 0)


def call_at(env: simpy.Environment, time: int, order: EventPriority, action: Action) -> None:
    """Call `action(time)` once at `time`, which is not before now."""
    event = simpy.Event(env)
    event._ok = True
    event._value = None

    def happen(_: simpy.Event) -> None:
        action(time)

    event.callbacks.append(happen)
    env.schedule(event, order, time - env.now)


class Timer:
    """A machine's one pending timer: armed for its next deadline, checked when it fires."""

    def __init__(self, env: simpy.Environment, node: int, place: int, due: Action) -> None:
        self._env = env
        self._order = priority(TIMER, node, place)
        self._due = due
        self.at = NEVER

    def arm(self, deadline: int) -> None:
        """Make sure that the machine is called at `deadline`, at the latest."""
        if deadline < self.at:
            self.at = deadline
            call_at(self._env, deadline, self._order, self._fire)

    def _fire(self, time: int) -> None:
        if self.at == time:
            self.at = NEVER
            self._due(time)
