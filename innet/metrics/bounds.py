"""Proved lower bounds on the completion time of a plan, in a network without loss.

In-network aggregation, unlimited window: no result can leave the switch before every worker's
update is there, so with N packets a worker needs N packet times on its uplink and then one
packet's way down, or one packet's way up and then N packet times on its downlink. In a tree of
switches every link on an edge of the tree carries N packets, more where several edges share it,
after the first contributions have come up to it and before the last has gone on. Values of
floats leave only when the exponents of a first packet are back, one round trip later.

A schedule, unlimited window: a message starts when what it needs has been applied, and takes
its bytes at the slowest link of its way plus one packet's way over the other links (every
switch stores and forwards). This gives each message a first moment to start and a least time
that must follow it. A link has to carry the bytes of all its messages between the earliest
start and the shortest remainder. Acknowledgements, contention between messages and the work
of hosts beyond the first and last packet are left out, which can only lower the bound.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from innet.collectives.dependencies import Dependencies, dependencies
from innet.collectives.schedule import Message, Schedule, block_bounds
from innet.plan.plan import Aggregation, Plan, Stream
from innet.plan.ways import Way, crossing_ps, slowest_packet_ps, tree_loads, tree_ways, way_of
from innet.units import serialisation_ps
from innet.wire.dtypes import ITEMSIZE


def lower_bound_ps(plan: Plan) -> int:
    """Return a time, in ps from time 0, before which the last worker cannot have its result."""
    starts = max(host.start_ps for host in plan.hosts[: plan.workers])
    if plan.elements == 0:
        return starts
    if plan.aggregation is not None:
        return _aggregation_ps(plan, plan.aggregation)
    assert plan.schedule is not None
    assert plan.stream is not None
    walk = _Walk(plan, plan.schedule, plan.stream)
    return max(starts, walk.critical_path_ps(), walk.busiest_link_ps())


def aggregation_packets(plan: Plan, aggregation: Aggregation) -> int:
    """Return the packets each worker sends at least: its cores' chunks and exponent rounds."""
    return sum(chunks + exponents for chunks, exponents in _chunks_and_exponents(plan, aggregation))


