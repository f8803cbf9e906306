"""One rank's ends of its reliable streams, as a machine: messages in, packets out, and back.

Messages to one destination travel in the order in which they were handed over, cut into
packets; streams to different destinations know nothing of each other. The machine must not
know what a message means: it has a number, a length in bytes and, unless only timing is
simulated, its bytes.
"""

from collections import deque
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from innet.protocol.machine import NEVER, Machine, Timeout
from innet.protocol.stream_transitions import (
    NOTHING,
    room_of,
    stream_ack_go_back_n,
    stream_ack_selective,
    stream_answered,
    stream_complains,
    stream_data,
    stream_next,
    stream_overdue,
    stream_sent,
)
from innet.protocol.transitions import NEW_TIMER

Bytes = npt.NDArray[np.uint8]

DATA, ACK = "data", "ack"


class StreamPacket(NamedTuple):
    """A data packet, or the acknowledgement of one.

    `number` counts the stream's packets; `place` the packet's place in its message and `last`
    whether it is the message's last. An acknowledgement names the packet it answers, what its
    sender `expected` next and whether there is a `gap` before what arrived.
    """

    kind: str
    source: int
    destination: int
    number: int
    message: int = -1
    place: int = 0
    packets: int = 0
    size_bytes: int = 0
    values: Bytes | None = None
    expected: int = 0
    gap: bool = False


class MessageArrived(NamedTuple):
    """A whole message is there; `values` are its bytes, None when only timing is simulated."""

    source: int
    message: int
    values: Bytes | None


class _Outgoing:
    """A message on its way: its packets have the stream's numbers from `first` on."""

    def __init__(self, message: int, size_bytes: int, packets: int, values: Bytes | None) -> None:
        self.message = message
        self.size_bytes = size_bytes
        self.packets = packets
        self.values = values
        self.first = 0


_NO_MESSAGE = _Outgoing(NOTHING, 0, 0, None)  # in places of the window that are not in use


