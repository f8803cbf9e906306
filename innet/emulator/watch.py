"""Watch a running emulation until every worker has its result, or nothing moves any more."""

import heapq
import itertools
import selectors
from collections.abc import Callable, Iterator, Sequence

from innet.emulator.agent.agent import real_timeout
from innet.emulator.clock import PS_PER_SECOND, Clock
from innet.emulator.jobs import Job
from innet.emulator.process import Process, ProcessFailedError
from innet.emulator.stall import WorkerState, explain
from innet.emulator.targets import Switch
from innet.errors import InnetError, UnfinishedError
from innet.plan.plan import NodeFault, Plan
from innet.units import format_duration

MOST_RESTARTS = 3
"""How often a switch that ends is started again."""

_LOOK_EVERY_PS = PS_PER_SECOND // 10
_ANSWER_S = 2.0
_PS_PER_MS = 10**9


class Watch:
    """The watch over one run, from its start on. `restarts` counts those of the switch."""

    def __init__(
        self, plan: Plan, switch: Switch, job: Job, workers: Sequence[Process], deadline_s: float
    ) -> None:
        self.restarts = 0
        self._plan = plan
        self._switch = switch
        self._job = job
        self._workers = workers
        self._deadline_ps = round(deadline_s * PS_PER_SECOND)
        self._clock = Clock()
        self._moved_at = latest_event_ps(plan)
        self._moved = 0
        self._heard_before: dict[int, int] | None = None
        self._switch_is_gone = False
        self._faults: list[tuple[int, int, Callable[[], None]]] = []
        self._ordinals = itertools.count()
        assert plan.aggregation is not None
        for fault in plan.node_faults:
            if fault.node == plan.aggregation.switch:
                self._schedule_fault(fault)

    def run(self, progress: Callable[[float], None] | None) -> None:
        """Return when all workers are done.

        Raises UnfinishedError when they cannot be, and what a process reports of itself.
        """
        with selectors.DefaultSelector() as selector:
            for worker in self._workers:
                selector.register(worker, selectors.EVENT_READ)
            while not all(worker.last.get("finished") for worker in self._workers):
                selector.select(self._seconds_left())
                self._run_due()
                for worker in self._workers:
                    self._look_at(worker, selector)
                self._look_at_switch()
                self._look_at_progress()
                if progress is not None:
                    progress(self._share())

    def _seconds_left(self) -> float:
        next_fault = self._faults[0][0] - self._clock.now() if self._faults else _LOOK_EVERY_PS
        return max(0, min(_LOOK_EVERY_PS, next_fault)) / PS_PER_SECOND

    # --- those who take part -------------------------------------------------------------------

    def _look_at(self, worker: Process, selector: selectors.BaseSelector) -> None:
        worker.reports()
        ended = worker.ending()
        if ended is None:
            return
        worker.reports()  # what it said before it ended
        if not worker.last.get("finished"):
            raise self._unfinished(f"{ended}, before it had its result", give_reasons=False)
        if worker in {key.fileobj for key in selector.get_map().values()}:
            selector.unregister(worker)

    def _look_at_switch(self) -> None:
        ended = self._switch.ending()
        if ended is None:
            return
        if self.restarts == MOST_RESTARTS:
            raise self._unfinished(f"{ended}, after {MOST_RESTARTS} new starts", give_reasons=False)
        self.restarts += 1
        try:
            self._switch.restart()
            self._switch.install(self._job)
        except InnetError:
            if self._switch.ending() is None:
                raise
        self._moved_at = max(self._moved_at, self._clock.now())

    # --- progress --------------------------------------------------------------------------------

    def _share(self) -> float:
        chunks = sum(worker.last.get("chunks", 0) for worker in self._workers)
        return min(1.0, sum(self._done()) / chunks) if chunks else 0.0

    def _done(self) -> Iterator[int]:
        return (worker.last.get("done", 0) for worker in self._workers)

    def _look_at_progress(self) -> None:
        now = self._clock.now()
        done = sum(self._done())
        if done != self._moved:
            self._moved = done
            self._moved_at = max(self._moved_at, now)
            self._heard_before = None
        elif now - self._moved_at > self._deadline_ps:
            told = format_duration(self._deadline_ps)
            at = format_duration(now // _PS_PER_MS * _PS_PER_MS)
            raise self._unfinished(f"nothing has moved for {told} (at {at})", give_reasons=True)
        elif self._heard_before is None and now - self._moved_at > self._deadline_ps // 2:
            self._heard_before = self._heard()[0]

    def _heard(self) -> tuple[dict[int, int] | None, str]:
        """Packets that the switch took by port, and what is wrong with it if it does not say."""
        if self._switch_is_gone:
            return None, "the switch is gone, by a fault of the scenario"
        try:
            heard = self._switch.heard()
        except InnetError as error:
            return None, str(error)
        return None if heard is None else dict(heard), ""

    # --- the end that should not be --------------------------------------------------------------

    def _unfinished(self, why: str, *, give_reasons: bool) -> UnfinishedError:
        states = [self._state(place) for place in range(len(self._workers))]
        trouble = ""
        if give_reasons:
            heard, trouble = self._heard()
            states = [self._with_heard(state, heard) for state in states]
        silence_ps = self._deadline_ps // 2 if give_reasons else 1 << 62
        lines = [f"{self._plan.algorithm} cannot finish: {why}"]
        lines += [f"  {line}" for line in explain(states, trouble, silence_ps)]
        return UnfinishedError("\n".join(lines[:20]))

    def _state(self, place: int) -> WorkerState:
        worker = self._workers[place]
        if worker.ending() is not None:
            return WorkerState(place, bool(worker.last.get("finished")), "", [], 0, None)
        try:
            report = worker.ask("report", "record", _ANSWER_S)
        except ProcessFailedError:
            trouble = "does not answer: its process is stopped, or busy"
            return WorkerState(place, bool(worker.last.get("finished")), trouble, [], 0, None)
        gone = "is gone, by a fault of the scenario" if report["state"] == "gone" else None
        waiting, silent = report["waiting"], report["silent_ps"]
        return WorkerState(place, report["finished"], gone, waiting, silent, None)

    def _with_heard(self, state: WorkerState, heard: dict[int, int] | None) -> WorkerState:
        if heard is None or self._heard_before is None:
            return state
        port = self._job.members[state.worker].port
        # A worker that has backed off may be silent for as long as its longest timeout.
        long_enough = self._deadline_ps // 2 > real_timeout(self._plan).maximum
        no_news = heard.get(port) == self._heard_before.get(port)
        unheard = no_news if long_enough else None if heard.get(port) else True
        return WorkerState(
            state.worker, state.is_done, state.trouble, state.waiting, state.silent_ps, unheard
        )

    # --- faults of the switch --------------------------------------------------------------------

    def _schedule_fault(self, fault: NodeFault) -> None:
        back = fault.at_ps + fault.for_ps
        if fault.verb == "pause":
            self._at(fault.at_ps, lambda: self._switch.pause())
            self._at(back, lambda: self._switch.resume())
            return
        self._at(fault.at_ps, self._vanish)
        if fault.verb == "restart":
            self._at(back, self._come_back)

    def _vanish(self) -> None:
        self._switch_is_gone = True
        self._switch.vanish()

    def _come_back(self) -> None:
        self._switch_is_gone = False
        self._switch.wipe()
        self._switch.resume()

    def _at(self, time: int, action: Callable[[], None]) -> None:
        heapq.heappush(self._faults, (time, next(self._ordinals), action))

    def _run_due(self) -> None:
        while self._faults and self._faults[0][0] <= self._clock.now():
            heapq.heappop(self._faults)[2]()


def latest_event_ps(plan: Plan) -> int:
    """When the last start or fault of a plan with a known time is over."""
    times = [host.start_ps for host in plan.hosts]
    times += [fault.at_ps + fault.for_ps for fault in plan.node_faults]
    times += [
        max(fault.after_ps, fault.until_ps or 0) + fault.by_ps for fault in plan.packet_faults
    ]
    return max(times)
