"""The diagnosis' estimate of a point-to-point collective: its schedule, message by message.

A message leaves when its blocks are there and the source's link is free, occupies that link and,
one latency later, the target's. Packets of concurrent messages do not interleave here; a window
stretches a message as a whole, and cores that have work are taken never to idle.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from innet.collectives.dependencies import Waits, dependencies
from innet.collectives.schedule import Schedule, block_bounds
from innet.metrics.estimate import Burden, latency_without, members_without
from innet.plan.members import Member, members_of, stream_round_trip_ps, switch_latency_ps
from innet.plan.plan import Plan, Stream
from innet.units import serialisation_ps
from innet.wire.dtypes import ITEMSIZE


class ScheduleEstimate:
    """The estimate of one plan, with and without burdens; who waits for whom is found once."""

    def __init__(self, plan: Plan, schedule: Schedule, stream: Stream) -> None:
        self._plan, self._schedule, self._stream = plan, schedule, stream
        waits = dependencies(schedule)
        self._waits = _Waits(
            [len(earlier) for earlier in waits.send_waits],
            # A message is applied when it has arrived and those before it have been applied.
            [1 + len(earlier) for earlier in waits.apply_waits],
            _inverse(waits.send_waits),
            _inverse(waits.apply_waits),
        )

    def time_ps(self, without: Burden | None = None) -> int:
        """Return the estimated time, in ps from time 0."""
        return _Walk(self._plan, self._schedule, self._stream, self._waits, without).finish_ps()


@dataclass(frozen=True, slots=True)
class _Waits:
    """How many things each message's leaving and applying waits for, and who waits for it."""

    unready: list[int]
    unapplied: list[int]
    readies: dict[int, list[int]]
    applies: dict[int, list[int]]


def round_trip_ps(plan: Plan, stream: Stream) -> int:
    """Return the unloaded time from sending a full packet to its acknowledgement."""
    members = members_of(plan.graph, plan.hosts)
    size = stream.payload_bytes + stream.overhead_bytes
    return stream_round_trip_ps(members, switch_latency_ps(plan.graph), size, stream.ack_bytes)


@dataclass(frozen=True, slots=True)
class _Cost:
    """What a message takes: of links and cores, of itself in its window, and before it arrives."""

    sending_ps: int
    receiving_ps: int
    source_work_ps: int
    target_work_ps: int
    windowed_ps: int
    crossing_ps: int


