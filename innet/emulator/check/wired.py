"""A switch behind interfaces as a data plane: a frame in, and all that comes out for it.

Nothing tells when a real switch has sent all that a frame makes it send. So two markers follow
each frame into the same port, through the same queues: a broadcast, which leaves by every other
port, and a request for the switch's own address, which is answered at the same port. Behind a
marker nothing of the frame can come any more. This works with switches that keep the order of
frames between two ports, and forward as the P4 program does.
"""

import select
import socket
import time
from collections.abc import Collection, Mapping, Sequence

from innet.emulator.child import ChildFailedError
from innet.emulator.places import Place
from innet.emulator.sockets import open_interface, receive_frames
from innet.wire.frames import Address

_PATIENCE_S = 5.0
_BROADCAST = b"\xff" * 6
_MARKER_MAC = bytes.fromhex("02eeeeeeeeee")
_LOCAL_EXPERIMENT = b"\x88\xb5"  # an EtherType that IEEE 802 keeps for such things
_ARP_REQUEST = b"\x08\x06" + b"\0\1\x08\0\6\4\0\1"
_ARP_REPLY = b"\x08\x06" + b"\0\1\x08\0\6\4\0\2"


class WiredSwitch:
    """A DataPlane over `sockets`, the far ends of a switch's ports, by port number.

    `flooded` are the ports that the switch sends broadcasts to, `switch` is its own address.
    """

    def __init__(
        self, sockets: Mapping[int, socket.socket], flooded: Collection[int], switch: Address
    ) -> None:
        self._sockets = sockets
        self._ports = {each.fileno(): port for port, each in sockets.items()}
        self._flooded = frozenset(flooded)
        self._switch = switch
        self._serial = 0

    def process(self, port: int, frame: bytes) -> list[tuple[int, bytes]]:
        """Send a frame into a port; return what comes out, in order for each port.

        ChildFailedError if the switch does not answer: it has ended, or dropped a frame.
        """
        self._serial += 1
        serial = self._serial.to_bytes(4, "big")
        marker = _BROADCAST + _MARKER_MAC + _LOCAL_EXPERIMENT + serial
        reply = _MARKER_MAC + self._switch.mac + _ARP_REPLY
        reply += self._switch.mac + self._switch.ip + _MARKER_MAC + serial
        for each in (frame, marker, self._request(serial)):
            self._sockets[port].send(each)
        waiting = {other: marker for other in self._flooded if other != port} | {port: reply}
        found: list[tuple[int, bytes]] = []
        deadline = time.monotonic() + _PATIENCE_S
        while waiting:
            ready, _, _ = select.select(self._ports, [], [], max(0, deadline - time.monotonic()))
            if not ready:
                ports = ", ".join(map(str, sorted(waiting)))
                raise ChildFailedError(f"the switch sends nothing to port {ports} any more")
            for descriptor in ready:
                self._take(self._ports[descriptor], waiting, found)
        return found

    def _take(self, port: int, waiting: dict[int, bytes], found: list[tuple[int, bytes]]) -> None:
        for frame in receive_frames(self._sockets[port]):
            if frame == waiting.get(port):
                del waiting[port]
            else:
                found.append((port, frame))

    def _request(self, serial: bytes) -> bytes:
        """Who has the switch's IP address? The asker's is the serial number."""
        head = _BROADCAST + _MARKER_MAC + _ARP_REQUEST
        return head + _MARKER_MAC + serial + bytes(6) + self._switch.ip


def open_far_ends(workers: Sequence[Place]) -> dict[int, socket.socket]:
    """Open the interfaces at the far ends of a switch's ports 1, 2, ..."""
    sockets: dict[int, socket.socket] = {}
    for port, place in enumerate(workers, start=1):
        with place.entered():
            sockets[port] = open_interface(place.interfaces[0])
    return sockets
