"""What the machines share: packets and events that wait to be taken out, and the next deadline."""

from collections import deque
from typing import Generic, TypeVar

from innet.protocol.transitions import TIMER_STATE, Ints, rto_interval

PacketType = TypeVar("PacketType")
EventType = TypeVar("EventType")

NEVER = 1 << 62

# Makes a packet (a named tuple) of all its fields in a fourth of the time that calling its class
# takes, which is a good part of what a machine costs.
new_packet = tuple.__new__


class Machine(Generic[PacketType, EventType]):
    """The outgoing half of the contract in endpoint.py, for a machine that fills it."""

    def __init__(self) -> None:
        self._outbox: list[tuple[int, PacketType]] = []
        self._events: deque[EventType] = deque()
        self._earliest = NEVER

    def packets_to_send(self) -> list[tuple[int, PacketType]]:
        """Take out the packets to send now, in order, each with its destination."""
        outbox = self._outbox
        if outbox:
            self._outbox = []
        return outbox

    def next_deadline(self) -> int | None:
        """No later than the first timeout that is due; None when nothing is pending."""
        return None if self._earliest == NEVER else self._earliest

    def next_event(self) -> EventType | None:
        """Take out the oldest event, None when there is none."""
        return self._events.popleft() if self._events else None


class Timeout:
    """How a retransmission timer is set (see plan.Rto); times in picoseconds."""

    def __init__(self, adaptive: bool, initial: int, minimum: int, maximum: int) -> None:
        self.adaptive = adaptive
        self.initial = initial
        self.minimum = minimum
        self.maximum = maximum

    def interval(self, timer: Ints, place: int, tries: int) -> int:
        """How long to wait for an answer after `tries` timeouts; timer `place` of `timer`."""
        return rto_interval(
            timer,
            place * TIMER_STATE,
            self.adaptive,
            self.initial,
            self.minimum,
            self.maximum,
            tries,
        )
