"""Sockets as the emulator needs them: frames of an interface, and buffers that hold a window."""

import socket
import sys
from contextlib import suppress

from innet.errors import MissingToolError

BATCH = 64
"""Packets that are taken at once, before anything is sent or a timer looked at."""

LARGEST_PACKET = 1 << 16

_ALL_PROTOCOLS = 3  # ETH_P_ALL
# Linux's numbers, which Python's socket module does not know.
_SOL_PACKET, _PACKET_IGNORE_OUTGOING = 263, 23
_SO_RCVBUFFORCE = 33


def open_interface(interface: str, buffer_bytes: int = 16 * 2**20) -> socket.socket:
    """A non-blocking AF_PACKET socket that shows the frames that come in at an interface.

    Raises MissingToolError where that is not possible, or not allowed.
    """
    if not hasattr(socket, "AF_PACKET"):
        raise MissingToolError(
            f"frames cannot be sent and received on {sys.platform}, only on Linux; "
            "use --net loopback"
        )
    try:
        opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)  # 0: nothing yet
    except PermissionError:
        raise MissingToolError(
            "raw sockets need root (sudo) or CAP_NET_RAW; --net loopback needs neither"
        ) from None
    try:
        opened.setblocking(False)
        enlarge_buffer(opened, buffer_bytes)
        opened.setsockopt(_SOL_PACKET, _PACKET_IGNORE_OUTGOING, 1)  # since Linux 4.20
        opened.bind((interface, _ALL_PROTOCOLS))
    except OSError as error:
        opened.close()
        raise MissingToolError(
            f"no frames can be taken from interface {interface}: {error.strerror}"
        ) from None
    return opened


def receive_frames(opened: socket.socket) -> list[bytes]:
    """Take out up to BATCH frames that came in at an interface."""
    frames = []
    with suppress(OSError):  # nothing more, or the interface has gone down
        for _ in range(BATCH):
            # Python asks the kernel for the interface's name whenever it is to tell an address.
            frames.append(opened.recv(LARGEST_PACKET))
    return frames


def enlarge_buffer(opened: socket.socket, wanted_bytes: int) -> int:
    """Ask for a receive buffer; return how many bytes of packets the kernel grants."""
    if sys.platform == "linux":
        try:  # beyond the system's limit, for root
            opened.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, wanted_bytes)
        except PermissionError:
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, wanted_bytes)
    else:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, wanted_bytes)
    return opened.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF)