def _chunks_and_exponents(plan: Plan, aggregation: Aggregation) -> Iterator[tuple[int, int]]:
    """Yield, for every core, the packets with values and those of the first round of exponents."""
    cores = max(host.cores for host in plan.hosts[: plan.workers])
    shards = block_bounds(plan.elements, cores)
    slots = aggregation.slots // cores
    for start, end in pairwise(shards):
        chunks = -(-(end - start) // aggregation.elements_per_packet)
        yield chunks, min(chunks, slots) if aggregation.exponent_round else 0


def _aggregation_ps(plan: Plan, aggregation: Aggregation) -> int:
    tree = _Tree(plan, aggregation)
    packets = aggregation_packets(plan, aggregation)
    bound = max(
        tree.last_up_ps(packets) + tree.first_down_ps(),
        tree.first_up_ps() + tree.last_down_ps(packets),
    )
    if aggregation.exponent_round:
        values = sum(chunks for chunks, _ in _chunks_and_exponents(plan, aggregation))
        bound = max(bound, tree.first_up_ps() + tree.turn_ps(values) + tree.first_down_ps())
    return bound


class _Tree:
    """The ways of all workers to the root of an aggregation tree, its latency too, and back."""

    def __init__(self, plan: Plan, aggregation: Aggregation) -> None:
        self._size = aggregation.packet_bytes
        self._hosts = plan.hosts[: plan.workers]
        self._ways = tree_ways(plan.graph, plan.routes, aggregation.tree)
        self._loads = tree_loads(plan.graph, plan.routes, aggregation.tree)

    def first_up_ps(self) -> int:
        """Return when the first sum can leave the root."""
        return max(
            ready + crossing_ps(way.up, self._size)
            for ready, way in zip(self._ready(), self._ways, strict=True)
        )

    def first_down_ps(self) -> int:
        """Return how long the last result takes from the root to the last worker."""
        return max(
            crossing_ps(way.down, self._size) + host.receive_ps
            for way, host in zip(self._ways, self._hosts, strict=True)
        )

    def last_up_ps(self, packets: int) -> int:
        """Return when the last sum can leave the root, `packets` after another on every edge."""
        ways = [way.up for way in self._ways]
        return self._last_ps(packets, ways, self._ready(), [0] * len(ways))

    def last_down_ps(self, packets: int) -> int:
        """Return how long all results take from the root, after the first has left it."""
        ways = [way.down for way in self._ways]
        ends = [host.receive_ps for host in self._hosts]
        return self._last_ps(packets, ways, [0] * len(ways), ends)

    def turn_ps(self, packets: int) -> int:
        """Return the time from a result's leaving the root until `packets` more are there."""
        return max(
            crossing_ps(way.down, self._size)
            + host.receive_ps
            + host.send_ps
            + crossing_ps(way.up, self._size)
            + (packets - 1) * slowest_packet_ps((way.up,), self._size)
            for way, host in zip(self._ways, self._hosts, strict=True)
        )

    def _ready(self) -> list[int]:
        return [host.start_ps + host.send_ps for host in self._hosts]

    def _last_ps(
        self, packets: int, ways: Sequence[Way], before: Sequence[int], after: Sequence[int]
    ) -> int:
        """Return the most that a link needs: reached, all its packets, and the rest of a way."""
        reached: dict[int, int] = {}
        rests: dict[int, int] = {}
        occupied: dict[int, int] = {}
        for way, start, end in zip(ways, before, after, strict=True):
            ahead, rest = start, crossing_ps(way, self._size) + end
            for hop in way:
                packet_ps = serialisation_ps(self._size, hop.rate_bps)
                rest -= packet_ps + hop.onward_ps
                behind = hop.onward_ps + rest
                reached[hop.link] = min(reached.get(hop.link, ahead), ahead)
                rests[hop.link] = min(rests.get(hop.link, behind), behind)
                occupied[hop.link] = self._loads[hop.link] * packets * packet_ps
                ahead += packet_ps + hop.onward_ps
        return max(reached[link] + occupied[link] + rests[link] for link in occupied)


@dataclass(frozen=True, slots=True)
class _Crossing:
    """A message's way: for each link (link, reached after, occupied for, then until applied).

    `whole_ps` is from start to applied. All are the least times in ps.
    """

    links: tuple[tuple[int, int, int, int], ...]
    whole_ps: int


class _Walk:
    """The first start of every message, forwards, and the least time after it, backwards."""

    def __init__(self, plan: Plan, schedule: Schedule, stream: Stream) -> None:
        self._plan = plan
        self._stream = stream
        self._messages = schedule.messages
        self._bounds = block_bounds(plan.elements, schedule.blocks)
        self._item_bytes = ITEMSIZE[plan.dtype]
        self._crossing = cache(self._cross)
        waits = dependencies(schedule)
        self._starts = self._first_starts(waits)
        self._remainders = self._least_remainders(waits)

    def critical_path_ps(self) -> int:
        """Return the longest chain of messages, as if every link were free."""
        return max(
            (
                start + self._way(message).whole_ps + remainder
                for message, start, remainder in self._rows()
            ),
            default=0,
        )

    def busiest_link_ps(self) -> int:
        """Return the most that any link needs for all its bytes, from time 0 to the end."""
        first: dict[int, int] = {}
        after: dict[int, int] = {}
        occupied: dict[int, int] = defaultdict(int)
        for message, start, remainder in self._rows():
            for link, reached, busy, rest in self._way(message).links:
                first[link] = min(first.get(link, start + reached), start + reached)
                after[link] = min(after.get(link, rest + remainder), rest + remainder)
                occupied[link] += busy
        return max((first[link] + occupied[link] + after[link] for link in first), default=0)

    def _rows(self) -> Iterator[tuple[Message, int, int]]:
        return zip(self._messages, self._starts, self._remainders, strict=True)

    def _first_starts(self, waits: Dependencies) -> list[int]:
        applied = [0] * len(self._messages)
        starts = []
        for index, message in enumerate(self._messages):
            start = self._plan.hosts[message.source].start_ps
            for earlier in waits.send_waits[index]:
                start = max(start, applied[earlier])
            starts.append(start)
            applied[index] = start + self._way(message).whole_ps
            for earlier in waits.apply_waits[index]:
                applied[index] = max(applied[index], applied[earlier])
        return starts

    def _least_remainders(self, waits: Dependencies) -> list[int]:
        """Return how long after a message is applied the last that needs it is applied."""
        remainders = [0] * len(self._messages)
        for index in range(len(self._messages) - 1, -1, -1):
            behind = self._way(self._messages[index]).whole_ps + remainders[index]
            for earlier in waits.send_waits[index]:
                remainders[earlier] = max(remainders[earlier], behind)
            for earlier in waits.apply_waits[index]:
                remainders[earlier] = max(remainders[earlier], remainders[index])
        return remainders

    def _way(self, message: Message) -> _Crossing:
        end = self._bounds[message.first + message.count]
        payload = (end - self._bounds[message.first]) * self._item_bytes
        return self._crossing(message.source, message.target, payload)

    def _cross(self, source: int, target: int, payload: int) -> _Crossing:
        """Return the least times of a message of `payload` bytes; 0 for an empty one."""
        if payload == 0:
            return _Crossing((), 0)
        full = self._stream.payload_bytes
        packets = -(-payload // full)
        last = payload - (packets - 1) * full
        hops = self._hops(source, target)
        occupied = [self._occupied_ps(hop.rate_bps, packets, last) for hop in hops]
        # The first packet is full where there are more than one; the last is the short one.
        ahead = self._plan.hosts[source].send_ps
        reached = []
        for hop in hops:
            reached.append(ahead)
            ahead += self._packet_ps(hop.rate_bps, min(full, payload)) + hop.onward_ps
        rest = self._plan.hosts[target].receive_ps
        rests = []
        for hop in reversed(hops):
            rest += hop.onward_ps
            rests.append(rest)
            rest += self._packet_ps(hop.rate_bps, last)
        rests.reverse()
        links = tuple(zip([hop.link for hop in hops], reached, occupied, rests, strict=True))
        return _Crossing(links, max(to + busy + then for _, to, busy, then in links))

    def _occupied_ps(self, rate_bps: int, packets: int, last: int) -> int:
        whole = (packets - 1) * self._packet_ps(rate_bps, self._stream.payload_bytes)
        return whole + self._packet_ps(rate_bps, last)

    def _packet_ps(self, rate_bps: int, payload: int) -> int:
        return serialisation_ps(payload + self._stream.overhead_bytes, rate_bps)

    def _hops(self, source: int, target: int) -> Way:
        return way_of(self._plan.graph, self._plan.routes.path(source, target))
