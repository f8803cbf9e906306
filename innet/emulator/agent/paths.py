"""How a worker's messages reach its switch and come back: UDP sockets, or frames on an interface.

A path takes and gives packets of the protocol. What arrives and is none from the switch is
dropped and counted, by reason: the wire format's own (wire.frames.DropReason), or

    foreign      a well-formed packet that is not from the switch to this worker
    not_sent     the kernel had no room for a packet that the worker wanted to send
"""

import errno
import socket
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Protocol

from innet.emulator.agent.messages import PacketFormat, packet_of
from innet.emulator.sockets import BATCH, LARGEST_PACKET, open_interface, receive_frames
from innet.protocol.endpoint import AggregationPacket
from innet.wire.frames import Address, Frame, FrameError, FrameWriter, parse
from innet.wire.headers import MESSAGE_HEAD_BYTES, MESSAGE_START

FOREIGN, NOT_SENT = "foreign", "not_sent"
Tap = Callable[[bytes], None]
SocketAddress = tuple[str, int]

_MOST_HEADS = 256
_NO_WAY = (errno.EAGAIN, errno.ENOBUFS, errno.ENETDOWN)


class Path(Protocol):
    """A worker's way to its switch."""

    dropped: Counter[str]

    def descriptors(self) -> Sequence[int]:
        """What to wait for, for reading."""

    def send(self, core: int, update: AggregationPacket) -> None:
        """Send an update from `core`; like any packet, it may be lost."""

    def receive(self) -> list[AggregationPacket]:
        """Take out what has arrived from the switch, BATCH packets a descriptor at most."""

    def close(self) -> None:
        """Close the sockets."""


class UdpPath:
    """One UDP socket a core, each talking to one address of the switch.

    A `tap` gets every packet as the frame it would be between `own` and the switch's `peer`.
    """

    def __init__(
        self,
        sockets: Sequence[socket.socket],
        peers: Sequence[SocketAddress],
        elements: int,
        *,
        own: Address | None = None,
        peer: Address | None = None,
        tap: Tap | None = None,
    ) -> None:
        self.dropped: Counter[str] = Counter()
        self._sockets = list(sockets)
        self._peers = list(peers)
        self._format = PacketFormat(elements)
        self._tap = tap
        self._sent: list[FrameWriter] = []
        self._received: list[FrameWriter] = []
        if tap is not None and own is not None and peer is not None:
            for core in range(len(self._sockets)):
                ends = (_port_after(own, core), _port_after(peer, core))
                self._sent.append(FrameWriter(*ends))
                self._received.append(FrameWriter(*reversed(ends)))
        for each in self._sockets:
            each.setblocking(False)

    def descriptors(self) -> Sequence[int]:
        """One a core."""
        return [each.fileno() for each in self._sockets]

    def send(self, core: int, update: AggregationPacket) -> None:
        """Send a datagram."""
        body = self._format.pack(update)
        if self._tap is not None:
            self._tap(self._sent[core].wrap(body))
        try:
            self._sockets[core].sendto(body, self._peers[core])
        except OSError as error:
            self.dropped[_not_sent(error)] += 1

    def receive(self) -> list[AggregationPacket]:
        """Take out what the switch sent."""
        packets: list[AggregationPacket] = []
        for core, each in enumerate(self._sockets):
            for _ in range(BATCH):
                try:
                    body, source = each.recvfrom(LARGEST_PACKET)
                except OSError:  # nothing more, or an ICMP error of a packet sent earlier
                    break
                if source != self._peers[core]:
                    self.dropped[FOREIGN] += 1
                    continue
                if self._tap is not None:
                    self._tap(self._received[core].wrap(body))
                try:
                    packets.append(self._format.parse(body))
                except FrameError as error:
                    self.dropped[error.reason.value] += 1
        return packets

    def close(self) -> None:
        """Close the sockets."""
        for each in self._sockets:
            each.close()


class RawPath:
    """Whole frames on one interface, through an AF_PACKET socket (Linux, with CAP_NET_RAW).

    Frames get every checksum here, so no offload of the interface is needed. The socket's own
    frames, which the kernel shows to it, are not taken.
    """

    def __init__(
        self,
        interface: str,
        own: Address,
        peer: Address,
        elements: int,
        cores: int,
        tap: Tap | None = None,
    ) -> None:
        self.dropped: Counter[str] = Counter()
        self._socket = open_interface(interface)
        self._own, self._peer = own, peer
        self._cores = cores
        self._format = PacketFormat(elements)
        self._tap = tap
        self._known_heads: dict[bytes, int] = {}
        self._writers = [
            FrameWriter(_port_after(own, core), _port_after(peer, core), with_udp_checksum=True)
            for core in range(cores)
        ]

    def descriptors(self) -> Sequence[int]:
        """The one socket."""
        return [self._socket.fileno()]

    def send(self, core: int, update: AggregationPacket) -> None:
        """Send a frame."""
        frame = self._writers[core].wrap(self._format.pack(update))  # too long to need padding
        if self._tap is not None:
            self._tap(frame)
        try:
            self._socket.send(frame)
        except OSError as error:
            self.dropped[_not_sent(error)] += 1

    def receive(self) -> list[AggregationPacket]:
        """Take out what the switch sent."""
        packets: list[AggregationPacket] = []
        for data in receive_frames(self._socket):
            if self._tap is not None:
                self._tap(data)
            try:
                packet = self._packet(data)
            except FrameError as error:
                self.dropped[error.reason.value] += 1
                continue
            if packet is None:
                self.dropped[FOREIGN] += 1
            else:
                packets.append(packet)
        return packets

    def _packet(self, data: bytes) -> AggregationPacket | None:
        """What a frame from the switch to this worker carries; None of any other frame.

        Raises FrameError. All answers of a length have the same headers, so headers that were
        found good once, without a UDP checksum that differs, are not looked at again.
        """
        head = data[:MESSAGE_START]
        if self._known_heads.get(head) == len(data):
            return self._format.parse(data, MESSAGE_START)
        frame = parse(data, to_switch=False, sizes=self._format.sizes)
        if not self._is_for_us(frame):
            return None
        length = MESSAGE_START + MESSAGE_HEAD_BYTES + len(frame.message.payload)
        has_checksum = any(head[-2:])
        if length == len(data) and not has_checksum and len(self._known_heads) < _MOST_HEADS:
            self._known_heads[head] = length
        return packet_of(frame.message)

    def _is_for_us(self, frame: Frame) -> bool:
        source, target = frame.source, frame.target
        core = target.port - self._own.port
        return (
            0 <= core < self._cores
            and target[:2] == self._own[:2]
            and source == _port_after(self._peer, core)
        )

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()


def _port_after(address: Address, core: int) -> Address:
    return address._replace(port=address.port + core)


def _not_sent(error: OSError) -> str:
    """Count what a full buffer or an interface that is down does not take; all else is a fault."""
    if error.errno not in _NO_WAY:
        raise error
    return NOT_SENT
