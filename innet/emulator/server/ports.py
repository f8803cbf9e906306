"""A Python switch's ports: interfaces that carry frames, or UDP sockets that stand for them.

On the loopback each port has a UDP socket for each core of the worker behind it. A datagram
becomes the frame that it would be on a cable, with the worker's address as its source; one
that comes from anywhere else keeps its own address and port, so that the switch's table finds
no such worker. Frames out become datagrams again.
"""

import socket
from collections.abc import Sequence
from ipaddress import IPv4Address
from typing import Protocol

from innet.emulator.agent.paths import SocketAddress
from innet.emulator.sockets import BATCH, LARGEST_PACKET, open_interface, receive_frames
from innet.wire.frames import Address, FrameWriter
from innet.wire.headers import ETHERNET_BYTES, IPV4_BYTES, MESSAGE_START

_IP_ENDS = ETHERNET_BYTES + IPV4_BYTES
_UNKNOWN_MAC = bytes.fromhex("020000000000")


class Port(Protocol):
    """One port of a switch."""

    number: int
    heard: int
    """Packets that have come in."""
    not_sent: int
    """Frames that could not leave."""

    def descriptors(self) -> Sequence[int]:
        """What to wait for, for reading."""

    def receive(self) -> list[bytes]:
        """Take out the frames that have come in."""

    def send(self, frame: bytes) -> None:
        """Send a frame."""


class InterfacePort:
    """A port that is a network interface."""

    def __init__(self, number: int, interface: str) -> None:
        self.number = number
        self.heard = self.not_sent = 0
        self._socket = open_interface(interface)

    def descriptors(self) -> Sequence[int]:
        """The one socket."""
        return [self._socket.fileno()]

    def receive(self) -> list[bytes]:
        """Take out the frames that have come in."""
        frames = receive_frames(self._socket)
        self.heard += len(frames)
        return frames

    def send(self, frame: bytes) -> None:
        """Send a frame."""
        try:
            self._socket.send(frame)
        except OSError:
            self.not_sent += 1


class UdpPort:
    """A port whose cable is a pair of UDP sockets for each core of the worker.

    `sockets[c]` is the switch's end for core c, `peers[c]` the worker's real address there.
    `member` and `switch` are the addresses that frames have.
    """

    def __init__(
        self,
        number: int,
        sockets: Sequence[socket.socket],
        peers: Sequence[SocketAddress],
        member: Address,
        switch: Address,
    ) -> None:
        self.number = number
        self.heard = self.not_sent = 0
        self._sockets = list(sockets)
        self._peers = list(peers)
        self._member = member
        self._targets = [
            switch._replace(port=switch.port + core) for core in range(len(self._sockets))
        ]
        self._writers = [
            FrameWriter(member._replace(port=member.port + core), target)
            for core, target in enumerate(self._targets)
        ]
        for each in self._sockets:
            each.setblocking(False)

    def descriptors(self) -> Sequence[int]:
        """One a core."""
        return [each.fileno() for each in self._sockets]

    def receive(self) -> list[bytes]:
        """Take out what has come in, as frames."""
        frames = []
        for core, each in enumerate(self._sockets):
            for _ in range(BATCH):
                try:
                    body, source = each.recvfrom(LARGEST_PACKET)
                except OSError:
                    break
                self.heard += 1
                writer = self._writers[core]
                if source != self._peers[core]:
                    writer = FrameWriter(_stranger(source), self._targets[core])
                frames.append(writer.wrap(body))
        return frames

    def send(self, frame: bytes) -> None:
        """Send what a UDP frame to the worker carries; nothing else can travel here."""
        core = int.from_bytes(frame[_IP_ENDS + 2 : _IP_ENDS + 4]) - self._member.port
        if not 0 <= core < len(self._sockets):
            self.not_sent += 1
            return
        try:
            self._sockets[core].sendto(frame[MESSAGE_START:], self._peers[core])
        except OSError:
            self.not_sent += 1


def _stranger(source: SocketAddress) -> Address:
    return Address(_UNKNOWN_MAC, IPv4Address(source[0]).packed, source[1])
