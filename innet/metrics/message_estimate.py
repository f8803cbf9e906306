"""The diagnosis' estimate of a point-to-point collective: its schedule, message by message.

A message leaves when its blocks are there and the first link of its way is free, occupies that
link and, one packet and one latency later, the next one, when that is free. Packets of concurrent
messages do not interleave here; a window stretches a message as a whole, and cores that have work
are taken never to idle.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from innet.collectives.dependencies import Waits, dependencies
from innet.collectives.schedule import Schedule, block_bounds
from innet.metrics.estimate import Burden, plan_without
from innet.plan.plan import Plan, Stream
from innet.plan.ways import Pair, pair_of
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
    """Return the unloaded time from a full packet to its acknowledgement, the slowest pair's."""
    return max((_round_trip_ps(pair, stream) for pair in pairs_of(plan)), default=0)


def pairs_of(plan: Plan) -> list[Pair]:
    """Return the pairs of ranks between which a plan's schedule has messages."""
    messages = () if plan.schedule is None else plan.schedule.messages
    ranks = sorted({(message.source, message.target) for message in messages})
    return [pair_of(plan.graph, plan.routes, plan.hosts, *each) for each in ranks]


def _round_trip_ps(pair: Pair, stream: Stream) -> int:
    full = stream.payload_bytes + stream.overhead_bytes
    return pair.round_trip_ps(full, stream.ack_bytes)


class _Leg(NamedTuple):
    """What a message takes of a link: all its packets, one of them, and then until it is over."""

    link: int
    occupied_ps: int
    packet_ps: int
    onward_ps: int


@dataclass(frozen=True, slots=True)
class _Cost:
    """What a message takes: of links and cores, and of itself in its window.

    `ends_ps` is what the first packet takes of the hosts.
    """

    legs: tuple[_Leg, ...]
    source_work_ps: int
    target_work_ps: int
    windowed_ps: int
    ends_ps: int


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
        self._plan = plan = plan_without(plan, without)
        self._messages, self._in_turn = schedule.messages, schedule.in_turn
        self._stream = stream
        self._without = without
        self._hosts = plan.hosts
        self._bounds = block_bounds(plan.elements, schedule.blocks)
        self._costs: dict[tuple[int, int, int], _Cost] = {}
        self._free = [0] * len(plan.graph.links)
        self._work_begun: dict[tuple[int, int], int] = {}
        self._work_given: dict[tuple[int, int], int] = defaultdict(int)
        self._readies, self._applies = waits.readies, waits.applies
        self._unready, self._unapplied = waits.unready.copy(), waits.unapplied.copy()
        self._ready = [self._hosts[message.source].start_ps for message in self._messages]
        self._applied = [self._hosts[message.target].start_ps for message in self._messages]
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
        starts = [host.start_ps for host in self._hosts[:workers]]
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
        begun = self._take_links(cost, ready_ps)
        done = self._worked_ps(source, target, begun[0], cost.source_work_ps)
        done += cost.ends_ps + sum(leg.packet_ps + leg.onward_ps for leg in cost.legs)
        done -= cost.legs[-1].packet_ps
        done = max(done, begun[0] + cost.windowed_ps + _rest_ps(cost, 0))
        for place, leg in enumerate(cost.legs):
            done = max(done, begun[place] + leg.occupied_ps + _rest_ps(cost, place))
        last = begun[-1] + cost.legs[-1].onward_ps + cost.ends_ps
        return max(done, self._worked_ps(target, source, last, cost.target_work_ps))

    def _take_links(self, cost: _Cost, ready_ps: int) -> list[int]:
        """Occupy the links of a message's way and return when it begins on each."""
        begun = []
        reached = ready_ps
        for place, leg in enumerate(cost.legs):
            begin = max(reached, self._free[leg.link])
            # Where messages leave in turn, those behind a windowed one wait until it is over.
            alone = place == 0 and self._in_turn
            occupied = max(leg.occupied_ps, cost.windowed_ps) if alone else leg.occupied_ps
            self._free[leg.link] = begin + occupied
            reached = begin + leg.packet_ps + leg.onward_ps
            begun.append(begin)
        return begun

    def _worked_ps(self, rank: int, peer: int, earliest_ps: int, work_ps: int) -> int:
        """Return when a rank's core for this peer has done a message's work, if it never idles."""
        if work_ps == 0:
            return earliest_ps
        core = (rank, peer % self._hosts[rank].cores)
        begun = min(self._work_begun.get(core, earliest_ps), earliest_ps)
        self._work_begun[core] = begun
        self._work_given[core] += work_ps
        return max(earliest_ps + work_ps, begun + self._work_given[core])

    def _cost(self, elements: int, source: int, target: int) -> _Cost:
        plan = self._plan
        pair = pair_of(plan.graph, plan.routes, plan.hosts, source, target)
        payload = elements * ITEMSIZE[plan.dtype]
        packets = -(-payload // self._stream.payload_bytes)
        medium = payload + packets * self._stream.overhead_bytes
        sender, receiver = pair.source, pair.target
        legs = (
            _Leg(
                hop.link,
                serialisation_ps(medium, hop.rate_bps),
                serialisation_ps(medium // packets, hop.rate_bps),
                hop.onward_ps,
            )
            for hop in pair.there
        )
        return _Cost(
            legs=tuple(legs),
            # Either host sends and receives a packet for each: the data or the acknowledgement.
            source_work_ps=packets * (sender.send_ps + sender.receive_ps),
            target_work_ps=packets * (receiver.send_ps + receiver.receive_ps),
            windowed_ps=self._windowed_ps(packets, _round_trip_ps(pair, self._stream)),
            ends_ps=sender.send_ps + receiver.receive_ps,
        )

    def _windowed_ps(self, packets: int, round_trip_ps: int) -> int:
        """Return how long the window stretches a message; others may use the link meanwhile."""
        # Without latency there is no window either: acknowledgements are there at once.
        if packets <= self._stream.window or self._without in (Burden.WINDOW, Burden.LATENCY):
            return 0
        return packets * round_trip_ps // self._stream.window


def _rest_ps(cost: _Cost, place: int) -> int:
    """Return the time of a message's last packet after it has left the link at `place`."""
    later = sum(leg.packet_ps + leg.onward_ps for leg in cost.legs[place + 1 :])
    return cost.legs[place].onward_ps + later + cost.ends_ps


def _inverse(waits: Sequence[Waits]) -> dict[int, list[int]]:
    """Return, for every message that others wait for, those others."""
    found: dict[int, list[int]] = defaultdict(list)
    for later, earlier_ones in enumerate(waits):
        for earlier in earlier_ones:
            found[earlier].append(later)
    return found
