"""One direction of a link: a FIFO that packets occupy for their medium bytes, then a delay.

A packet's time on the link is known the moment it is queued, so it costs one event, its
delivery; and since packets arrive in the order in which they left, only the first one on its
way needs an event at all.
"""

from collections import deque
from collections.abc import Callable
from heapq import heappush
from typing import Any

import simpy

from innet.draws import LOSS, draw, stream_key, threshold
from innet.engine.reference.clock import DELIVERY, Clock, priority
from innet.plan.plan import Fabric
from innet.trace.records import LinkRecord
from innet.units import serialisation_ps

Deliver = Callable[[Any, int, int], None]  # packet, medium bytes, time


class _Times(dict[int, int]):
    """The medium time of every packet length seen, in picoseconds."""

    def __init__(self, rate_bps: int) -> None:
        super().__init__()
        self._rate_bps = rate_bps

    def __missing__(self, medium_bytes: int) -> int:
        time = self[medium_bytes] = serialisation_ps(medium_bytes, self._rate_bps)
        return time


class Lane:
    """Packets on their way that arrive in order. One event stands for the first of them."""

    def __init__(self, env: Clock, fabric: Fabric, link: int, place: int) -> None:
        target = fabric.graph.links[link].target
        port = fabric.graph.links_into[target].index(link)
        self.env = env
        self._queue, self._ids = env.queue, env.ids
        self.order = priority(DELIVERY, target, 2 * port + place)
        self.in_flight: deque[tuple[int, Any, int, Deliver]] = deque()
        self._event = simpy.Event(env)
        self._event._ok = True
        self._event._value = None
        self._callbacks: list[Callable[[Any], None]] = [self._arrived]

    def put(
        self,
        arrival: int,
        packet: Any,  # noqa: ANN401
        medium_bytes: int,
        sent: int,
        deliver: Deliver,
    ) -> None:
        """Deliver a packet, sent at `sent`, at `arrival`, not before those put in earlier."""
        in_flight = self.in_flight
        if not in_flight:
            # The same event every time: SimPy takes its callbacks away when it has called them.
            self._event.callbacks = self._callbacks
            self.env.schedule(self._event, self.order, arrival - self.env.now)
        in_flight.append((arrival, packet, medium_bytes, deliver))

    def lose(self, packet: Any, sent: int) -> None:  # noqa: ANN401
        """Take note of a packet that the link loses."""

    def _arrived(self, event: simpy.Event) -> None:
        in_flight = self.in_flight
        arrival, packet, medium_bytes, deliver = in_flight.popleft()
        if in_flight:
            event.callbacks = self._callbacks
            heappush(self._queue, (in_flight[0][0], self.order, next(self._ids), event))
        deliver(packet, medium_bytes, arrival)


class LinkDirection:
    """A FIFO link direction with its counters. Packets of 0 bytes (acknowledgements that ride
    on other traffic) neither take nor wait for bandwidth, so they have a lane of their own.
    """

    def __init__(self, fabric: Fabric, index: int, lane: Lane, free_lane: Lane) -> None:
        link = fabric.graph.links[index]
        self.lane, self.free_lane = lane, free_lane
        # Behind a packet on its way, another needs no more than its place: it is put there.
        self._following = lane.in_flight
        self.free_at = 0
        self.packets = self.bytes = self.busy_ps = 0
        self.lost = self.queue_dropped = self.corrupted = self.duplicated = self.queued_ps = 0
        self.first_sent = -1
        self.times = _Times(link.rate_bps)
        self.delay_ps = link.delay_ps
        self._index = index
        self._limit = link.queue_bytes
        self._loss = threshold(link.loss)
        self._key = stream_key(fabric.seed, index, LOSS)
        self._waiting: deque[tuple[int, int]] = deque()
        self._waiting_bytes = 0

    def send(self, packet: Any, medium_bytes: int, now: int, deliver: Deliver) -> None:  # noqa: ANN401
        """Put a packet at the end of the queue at `now`, never before an earlier call's.

        `deliver` is called when it arrives.
        """
        if medium_bytes == 0:
            self._send_free(packet, now, deliver)
            return
        start = self.free_at
        if start <= now:
            start = now
            if self.first_sent < 0:
                self.first_sent = now
        elif self._limit is not None and not self._admit(medium_bytes, now, start):
            self.queue_dropped += 1
            return
        elif start - now > self.queued_ps:
            self.queued_ps = start - now
        time = self.times[medium_bytes]
        self.free_at = end = start + time
        self.packets += 1
        self.bytes += medium_bytes
        self.busy_ps += time
        if self._loss and draw(self._key, self.packets) < self._loss:
            self.lost += 1
            self.lane.lose(packet, now)
        elif self._following:
            self._following.append((end + self.delay_ps, packet, medium_bytes, deliver))
        else:
            self.lane.put(end + self.delay_ps, packet, medium_bytes, now, deliver)

    def _send_free(self, packet: Any, now: int, deliver: Deliver) -> None:  # noqa: ANN401
        self.packets += 1
        if self._loss and draw(self._key, self.packets) < self._loss:
            self.lost += 1
            self.free_lane.lose(packet, now)
        else:
            self.free_lane.put(now + self.delay_ps, packet, 0, now, deliver)

    def _admit(self, medium_bytes: int, now: int, start: int) -> bool:
        waiting = self._waiting
        while waiting and waiting[0][0] <= now:
            self._waiting_bytes -= waiting.popleft()[1]
        assert self._limit is not None
        if self._waiting_bytes + medium_bytes > self._limit:
            return False
        waiting.append((start, medium_bytes))
        self._waiting_bytes += medium_bytes
        return True

    def forget(self, sizes: list[int], now: int, free_at: int) -> None:
        """Take back queued packets of these medium bytes, which vanish with their sender."""
        for medium_bytes in sizes:
            self.packets -= 1
            self.bytes -= medium_bytes
            self.busy_ps -= self.times[medium_bytes]
            self.queue_dropped += 1
        if sizes:
            self.free_at = min(self.free_at, free_at)
        self._waiting = deque(place for place in self._waiting if place[0] < now)
        self._waiting_bytes = sum(medium_bytes for _, medium_bytes in self._waiting)

    @property
    def idle_ps(self) -> int:
        """How long it had nothing to send between its first packet and its last."""
        return self.free_at - self.first_sent - self.busy_ps if self.first_sent >= 0 else 0

    def record(self) -> LinkRecord:
        """What the link direction counted."""
        return LinkRecord(
            self._index,
            self.packets,
            self.bytes,
            self.busy_ps,
            self.lost,
            self.queue_dropped,
            self.corrupted,
            self.duplicated,
            self.queued_ps,
        )
