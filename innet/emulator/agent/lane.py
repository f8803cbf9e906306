"""What a link does to packets, at the agent's edge: losses and the scenario's packet faults.

The draws are the simulator's own (a hash of seed, link, purpose and the packet's count), so
the n-th packet of a link meets the same fate; which packet is the n-th is up to the machine's
scheduling. A link's rate, delay and queue are not imitated.
"""

import heapq
import itertools
from collections.abc import Callable
from typing import Generic, TypeVar

from innet.draws import LOSS, draw, stream_key, threshold
from innet.plan.link_faults import LinkFaults, Verdict
from innet.plan.plan import Plan
from innet.trace.records import LinkRecord

T = TypeVar("T")


class Lane(Generic[T]):
    """One link direction. `deliver` gets each packet that arrives, when it arrives.

    Time passes only by calls: `due` delivers what was held back until then.
    """

    def __init__(self, plan: Plan, link: int, deliver: Callable[[T], None]) -> None:
        self.link = link
        self.packets = self.bytes = self.lost = self.corrupted = self.duplicated = 0
        self._deliver = deliver
        self._loss = threshold(plan.graph.links[link].loss)
        self._key = stream_key(plan.seed, link, LOSS)
        self._faults = LinkFaults(plan, link)
        self._is_plain = self._loss == 0 and not self._faults
        self._held: list[tuple[int, int, T]] = []
        self._ordinals = itertools.count()
        self._held_until = 0

    def send(self, packet: T, kind: str, number: int, medium_bytes: int, now: int) -> None:
        """Take a packet with the protocol's kind and sequence number, sent at `now`."""
        self.packets += 1
        self.bytes += medium_bytes
        if self._is_plain:
            self._deliver(packet)
            return
        lost = self._loss > 0 and draw(self._key, self.packets) < self._loss
        fate = self._faults.meet(kind, number, now)  # the faults count lost packets too
        if lost or fate.drop:
            self.lost += 1
        elif fate.corrupt:
            self.corrupted += 1
        else:
            self._deliver_later(packet, fate, now)

    def _deliver_later(self, packet: T, fate: Verdict, now: int) -> None:
        self._held_until = max(self._held_until, now + fate.held_ps)
        self.duplicated += len(fate.copies_ps)
        for later in (0, *fate.copies_ps):
            time = self._held_until + fate.late_ps + later
            heapq.heappush(self._held, (time, next(self._ordinals), packet))
        self.due(now)

    def next_time(self) -> int | None:
        """When the next packet is due; None when none is held back."""
        return self._held[0][0] if self._held else None

    def due(self, now: int) -> None:
        """Deliver what is due at `now`."""
        while self._held and self._held[0][0] <= now:
            self._deliver(heapq.heappop(self._held)[2])

    def cut(self) -> None:
        """Forget what is held back: its sender has vanished."""
        self._held.clear()

    def record(self) -> LinkRecord:
        """What the link direction counted; times and queues are not the emulator's to tell."""
        return LinkRecord(
            self.link,
            self.packets,
            self.bytes,
            0,
            self.lost,
            0,
            self.corrupted,
            self.duplicated,
            0,
        )