class _Walk:
    """Messages in order of the time at which they are ready to leave."""

    def __init__(
        self,
        plan: Plan,
        schedule: Schedule,
        stream: Stream,
        waits: _Waits,
        without: Burden | None,
    ) -> None:
        self._plan = plan
        self._messages, self._in_turn = schedule.messages, schedule.in_turn
        self._stream = stream
        self._without = without
        self._members = members_without(plan, without)
        self._switch_ps = latency_without(plan, without)
        self._bounds = block_bounds(plan.elements, schedule.blocks)
        self._round_trip = round_trip_ps(plan, stream)
        self._costs: dict[tuple[int, int, int], _Cost] = {}
        self._up_free = [0] * schedule.ranks
        self._down_free = [0] * schedule.ranks
        self._work_begun: dict[tuple[int, int], int] = {}
        self._work_given: dict[tuple[int, int], int] = defaultdict(int)
        self._readies, self._applies = waits.readies, waits.applies
        self._unready, self._unapplied = waits.unready.copy(), waits.unapplied.copy()
        self._ready = [self._members[message.source].start_ps for message in self._messages]
        self._applied = [self._members[message.target].start_ps for message in self._messages]
        self._leaving = [
            (ready, index) for index, ready in enumerate(self._ready) if not self._unready[index]
        ]

    def finish_ps(self) -> int:
        heapify(self._leaving)
        while self._leaving:
            ready, index = heappop(self._leaving)
            self._apply(index, self._arrival_ps(index, ready))
        workers = self._plan.workers
        rows = zip(self._messages, self._applied, strict=True)
        starts = [member.start_ps for member in self._members[:workers]]
        return max(*starts, *(done for message, done in rows if message.target < workers), 0)

    def _apply(self, index: int, time_ps: int) -> None:
        """One of the things that applying a message waits for has happened."""
        self._applied[index] = max(self._applied[index], time_ps)
        self._unapplied[index] -= 1
        if self._unapplied[index]:
            return
        for later in self._readies.get(index, ()):
            self._ready[later] = max(self._ready[later], self._applied[index])
            self._unready[later] -= 1
            if not self._unready[later]:
                heappush(self._leaving, (self._ready[later], later))
        for later in self._applies.get(index, ()):
            self._apply(later, self._applied[index])

    def _arrival_ps(self, index: int, ready_ps: int) -> int:
        """Return when a message that is ready has arrived whole, and take up links and cores."""
        message = self._messages[index]
        source, target = message.source, message.target
        elements = self._bounds[message.first + message.count] - self._bounds[message.first]
        if elements == 0:
            return ready_ps
        key = (elements, source, target)
        if key not in self._costs:
            self._costs[key] = self._cost(*key)
        cost = self._costs[key]
        start = max(ready_ps, self._up_free[source])
        arrives = max(start + cost.crossing_ps, self._down_free[target])
        alone = self._in_turn and cost.windowed_ps > cost.sending_ps
        self._up_free[source] = start + (cost.windowed_ps if alone else cost.sending_ps)
        self._down_free[target] = arrives + cost.receiving_ps
        return max(
            start + max(cost.windowed_ps, cost.sending_ps) + cost.crossing_ps,
            arrives + cost.receiving_ps,
            self._worked_ps(source, target, start, cost.source_work_ps) + cost.crossing_ps,
            self._worked_ps(target, source, arrives, cost.target_work_ps),
        )

    def _worked_ps(self, rank: int, peer: int, earliest_ps: int, work_ps: int) -> int:
        """Return when a rank's core for this peer has done a message's work, if it never idles."""
        if work_ps == 0:
            return earliest_ps
        core = (rank, peer % self._members[rank].cores)
        begun = min(self._work_begun.get(core, earliest_ps), earliest_ps)
        self._work_begun[core] = begun
        self._work_given[core] += work_ps
        return max(earliest_ps + work_ps, begun + self._work_given[core])

    def _cost(self, elements: int, source: int, target: int) -> _Cost:
        sender, receiver = self._members[source], self._members[target]
        payload = elements * ITEMSIZE[self._plan.dtype]
        packets = -(-payload // self._stream.payload_bytes)
        medium = payload + packets * self._stream.overhead_bytes
        return _Cost(
            sending_ps=serialisation_ps(medium, sender.up_bps),
            receiving_ps=serialisation_ps(medium, receiver.down_bps),
            # Either host sends and receives a packet for each: the data or the acknowledgement.
            source_work_ps=packets * sender.host_ps,
            target_work_ps=packets * receiver.host_ps,
            windowed_ps=self._windowed_ps(packets),
            crossing_ps=self._latency_ps(medium // packets, sender, receiver),
        )

    def _windowed_ps(self, packets: int) -> int:
        """Return how long the window stretches a message; others may use the link meanwhile."""
        # Without latency there is no window either: acknowledgements are there at once.
        if packets <= self._stream.window or self._without in (Burden.WINDOW, Burden.LATENCY):
            return 0
        return packets * self._round_trip // self._stream.window

    def _latency_ps(self, packet_bytes: int, source: Member, target: Member) -> int:
        """Return how long after its first bit leaves a message begins to occupy the target."""
        delays = source.up_delay_ps + target.down_delay_ps
        stored = serialisation_ps(packet_bytes, source.up_bps)
        return delays + self._switch_ps + stored + source.send_ps + target.receive_ps


def _inverse(waits: Sequence[Waits]) -> dict[int, list[int]]:
    """Return, for every message that others wait for, those others."""
    found: dict[int, list[int]] = defaultdict(list)
    for later, earlier_ones in enumerate(waits):
        for earlier in earlier_ones:
            found[earlier].append(later)
    return found
