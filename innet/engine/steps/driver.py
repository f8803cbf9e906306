"""Run a training step: a SimPy process a rank, above a network that runs the operations.

SimPy's clock and the network's meet at every completion: the network is asked for what happens
before the ranks' next event, and every completion becomes an event of its rank. So no rank acts
before the network has shown that nothing earlier can still reach it.

The collectives of a group run one after another at each rank, as those of one communicator do, and
so do the messages of a pair; different groups, lanes and pairs run at once.

An operation with a quorum runs among all members, since no network here leaves members out. Those
that are absent when the quorum has entered it take part as soon as they can hear of it, with
nothing of their own, whatever their ranks do meanwhile; a rank that comes later waits for the
result, if it is not there.
"""

from collections.abc import Callable, Generator
from typing import Any, NamedTuple

import simpy

from innet.engine.network import Network
from innet.engine.steps.lowering import Lowering
from innet.engine.steps.matching import Lane, Matching, Meeting, lane_of, told
from innet.errors import ConfigurationError, UnfinishedError
from innet.plan.step import Lowered
from innet.protocol.machine import NEVER
from innet.trace.steps import COMPUTE, Decision, Span, StepTrace
from innet.units import format_duration
from innet.workload.actions import Action, Asked, Await, Call, Exchange, Work
from innet.workload.program import Workload

QUORUM = "the members' times of entry; all take part once there is a quorum"

_Process = Generator[simpy.Event, Any, None]


class Limits(NamedTuple):
    """When a step ends at the latest, and how long after a quorum the absent take part.

    A network that simulates some hosts further than others needs at least that difference.
    """

    maximum_time_ps: int = NEVER
    notice_ps: int = 0


_NO_LIMITS = Limits()


def run_step(
    workload: Workload,
    network: Network,
    lowering: Lowering,
    limits: Limits = _NO_LIMITS,
    progress: Callable[[int, int], None] | None = None,
) -> StepTrace:
    """Run one step from time 0 until every rank, and all that it began, is done.

    `progress` is called with the number of operations that ranks have completed since its last
    call, and when, in ps. Raises ConfigurationError for calls that do not fit together,
    UnfinishedError for a deadlock and after the simulated time limit; both name ranks, lines and
    operations.
    """
    return _Driver(workload, network, lowering, limits, progress).run()


