"""What all runs on SimPy share: links, starts, timers, the end, and who is stuck."""

from collections.abc import Callable
from typing import Any

import simpy

from innet.engine.reference.network import (
    START,
    TIMER,
    WATCH,
    Call,
    LinkDirection,
    priority,
    refuse_what_is_not_built,
)
from innet.errors import UnfinishedError
from innet.plan.plan import Plan
from innet.trace.records import RankRecord, SwitchRecord, Trace
from innet.units import format_duration

_STEPS_BETWEEN_REPORTS = 20_000


class Run:
    """A plan on its way; the two kinds of program fill in what hosts and switches do."""

    def __init__(self, plan: Plan) -> None:
        refuse_what_is_not_built(plan)
        self.plan = plan
        self.env = simpy.Environment(0)
        self.progress_made = 0
        self.finish: list[int] = []
        self.rank_of_node = {host.node: rank for rank, host in enumerate(plan.hosts)}
        self.links = [
            LinkDirection(self.env, plan, index, self._receiver(link.target))
            for index, link in enumerate(plan.graph.links)
        ]

    @property
    def now(self) -> int:
        """Simulated time in picoseconds."""
        return int(self.env.now)

    def _receiver(self, node: int) -> Callable[[Any], None]:
        return lambda packet: self.deliver(node, packet)

    def deliver(self, node: int, packet: Any) -> None:  # noqa: ANN401 - two protocols
        """A packet is whole at a node."""
        raise NotImplementedError

    def start(self, rank: int, now: int) -> None:
        """A rank starts."""
        raise NotImplementedError

    def waiting(self) -> list[str]:
        """Who waits for what."""
        raise NotImplementedError

    def fraction_done(self) -> float:
        """How much is done, 0 to 1."""
        raise NotImplementedError

    def ranks(self) -> tuple[RankRecord, ...]:
        """What the ranks counted."""
        raise NotImplementedError

    def switches(self) -> tuple[SwitchRecord, ...]:
        """What the switches counted."""
        return ()

    def results(self) -> tuple[Any, ...] | None:
        """Every worker's vector."""
        raise NotImplementedError

    def run(self, progress: Callable[[float], None] | None) -> Trace:
        """Run until the network is quiet; raise UnfinishedError when nobody can go on."""
        for rank, host in enumerate(self.plan.hosts):
            self._start_later(rank, host.start_ps)
        self._watch(0)
        while self.env.peek() != float("inf"):
            for _ in range(_STEPS_BETWEEN_REPORTS):
                if self.env.peek() == float("inf"):
                    break
                self.env.step()
            if progress is not None:
                progress(self.fraction_done())
        hops = sum(link.packets for link in self.links)
        return Trace(
            "reference",
            self.ranks(),
            tuple(link.record() for link in self.links),
            self.switches(),
            hops,
            self.results(),
        )

    def _start_later(self, rank: int, start_ps: int) -> None:
        order = priority(START, self.plan.hosts[rank].node, 0)
        Call(self.env, start_ps, order, lambda: self.start(rank, self.now))

    def _watch(self, progress_before: int) -> None:
        """End a run in which nothing has arrived for the plan's patience, or that is too long."""
        wait = min(self.plan.patience_ps, max(1, self.plan.maximum_time_ps - self.now))

        def look() -> None:
            if all(time >= 0 for time in self.finish):
                return
            if self.now >= self.plan.maximum_time_ps:
                self._give_up("reached the simulated time limit")
            if self.progress_made == progress_before and self.now >= self.plan.patience_ps:
                self._give_up("nothing has moved for " + format_duration(self.plan.patience_ps))
            self._watch(self.progress_made)

        Call(self.env, wait, priority(WATCH, 0, 0), look)

    def _give_up(self, why: str) -> None:
        lines = self.waiting()
        raise UnfinishedError(
            f"{self.plan.algorithm} cannot finish: {why} (at {format_duration(self.now)})"
            + "".join("\n  " + line for line in lines[:10])
        )


class Timer:
    """A machine's one pending timer: armed for its next deadline, checked when it fires."""

    def __init__(self, run: Run, node: int, place: int, due: Callable[[int], None]) -> None:
        self._run = run
        self._order = priority(TIMER, node, place)
        self._due = due
        self._at: int | None = None

    def arm(self, deadline: int | None) -> None:
        """Make sure that the machine is called at `deadline`."""
        if deadline is None or (self._at is not None and self._at <= deadline):
            return
        self._at = deadline
        Call(self._run.env, deadline - self._run.now, self._order, lambda: self._fire(deadline))

    def _fire(self, at: int) -> None:
        if self._at == at:
            self._at = None
            self._due(at)
