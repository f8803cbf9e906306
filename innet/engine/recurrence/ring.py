"""A loss-free ring as a max-plus recurrence over the packets of every rank's stream.

Each rank sends to one rank and receives from one, and each link carries the data of one stream,
in order. A block goes on when the one before it has come in, whether it is a sum that grows or a
copy: reduce-scatter, all-gather, and both one after the other. All arrays have a row a rank, or one
row for all of them where ranks, links and blocks are equal, since then all do the same.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from innet.collectives.schedule import Schedule, block_bounds
from innet.engine.progress import Reached, Report
from innet.engine.recurrence.rounds import begins
from innet.engine.recurrence.tree import Times
from innet.plan.plan import Plan, Stream
from innet.plan.ways import Pair, pair_of
from innet.units import serialisation_ps
from innet.wire.dtypes import ITEMSIZE

# So many packets of a message are computed at once, or a window if it is larger.
_PIECE = 1 << 14


class Ring:
    """The streams of a plan: `target[rank]`, the ways there, and the steps of their messages.

    `rows` are the ranks that are computed. `ack_ps` is the time of an acknowledgement, which
    takes no room on links.
    """

    def __init__(self, plan: Plan, stream: Stream, schedule: Schedule) -> None:
        self.plan, self.stream = plan, stream
        self.target = [message.target for message in schedule.messages[: plan.workers]]
        self.pairs = pairs_of(plan, self.target)
        bounds = block_bounds(plan.elements, schedule.blocks)
        blocks = np.diff(bounds) * ITEMSIZE[plan.dtype]
        firsts = np.fromiter((m.first for m in schedule.messages), np.int64)
        self.sizes: Times = blocks[firsts.reshape(-1, plan.workers)]
        self.start_ps: Times = np.array([host.start_ps for host in plan.hosts], np.int64)
        self.rows = range(1 if self._all_alike() else plan.workers)
        self.source = self._sources()
        self.hops = max(len(pair.there) for pair in self.pairs)
        self.onward_ps = self._table(lambda pair: [hop.onward_ps for hop in pair.there])
        self.ack_ps = self._table(lambda pair: [sum(hop.onward_ps for hop in pair.back)])[:, 0]

    def _all_alike(self) -> bool:
        kinds = {
            (host.start_ps, *((hop.rate_bps, hop.onward_ps) for hop in pair.there), *_back(pair))
            for host, pair in zip(self.plan.hosts, self.pairs, strict=True)
        }
        return len(kinds) == 1 and int(self.sizes.min()) == int(self.sizes.max())

    def _sources(self) -> Times:
        """The row of the rank from which each row receives."""
        source = np.zeros(len(self.rows), np.int64)
        for rank in self.rows:
            source[self.target[rank] % len(self.rows)] = rank
        return source

    def packet_ps(self, size: int) -> Times:
        """Return the time of a packet with `size` bytes of payload on each link, [rows, hops]."""
        medium = size + self.stream.overhead_bytes
        return self._table(
            lambda pair: [serialisation_ps(medium, hop.rate_bps) for hop in pair.there]
        )

    @property
    def computed_hops(self) -> int:
        """How many packets over a link are computed, of the rows alone."""
        sizes = self.sizes[:, : len(self.rows)]
        return self.hops * int((-(-sizes // self.stream.payload_bytes)).sum())

    def _table(self, row_of: Callable[[Pair], list[int]]) -> Times:
        """Return a row for each pair; shorter ways end with links that take no time."""
        rows = [row_of(self.pairs[rank]) for rank in self.rows]
        longest = max(map(len, rows))
        return np.array([row + [0] * (longest - len(row)) for row in rows], np.int64)


def _back(pair: Pair) -> tuple[int, ...]:
    return tuple(hop.onward_ps for hop in pair.back)


def pairs_of(plan: Plan, targets: list[int]) -> list[Pair]:
    """Return what lies between every rank and its target."""
    return [
        pair_of(plan.graph, plan.routes, plan.hosts, rank, target)
        for rank, target in enumerate(targets)
    ]


class _Piece(NamedTuple):
    """Packets of one message of some rows: when each may be sent, begins, ends and is answered.

    All are [rows, packets], but for `queued_ps` and `free_ps`, [rows, hops].
    """

    ready: Times
    begun: Times
    arrived: Times
    answered: Times
    queued_ps: Times
    free_ps: Times


class RingRun:
    """The steps of a ring; what is kept has an entry a row, or [rows, hops].

    `free_ps` is when the last packet so far has left each link.
    """

    def __init__(self, ring: Ring) -> None:
        self.ring = ring
        rows = len(ring.rows)
        self.received = ring.start_ps[:rows].copy()
        self.queued_ps = np.zeros((rows, ring.hops), np.int64)
        self.stalled_ps = np.zeros(rows, np.int64)
        self.longest_wait_ps = 0
        self.free_ps = np.zeros((rows, ring.hops), np.int64)
        sent = int((-(-ring.sizes[:, :rows] // ring.stream.payload_bytes)).sum(axis=0).max())
        self._window = min(ring.stream.window, sent)
        # When the answers to the last window of packets came; before the first there is no wait.
        self._answered = np.zeros((rows, self._window), np.int64)
        self._packet_ps: dict[int, Times] = {}

    def run(self, progress: Report | None) -> None:
        """Let every rank send its block of each step and wait for that of the rank before."""
        ring, steps = self.ring, len(self.ring.sizes)
        start_ps = ring.start_ps[: len(ring.rows)]
        handed = start_ps
        for step in range(steps):
            arrived = self._send(ring.sizes[step, : len(ring.rows)], handed)
            handed = self.received = np.maximum(arrived[ring.source], start_ps)
            if progress is not None:
                progress(Reached((step + 1) / steps, int(handed.max())))

    def _send(self, sizes: Times, handed: Times) -> Times:
        """Send a message of every row; return when their last packets arrive."""
        arrived = np.empty_like(handed)
        for rows, alike in self._alike(sizes):
            arrived[rows] = self._message(rows, alike, handed[rows])
        return arrived

    def _alike(self, sizes: Times) -> Iterator[tuple[Times, Times]]:
        """Split rows by the number of packets of their messages."""
        packets = -(-sizes // self.ring.stream.payload_bytes)
        for count in np.unique(packets):
            rows = np.flatnonzero(packets == count)
            yield rows, sizes[rows]

    def _message(self, rows: Times, sizes: Times, handed: Times) -> Times:
        """Send a message of every row; return when its last packet arrives."""
        payload = self.ring.stream.payload_bytes
        full, left = -(-int(sizes[0]) // payload) - 1, 0
        piece = max(_PIECE, self._window)
        while full - left >= piece:
            self._piece(rows, handed, self._services(rows, piece, None))
            left += piece
        last = sizes - full * payload
        return self._piece(rows, handed, self._services(rows, full - left, last))

    def _services(self, rows: Times, full: int, last: Times | None) -> Times:
        """The times of `full` full packets, and a last one, on each link: [hops, rows, packets]."""
        payload = self.ring.stream.payload_bytes
        each = self._of_size(payload)[rows].T[:, :, None]
        services = np.broadcast_to(each, (self.ring.hops, len(rows), full))
        if last is None:
            return services
        return np.concatenate([services, self._of_sizes(rows, last).T[:, :, None]], axis=2)

    def _of_sizes(self, rows: Times, sizes: Times) -> Times:
        """The times of a packet with a payload of its own for every row, [rows, hops]."""
        found = np.empty((len(rows), self.ring.hops), np.int64)
        for size in np.unique(sizes):
            alike = sizes == size
            found[alike] = self._of_size(int(size))[rows[alike]]
        return found

    def _of_size(self, size: int) -> Times:
        if size not in self._packet_ps:
            self._packet_ps[size] = self.ring.packet_ps(size)
        return self._packet_ps[size]

    def _piece(self, rows: Times, handed: Times, services: Times) -> Times:
        """Send packets, all at once if none must wait for the window, else a window at a time."""
        count = services.shape[2]
        found = self._cross(rows, np.repeat(handed[:, None], count, axis=1), services)
        known = np.concatenate([self._answered[rows], found.answered], axis=1)
        ready = np.maximum(handed[:, None], known[:, :count])
        if (ready <= found.begun).all():
            self._keep(rows, handed, services, found._replace(ready=ready))
            return found.arrived[:, -1]
        for first in range(0, count, self._window):
            part = services[:, :, first : first + self._window]
            ready = np.maximum(handed[:, None], self._answered[rows][:, : part.shape[2]])
            found = self._cross(rows, ready, part)
            self._keep(rows, handed, part, found)
        return found.arrived[:, -1]

    def _cross(self, rows: Times, ready: Times, services: Times) -> _Piece:
        """Let packets go over all links of their ways, and their answers come back."""
        free, queued = self.free_ps[rows], np.zeros((len(rows), self.ring.hops), np.int64)
        at, first = ready, ready
        for hop, service in enumerate(services):
            begun = begins(at, free[:, hop], service)
            queued[:, hop] = (begun - at).max(axis=1)
            free[:, hop] = begun[:, -1] + service[:, -1]
            at = begun + service + self.ring.onward_ps[rows, hop, None]
            first = begun if hop == 0 else first
        return _Piece(ready, first, at, at + self.ring.ack_ps[rows, None], queued, free)

    def _keep(self, rows: Times, handed: Times, services: Times, found: _Piece) -> None:
        ready, begun = found.ready, found.begun
        found.queued_ps[:, 0] = (begun - ready).max(axis=1)
        self.queued_ps[rows] = np.maximum(self.queued_ps[rows], found.queued_ps)
        before = np.concatenate([self.free_ps[rows, :1], (begun + services[0])[:, :-1]], axis=1)
        idle = ready - np.maximum(before, handed[:, None])
        self.stalled_ps[rows] += np.maximum(idle, 0).sum(axis=1)
        self.longest_wait_ps = max(self.longest_wait_ps, int((found.answered - ready).max()))
        self.free_ps[rows] = found.free_ps
        known = np.concatenate([self._answered[rows], found.answered], axis=1)
        self._answered[rows] = known[:, -self._window :]