class StreamEndpoint(Machine[StreamPacket, MessageArrived]):
    """All streams that start or end at `rank`.

    The state of the streams that start here lies in flat lists, a place a stream, and grows
    with every new destination; likewise for those that end here.
    """

    def __init__(
        self,
        rank: int,
        payload_bytes: int,
        window: int,
        go_back_n: bool,
        timeout: Timeout,
        in_turn: bool = False,
    ) -> None:
        super().__init__()
        self.rank = rank
        self.in_turn = in_turn
        self.payload_bytes = payload_bytes
        self.window = window
        self.room = room_of(window)
        self.go_back_n = go_back_n
        self.retransmissions = 0
        self.timeouts = 0
        self.stale = 0
        self._timeout = timeout
        self._stream_to: dict[int, int] = {}
        self._destinations: list[int] = []
        self._base: list[int] = []
        self._following: list[int] = []
        self._highest: list[int] = []
        self._lost: list[int] = []
        self._end: list[int] = []
        self._tries: list[int] = []
        self._armed_at: list[int] = []
        self._deadlines: list[int] = []
        self._timers: list[int] = []
        self._state: list[int] = []
        self._sent_at: list[int] = []
        self._repeated: list[int] = []
        self._content: list[_Outgoing] = []
        self._current: list[_Outgoing] = []
        self._backlogs: dict[int, deque[tuple[int, _Outgoing]]] = {}
        self._sending: dict[int, int] = {}
        self._stream_from: dict[int, int] = {}
        self._expected: list[int] = []
        self._complained: list[int] = []
        self._received: list[int] = []
        self._parts: dict[tuple[int, int], list[Bytes | None]] = {}
        self._missing: dict[tuple[int, int], int] = {}

    # --- sending ---------------------------------------------------------------------

    def send_message(
        self, destination: int, message: int, size_bytes: int, values: Bytes | None, now: int
    ) -> None:
        """Hand over a message of at least one byte.

        It is begun when all handed over before it, to the same destination or, in turn, to
        any, have been sent; what is lost of those is sent again meanwhile.
        """
        outgoing = _Outgoing(message, size_bytes, -(-size_bytes // self.payload_bytes), values)
        queue = self._queue_of(destination)
        self._backlogs.setdefault(queue, deque()).append((destination, outgoing))
        self._advance(queue, now)

    def _queue_of(self, destination: int) -> int:
        return 0 if self.in_turn else destination

    @property
    def window_full(self) -> bool:
        """Whether something is to be sent for the first time and must wait for the window."""
        return any(self._unsent(stream) for stream in self._sending.values())

    def _unsent(self, stream: int) -> bool:
        return self._highest[stream] < self._end[stream]

    def _advance(self, queue: int, now: int) -> None:
        """Begin with the next messages of a queue while none of it is being sent."""
        backlog = self._backlogs[queue]
        while backlog and not (queue in self._sending and self._unsent(self._sending[queue])):
            destination, outgoing = backlog.popleft()
            stream = self._stream_to.get(destination)
            stream = self._open(destination) if stream is None else stream
            self._sending[queue] = stream
            outgoing.first = self._end[stream]
            self._current[stream] = outgoing
            self._end[stream] += outgoing.packets
            self._pump(stream, now)

    def _open(self, destination: int) -> int:
        stream = self._stream_to[destination] = len(self._destinations)
        self._destinations.append(destination)
        for scalars in (
            self._base,
            self._following,
            self._highest,
            self._lost,
            self._end,
            self._tries,
            self._armed_at,
        ):
            scalars.append(0)
        self._deadlines.append(NEVER)
        self._timers += NEW_TIMER
        for packets in (self._state, self._sent_at, self._repeated):
            packets += [0] * self.room
        self._content += [_NO_MESSAGE] * self.room
        self._current.append(_NO_MESSAGE)
        return stream

    def _pump(self, stream: int, now: int) -> None:
        """Send what the window allows: first what is lost, then what is new."""
        while True:
            known = self._highest[stream]
            number = stream_next(
                self._state,
                self._base,
                self._following,
                self._highest,
                self._lost,
                self._end,
                stream,
                self.window,
                self.room,
            )
            if number == NOTHING:
                return
            place = stream * self.room + (number & self.room - 1)
            if self._deadlines[stream] == NEVER:
                self._arm(stream, now)
            again = number < known
            if again:
                self.retransmissions += 1
            else:
                self._content[place] = self._current[stream]
            stream_sent(self._sent_at, self._timers, stream, self.room, number, again, now)
            self._outbox.append(self._packet(stream, number, place))

    def _packet(self, stream: int, number: int, place: int) -> tuple[int, StreamPacket]:
        outgoing = self._content[place]
        index = number - outgoing.first
        start = index * self.payload_bytes
        size = min(self.payload_bytes, outgoing.size_bytes - start)
        values = None if outgoing.values is None else outgoing.values[start : start + size]
        destination = self._destinations[stream]
        return destination, StreamPacket(
            DATA,
            self.rank,
            destination,
            number,
            outgoing.message,
            index,
            outgoing.packets,
            size,
            values,
        )

    def _arm(self, stream: int, now: int) -> None:
        deadline = now + self._timeout.interval(self._timers, stream, self._tries[stream])
        self._armed_at[stream] = now
        self._deadlines[stream] = deadline
        if deadline < self._earliest:
            self._earliest = deadline

    # --- receiving -------------------------------------------------------------------

    def receive(self, packet: StreamPacket, now: int) -> None:
        """Take a data packet or an acknowledgement."""
        if packet.kind == DATA:
            self._data(packet)
        else:
            self._acknowledged(packet, now)

    def _data(self, packet: StreamPacket) -> None:
        stream = self._stream_from.get(packet.source)
        if stream is None:
            stream = self._stream_from[packet.source] = len(self._expected)
            self._expected.append(0)
            self._complained.append(0)
            self._received += [0] * self.room
        gap = packet.number > self._expected[stream]
        kept = stream_data(
            self._received,
            self._expected,
            stream,
            self.window,
            self.room,
            packet.number,
            self.go_back_n,
        )
        if kept:
            self._assemble(packet)
        complain = self.go_back_n and stream_complains(self._complained, stream, gap, kept)
        acknowledgement = StreamPacket(
            ACK,
            self.rank,
            packet.source,
            packet.number,
            expected=self._expected[stream],
            gap=complain,
        )
        self._outbox.append((packet.source, acknowledgement))

    def _assemble(self, packet: StreamPacket) -> None:
        key = (packet.source, packet.message)
        missing = self._missing.get(key, packet.packets) - 1
        if packet.values is not None:
            parts = self._parts.setdefault(key, [None] * packet.packets)
            parts[packet.place] = packet.values
        if missing:
            self._missing[key] = missing
            return
        self._missing.pop(key, None)
        parts = self._parts.pop(key, [])
        whole = [part for part in parts if part is not None]
        values = np.concatenate(whole) if whole else None
        self._events.append(MessageArrived(packet.source, packet.message, values))

    def _acknowledged(self, packet: StreamPacket, now: int) -> None:
        stream = self._stream_to[packet.source]
        if self.go_back_n:
            news = stream_ack_go_back_n(
                self._state,
                self._base,
                self._following,
                stream,
                self.room,
                packet.expected,
                packet.gap,
            )
        else:
            news = stream_ack_selective(
                self._state,
                self._base,
                self._following,
                self._lost,
                self._repeated,
                stream,
                self.room,
                packet.number,
            )
        if news:
            self._progress(stream, packet, now)
        else:
            self.stale += 1
        if news or packet.gap:
            self._pump(stream, now)
            self._advance(self._queue_of(packet.source), now)

    def _progress(self, stream: int, packet: StreamPacket, now: int) -> None:
        stream_answered(self._timers, self._base, self._tries, stream, packet.number, now)
        if self._base[stream] == self._following[stream]:
            self._deadlines[stream] = NEVER
        else:
            self._arm(stream, now)

    # --- time and events -------------------------------------------------------------

    def handle_timeout(self, now: int) -> None:
        """Send again, in order of stream, what is overdue."""
        self._earliest = NEVER
        for stream, deadline in enumerate(self._deadlines):
            if deadline <= now:
                self._overdue(stream, now)
            elif deadline < self._earliest:
                self._earliest = deadline

    def _overdue(self, stream: int, now: int) -> None:
        self.timeouts += 1
        stream_overdue(
            self._state,
            self._sent_at,
            self._base,
            self._following,
            self._lost,
            self._repeated,
            self._tries,
            self._timers,
            stream,
            self.room,
            self._armed_at[stream],
            self.go_back_n,
        )
        self._arm(stream, now)
        self._pump(stream, now)

    @property
    def progress(self) -> int:
        """A number that grows with every packet that is first acknowledged or received."""
        return sum(self._base) + sum(self._expected)

    def unacknowledged(self) -> list[tuple[int, int, int]]:
        """(destination, oldest packet, timeouts in a row) of every stream with packets out."""
        return [
            (destination, self._base[stream], self._tries[stream])
            for stream, destination in enumerate(self._destinations)
            if self._base[stream] < self._end[stream]
        ]