class _Driver:
    def __init__(
        self,
        workload: Workload,
        network: Network,
        lowering: Lowering,
        limits: Limits,
        progress: Callable[[int, int], None] | None,
    ) -> None:
        self._workload, self._network, self._lowering = workload, network, lowering
        self._maximum_time_ps, self._notice_ps = limits
        self._progress = progress
        self._env = simpy.Environment(0)
        self._matching = Matching()
        self._tails: dict[tuple[int, Lane], simpy.Event] = {}
        self._pending: dict[tuple[int, int], simpy.Event] = {}
        self._open: list[dict[str, list[tuple[Asked, simpy.Event]]]] = []
        self._waiting: dict[int, list[Asked]] = {}
        self._spans: list[Span] = []
        self._decisions: dict[tuple[str, str, str, str, str], tuple[int, int]] = {}
        self._finish = [-1] * workload.mesh.ranks

    def run(self) -> StepTrace:
        for rank in range(self._workload.mesh.ranks):
            self._open.append({})
            self._env.process(self._rank(rank))
        self._run_events()
        self._refuse_leftovers()
        # What is still on its way counts too.
        self._network.advance(NEVER)
        return StepTrace(
            tuple(sorted(self._spans)),
            tuple(self._finish),
            tuple(
                Decision(operation, axes, how, why, *counts, modelled)
                for (operation, axes, how, why, modelled), counts in self._decisions.items()
            ),
            self._network.links(),
            self._network.switches(),
        )

    # --- time ----------------------------------------------------------------------------

    def _run_events(self) -> None:
        env = self._env
        while env.peek() != float("inf") or self._pending:
            next_event = env.peek()
            limit = NEVER if next_event == float("inf") else int(next_event)
            completions = self._advance(limit)
            for completion in completions:
                event = self._pending.pop((completion.operation, completion.place))
                self._succeed_later(event, completion.at_ps)
            if completions:
                if self._progress is not None:
                    self._progress(len(completions), completions[-1].at_ps)
                continue
            if limit == NEVER:
                raise self._stopped(self._deadlock())
            if limit > self._maximum_time_ps:
                most = format_duration(self._maximum_time_ps)
                raise self._stopped(f"the step is not done at the simulated time limit of {most}")
            while env.peek() == limit:
                env.step()
        if min(self._finish) < 0:
            raise self._stopped(self._deadlock())

    def _advance(self, limit: int) -> tuple[Any, ...]:
        try:
            # While a rank computes, the network need not know of the time limit.
            before = limit if limit == NEVER else min(limit, self._maximum_time_ps)
            return self._network.advance(before)
        except UnfinishedError:
            if limit == NEVER and self._matching.incomplete():
                raise self._stopped(self._deadlock()) from None
            raise

    def _succeed_later(self, event: simpy.Event, at_ps: int) -> None:
        timeout = self._env.timeout(at_ps - self._env.now)

        def succeed(_: simpy.Event) -> None:
            event.succeed()

        timeout.callbacks.append(succeed)

    # --- ranks ---------------------------------------------------------------------------

    def _rank(self, rank: int) -> _Process:
        for action in self._workload.program(rank):
            yield from self._do(rank, action)
        yield from self._wait(rank, [each for waits in self._open[rank].values() for each in waits])
        self._finish[rank] = int(self._env.now)

    def _do(self, rank: int, action: Action) -> _Process:
        if isinstance(action, Work):
            start = int(self._env.now)
            yield self._env.timeout(action.duration_ps)
            if action.duration_ps:
                self._spans.append(Span(rank, COMPUTE, "", start, int(self._env.now)))
        elif isinstance(action, Await):
            yield from self._wait(rank, self._open[rank].pop(action.handle, []))
        else:
            began = (action, self._begin(rank, action))
            if action.handle is None:
                yield from self._wait(rank, [began])
            else:
                self._open[rank].setdefault(action.handle, []).append(began)

    def _wait(self, rank: int, waits: list[tuple[Asked, simpy.Event]]) -> _Process:
        self._waiting[rank] = [asked for asked, event in waits if not event.processed]
        for _, event in waits:
            if not event.processed:
                yield event
        del self._waiting[rank]

    # --- operations ----------------------------------------------------------------------

    def _begin(self, rank: int, asked: Asked) -> simpy.Event:
        """Return the event of an operation's end at a rank, which calls it now."""
        meeting = self._matching.enter(rank, asked)
        if len(meeting.group) == 1 or asked.size == 0:
            return self._env.event().succeed()
        if meeting.number is None:
            lowered = self._lower(asked)
            meeting.number = self._network.add(lowered.operation)
            meeting.decision = self._count(asked, lowered)
        if rank not in meeting.ends:
            self._queue(rank, meeting)
        done, called = meeting.ends[rank], int(self._env.now)
        if done.processed:
            self._note(rank, asked, meeting, called)
        else:
            done.callbacks.append(lambda _: self._note(rank, asked, meeting, called))
        return done

    def _queue(self, rank: int, meeting: Meeting) -> None:
        """Enter an operation as soon as the rank's one before it, in the same lane, is done."""
        done = meeting.ends[rank] = self._env.event()
        lane = rank, lane_of(meeting.first)
        before = self._tails.get(lane)
        self._tails[lane] = done
        if before is None or before.triggered:
            self._enter(rank, meeting)
        else:
            before.callbacks.append(lambda _: self._enter(rank, meeting))

    def _enter(self, rank: int, meeting: Meeting) -> None:
        assert meeting.number is not None
        now, place = int(self._env.now), meeting.group.index(rank)
        self._pending[meeting.number, place] = meeting.ends[rank]
        self._network.begin(meeting.number, place, now)
        meeting.began[rank] = now
        if meeting.has_quorum:
            notice = self._env.timeout(self._notice_ps)
            notice.callbacks.append(lambda _: self._queue_absent(meeting))

    def _queue_absent(self, meeting: Meeting) -> None:
        for rank in meeting.group:
            if rank not in meeting.ends:
                self._queue(rank, meeting)

    def _note(self, rank: int, asked: Asked, meeting: Meeting, called: int) -> None:
        """Keep the span of an operation, from when it was called and the network let it begin."""
        assert meeting.number is not None
        name, axes = _operation(asked, rank), ",".join(asked.axes)
        start, now = max(meeting.began[rank], called), int(self._env.now)
        self._spans.append(
            Span(rank, name, axes, start, now, asked.size, meeting.number, meeting.decision)
        )

    def _lower(self, asked: Asked) -> Lowered:
        if isinstance(asked, Exchange):
            return self._lowering.message(asked)
        return self._lowering.collective(asked)

    def _count(self, asked: Asked, lowered: Lowered) -> int:
        """Count an operation with those of which the same was decided; return their place."""
        kind = "send" if isinstance(asked, Exchange) else asked.kind
        modelled = QUORUM if isinstance(asked, Call) and asked.quorum is not None else ""
        key = (kind, ",".join(asked.axes), lowered.how, lowered.why, modelled)
        calls, size = self._decisions.get(key, (0, 0))
        self._decisions[key] = (calls + 1, size + asked.size)
        return list(self._decisions).index(key)

    # --- what cannot go on ---------------------------------------------------------------

    def _deadlock(self) -> str:
        return f"deadlock at {format_duration(int(self._env.now))}"

    def _stopped(self, why: str) -> UnfinishedError:
        lines = [f"rank {rank} {self._stuck(rank)}" for rank in self._stuck_ranks()]
        return UnfinishedError("\n  ".join([why, *lines[:10]]))

    def _stuck_ranks(self) -> list[int]:
        return [rank for rank, finish in enumerate(self._finish) if finish < 0]

    def _stuck(self, rank: int) -> str:
        entered = {
            id(each.first): each for each in self._matching.incomplete() if rank in each.entered
        }
        found = [f"waits in {told(asked)}" for asked in self._waiting.get(rank, [])]
        absent = {other for each in entered.values() for other in each.missing}
        ended = [other for other in sorted(absent) if self._finish[other] >= 0]
        names = ", ".join(
            f"rank {other}{' (ended)' if other in ended else ''}" for other in sorted(absent)
        )
        return ("; ".join(found) or "computes") + (f"; not entered by {names}" if names else "")

    def _refuse_leftovers(self) -> None:
        for meeting in self._matching.incomplete():
            missing = ", ".join(f"rank {rank}" for rank in meeting.missing)
            raise ConfigurationError(
                f"rank {meeting.first_rank} calls {told(meeting.first)}, which {missing} never "
                "enters",
                file=meeting.first.place.file,
                line=meeting.first.place.line,
            )


def _operation(asked: Asked, rank: int) -> str:
    if isinstance(asked, Call):
        return asked.kind
    return "send" if asked.source == rank else "recv"
