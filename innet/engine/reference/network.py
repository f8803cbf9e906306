"""Links and time: a SimPy environment, and FIFO link directions that deliver packets.

A packet waits until the link is free, occupies it for its medium bytes, and is there after
the propagation delay. Events at one instant are handled in a fixed order: deliveries by node
and port, then timers by node and slot, then starts.
"""

from collections import deque
from collections.abc import Callable
from typing import Any

import simpy
from simpy.events import EventPriority

from innet.draws import FAULT, LOSS, draw, stream_key, threshold
from innet.errors import ConfigurationError
from innet.plan.plan import PacketFault, Plan
from innet.trace.records import LinkRecord
from innet.units import serialisation_ps

DELIVERY, TIMER, START, WATCH = 0, 1, 2, 3
_NODES = 1 << 20


def priority(kind: int, node: int, place: int) -> int:
    """SimPy's priority of an event: its place in the order of one instant."""
    return (kind * _NODES + node) * _NODES + place


class Call(simpy.Event):
    """An event that calls a function once at a later time."""

    def __init__(
        self, env: simpy.Environment, delay: int, order: int, action: Callable[[], None]
    ) -> None:
        super().__init__(env)
        self._ok = True
        self._value = None
        self.callbacks.append(lambda _: action())
        env.schedule(self, EventPriority(order), delay)


class LinkFaults:
    """Decides which packets of one link direction are dropped by the scenario."""

    def __init__(self, plan: Plan, link: int) -> None:
        self._drops = [fault for fault in plan.packet_faults if fault.link == link]
        self._seen = [0] * len(self._drops)
        self._key = stream_key(plan.seed, link, FAULT)
        self._drawn = 0

    def drops(self, packet: Any, now: int) -> bool:  # noqa: ANN401 - packets of two protocols
        """Count the packet against every fault; return whether one of them drops it."""
        hit = False
        for place, fault in enumerate(self._drops):
            if self._matches(fault, packet, now):
                self._seen[place] += 1
                hit |= self._chosen(fault, self._seen[place])
        return hit

    def _matches(self, fault: PacketFault, packet: Any, now: int) -> bool:  # noqa: ANN401
        return (
            (fault.kind is None or fault.kind == packet.kind)
            and (fault.chunk is None or fault.chunk == packet.number)
            and fault.after_ps <= now
            and (fault.until_ps is None or now < fault.until_ps)
        )

    def _chosen(self, fault: PacketFault, ordinal: int) -> bool:
        if fault.packets is not None and ordinal not in fault.packets:
            return False
        self._drawn += 1
        return draw(self._key, self._drawn) < threshold(fault.probability)


class LinkDirection:
    """One FIFO link direction."""

    def __init__(
        self,
        env: simpy.Environment,
        plan: Plan,
        index: int,
        deliver: Callable[[Any], None],
    ) -> None:
        link = plan.graph.links[index]
        self._env = env
        self._rate = link.rate_bps
        self._delay = link.delay_ps
        self._limit = link.queue_bytes
        self._loss = threshold(link.loss)
        self._key = stream_key(plan.seed, index, LOSS)
        self._faults = LinkFaults(plan, index)
        self._faulty = any(fault.link == index for fault in plan.packet_faults)
        self._deliver = deliver
        port = plan.graph.links_into[link.target].index(index)
        self._order = priority(DELIVERY, link.target, port)
        self._serialisation: dict[int, int] = {}
        self._free_at = 0
        self._waiting: deque[tuple[int, int]] = deque()
        self._waiting_bytes = 0
        self._index = index
        self.packets = self.bytes = self.busy_ps = 0
        self.lost = self.queue_dropped = self.queued_ps = 0

    def send(self, packet: Any, medium_bytes: int, now: int) -> None:  # noqa: ANN401
        """Put a packet at the end of the queue at `now`, never before an earlier call's."""
        # What takes no bandwidth (an acknowledgement of 0 bytes) does not wait for it either.
        start = max(now, self._free_at) if medium_bytes else now
        if self._limit is not None and not self._admit(medium_bytes, now, start):
            self.queue_dropped += 1
            return
        time = self._serialisation.get(medium_bytes)
        if time is None:
            time = serialisation_ps(medium_bytes, self._rate)
            self._serialisation[medium_bytes] = time
        self._free_at = max(self._free_at, start + time)
        self.packets += 1
        self.bytes += medium_bytes
        self.busy_ps += time
        self.queued_ps = max(self.queued_ps, start - now)
        if self._is_lost(packet, now):
            self.lost += 1
            return
        self._schedule(packet, start + time + self._delay)

    def _schedule(self, packet: Any, arrival: int) -> None:  # noqa: ANN401
        event = simpy.Event(self._env)
        event._ok = True
        event._value = None
        event.callbacks.append(lambda _: self._deliver(packet))
        self._env.schedule(event, EventPriority(self._order), arrival - self._env.now)

    def _is_lost(self, packet: Any, now: int) -> bool:  # noqa: ANN401
        lost = self._loss > 0 and draw(self._key, self.packets) < self._loss
        return (self._faulty and self._faults.drops(packet, now)) or lost

    def _admit(self, medium_bytes: int, now: int, start: int) -> bool:
        while self._waiting and self._waiting[0][0] <= now:
            self._waiting_bytes -= self._waiting.popleft()[1]
        if start > now:
            assert self._limit is not None
            if self._waiting_bytes + medium_bytes > self._limit:
                return False
            self._waiting.append((start, medium_bytes))
            self._waiting_bytes += medium_bytes
        return True

    def record(self) -> LinkRecord:
        """What the link direction counted."""
        return LinkRecord(
            self._index,
            self.packets,
            self.bytes,
            self.busy_ps,
            self.lost,
            self.queue_dropped,
            0,
            0,
            self.queued_ps,
        )


def refuse_what_is_not_built(plan: Plan) -> None:
    """Raise ConfigurationError for what this engine cannot simulate yet."""
    verbs: set[str] = set()
    verbs.update(fault.verb for fault in plan.packet_faults if fault.verb != "drop")
    verbs.update(fault.verb for fault in plan.node_faults)
    if verbs:
        raise ConfigurationError(
            f"the reference engine does not simulate {', '.join(sorted(verbs))} yet; "
            "use drop or partition",
            key="faults",
        )
    if any(host.send_ps or host.receive_ps for host in plan.hosts):
        raise ConfigurationError(
            "the reference engine does not simulate costs per packet yet; "
            "leave host.send and host.receive at 0 ns",
            key="host",
        )
