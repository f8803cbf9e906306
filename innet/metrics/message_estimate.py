"""The diagnosis' estimate of a point-to-point collective: its schedule, message by message.

A message leaves when its blocks are there and the source's link is free, occupies that link and,
one latency later, the target's. Packets of concurrent messages do not interleave here, windows
and host costs stretch a message as a whole.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from innet.collectives.schedule import Message, Schedule, block_bounds
from innet.metrics.estimate import Burden, Member, members_of, switch_latency_ps
from innet.plan.plan import Plan, Stream
from innet.units import serialisation_ps
from innet.wire.dtypes import ITEMSIZE


def schedule_ps(
    plan: Plan, schedule: Schedule, stream: Stream, without: Burden | None = None
) -> int:
    """Return the estimated time of a schedule, in ps from time 0."""
    return _Walk(plan, schedule, stream, without).finish_ps()


def stream_round_trip_ps(plan: Plan, stream: Stream) -> int:
    """Return the unloaded time from sending a full packet to its acknowledgement."""
    size = stream.payload_bytes + stream.overhead_bytes
    members = members_of(plan)
    there = max(_crossing_ps(plan, a, size, None) for a in members)
    back = max(_crossing_ps(plan, a, stream.ack_bytes, None) for a in members)
    return there + back


def _crossing_ps(plan: Plan, member: Member, medium_bytes: int, without: Burden | None) -> int:
    """Return the time of a lone packet between two hosts like `member`."""
    latency = 0 if without is Burden.LATENCY else switch_latency_ps(plan)
    medium = serialisation_ps(medium_bytes, member.up_bps)
    medium += serialisation_ps(medium_bytes, member.down_bps)
    host = round(member.send_ps + member.receive_ps)
    return medium + member.up_delay_ps + member.down_delay_ps + latency + host


@dataclass(frozen=True, slots=True)
class _Cost:
    """What a message takes: of each link, of itself in its window, and before it arrives."""

    sending_ps: int
    receiving_ps: int
    windowed_ps: int
    crossing_ps: int


class _Walk:
    def __init__(
        self, plan: Plan, schedule: Schedule, stream: Stream, without: Burden | None
    ) -> None:
        self._plan = plan
        self._schedule = schedule
        self._stream = stream
        self._without = without
        self._members = members_of(plan, without)
        self._bounds = block_bounds(plan.elements, schedule.blocks)
        self._round_trip = stream_round_trip_ps(plan, stream)
        starts = [[member.start_ps] * schedule.blocks for member in self._members]
        self._ready: npt.NDArray[np.int64] = np.array(starts, dtype=np.int64)
        self._costs: dict[tuple[int, int, int], _Cost] = {}
        self._up_free = [0] * schedule.ranks
        self._down_free = [0] * schedule.ranks

    def finish_ps(self) -> int:
        for message in self._schedule.messages:
            self._send(message)
        return int(self._ready[: self._plan.workers].max(initial=0))

    def _send(self, message: Message) -> None:
        blocks = slice(message.first, message.first + message.count)
        elements = self._bounds[blocks.stop] - self._bounds[blocks.start]
        if elements == 0:
            return
        key = (elements, message.source, message.target)
        if key not in self._costs:
            self._costs[key] = self._cost(*key)
        cost = self._costs[key]
        start = max(int(self._ready[message.source, blocks].max()), self._up_free[message.source])
        arrives = max(start + cost.crossing_ps, self._down_free[message.target])
        self._up_free[message.source] = start + cost.sending_ps
        self._down_free[message.target] = arrives + cost.receiving_ps
        done = max(start + cost.windowed_ps + cost.crossing_ps, arrives + cost.receiving_ps)
        ready = self._ready[message.target, blocks]
        np.maximum(ready, done, out=ready)

    def _cost(self, elements: int, source: int, target: int) -> _Cost:
        sender, receiver = self._members[source], self._members[target]
        payload = elements * ITEMSIZE[self._plan.dtype]
        packets = -(-payload // self._stream.payload_bytes)
        medium = payload + packets * self._stream.overhead_bytes
        sending = _occupied_ps(packets, medium, sender.up_bps, sender.send_ps)
        return _Cost(
            sending_ps=sending,
            receiving_ps=_occupied_ps(packets, medium, receiver.down_bps, receiver.receive_ps),
            windowed_ps=max(sending, self._windowed_ps(packets)),
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
        switch = 0 if self._without is Burden.LATENCY else switch_latency_ps(self._plan)
        stored = serialisation_ps(packet_bytes, source.up_bps)
        return delays + switch + stored + round(source.send_ps + target.receive_ps)


def _occupied_ps(packets: int, medium: int, rate_bps: int, cost_ps: Fraction) -> int:
    return max(serialisation_ps(medium, rate_bps), round(packets * cost_ps))
