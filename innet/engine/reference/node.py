"""Nodes that a scenario pauses, crashes or restarts."""

import simpy

from innet.engine.reference.clock import FAULT, Action, call_at, priority
from innet.plan.plan import NodeFault

UP, PAUSED, DOWN = range(3)


class Node:
    """Whether a node takes part. Paused, it does later, in order, what it would have done; down,
    it does nothing and what arrives is lost. What it has handed to its links still leaves when
    it pauses, and is lost, as far as it has not begun to be sent, when it goes down.

    A fault takes effect after everything else of its instant.
    """

    def __init__(
        self,
        env: simpy.Environment,
        number: int,
        faults: list[NodeFault],
        goes_down: Action,
        comes_back: Action,
    ) -> None:
        self._env = env
        self._order = priority(FAULT, number, 0)
        self._state = UP
        self._paused_until = 0
        self._held: list[Action] = []
        self._goes_down, self._comes_back = goes_down, comes_back
        for fault in faults:
            call_at(env, fault.at_ps, self._order, self._beginning(fault))

    def do(self, action: Action, now: int) -> bool:
        """Do something now, later or never; return False if never."""
        if self._state == UP:
            action(now)
        elif self._state == PAUSED:
            self._held.append(action)
        return self._state != DOWN

    def _beginning(self, fault: NodeFault) -> Action:
        def pause(now: int) -> None:
            if self._state != DOWN:
                self._state = PAUSED
                self._paused_until = max(self._paused_until, now + fault.for_ps)
                call_at(self._env, now + fault.for_ps, self._order, self._resume)

        def go_down(now: int) -> None:
            self._state = DOWN
            self._held.clear()
            self._goes_down(now)
            if fault.verb == "restart":
                call_at(self._env, now + fault.for_ps, self._order, self._return)

        return pause if fault.verb == "pause" else go_down

    def _resume(self, now: int) -> None:
        if self._state != PAUSED or now < self._paused_until:
            return
        self._state = UP
        held, self._held = self._held, []
        for action in held:
            action(now)

    def _return(self, now: int) -> None:
        self._state = UP
        self._paused_until = 0
        self._comes_back(now)
