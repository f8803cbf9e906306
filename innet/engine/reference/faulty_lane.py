"""A lane whose packets a scenario's faults meet, or whose sender may vanish."""

import heapq
from typing import Any

from innet.engine.reference.clock import call_at
from innet.engine.reference.link import Deliver, Lane, LinkDirection
from innet.plan.link_faults import LinkFaults, Verdict


class FaultyLane(Lane):
    """Packets in order of arrival, then of sending; each has an event of its own.

    A corrupted packet is discarded where it arrives, since its checksum is wrong. A copy takes
    no bandwidth. A sender that vanishes takes with it what it has not begun to send.
    """

    link: LinkDirection
    faults: LinkFaults
    _last = 0
    _ordinal = 0

    def prepare(self, link: LinkDirection, faults: LinkFaults) -> None:
        """Say whose counters to keep, and which faults to ask (shared by a link's two lanes)."""
        self.link, self.faults = link, faults
        self._pending: list[tuple[int, int, Any, int, int, Deliver]] = []

    def lose(self, packet: Any, sent: int) -> None:  # noqa: ANN401
        """Show the lost packet to the faults, which count what is sent."""
        self.faults.meet(packet.kind, packet.number, sent)

    def put(
        self,
        arrival: int,
        packet: Any,  # noqa: ANN401
        medium_bytes: int,
        sent: int,
        deliver: Deliver,
    ) -> None:
        """Deliver a packet at `arrival` or as the faults will have it."""
        fate = self.faults.meet(packet.kind, packet.number, sent)
        if fate.drop:
            self.link.lost += 1
        elif fate.corrupt:
            self.link.corrupted += 1
        else:
            self._deliver_later(arrival, packet, medium_bytes, fate, deliver)

    def _deliver_later(
        self,
        arrival: int,
        packet: Any,  # noqa: ANN401
        medium_bytes: int,
        fate: Verdict,
        deliver: Deliver,
    ) -> None:
        begun = arrival - self.link.delay_ps - self.link.times[medium_bytes]
        held = self._last = max(self._last, arrival + fate.held_ps)
        for later in (0, *fate.copies_ps):
            time = held + fate.late_ps + later
            self._ordinal += 1
            entry = (time, self._ordinal, packet, medium_bytes, begun, deliver)
            heapq.heappush(self._pending, entry)
            call_at(self.env, time, self.order, self._due)
        self.link.duplicated += len(fate.copies_ps)

    def _due(self, now: int) -> None:
        # Nothing is due when the packet of this event has vanished with its sender.
        if self._pending and self._pending[0][0] <= now:
            arrival, _, packet, medium_bytes, _, deliver = heapq.heappop(self._pending)
            deliver(packet, medium_bytes, arrival)

    def cut(self, now: int) -> tuple[list[int], int]:
        """Forget what has not begun to be sent at `now`.

        Returns the medium bytes of each such packet, and when the last other one is sent.
        """
        gone = [entry[3] for entry in self._pending if entry[4] >= now]
        self._pending = [entry for entry in self._pending if entry[4] < now]
        heapq.heapify(self._pending)
        ends = [entry[4] + self.link.times[entry[3]] for entry in self._pending]
        return gone, max(ends, default=now)


def cut(link: LinkDirection, now: int) -> None:
    """Empty the queue of a link whose sender vanishes; what is being sent still arrives."""
    for lane in (link.lane, link.free_lane):
        assert isinstance(lane, FaultyLane)
        gone, free_at = lane.cut(now)
        link.forget(gone, now, max(now, free_at))
