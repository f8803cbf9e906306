"""Captures in pcapng (draft-ietf-opsawg-pcapng): write them, read them back, merge them.

Every worker writes what crosses its own socket; one file of them all, in order of time, is
made afterwards. Timestamps are nanoseconds since 1970.
"""

import heapq
import struct
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

SECTION, INTERFACE, PACKET = 0x0A0D0D0A, 1, 6
_BYTE_ORDER, _VERSION = 0x1A2B3C4D, (1, 0)
_ETHERNET = 1
_END, _NAME, _RESOLUTION = 0, 2, 9
_NANOSECONDS = b"\x09"
_UNKNOWN_LENGTH = -1
_BLOCK = struct.Struct("<II")
_SECTION = struct.Struct("<IHHq")
_INTERFACE = struct.Struct("<HHI")
_PACKET = struct.Struct("<IIIII")
_LENGTH = struct.Struct("<I")


class Captured(NamedTuple):
    """A frame without FCS: when, and at which of the file's interfaces."""

    time_ns: int
    interface: int
    frame: bytes


class Writer:
    """Writes one section with the interfaces named."""

    def __init__(self, file: BinaryIO, interfaces: Sequence[str]) -> None:
        self._file = file
        self._block(SECTION, _SECTION.pack(_BYTE_ORDER, *_VERSION, _UNKNOWN_LENGTH))
        for name in interfaces:
            options = _option(_NAME, name.encode()) + _option(_RESOLUTION, _NANOSECONDS)
            head = _INTERFACE.pack(_ETHERNET, 0, 0)
            self._block(INTERFACE, head + options + _option(_END, b""))

    def write(self, captured: Captured) -> None:
        """Append a frame."""
        time_ns, interface, frame = captured
        high, low = time_ns >> 32, time_ns & 0xFFFFFFFF
        head = _PACKET.pack(interface, high, low, len(frame), len(frame))
        self._block(PACKET, head + _padded(frame))

    def tap(self, frame: bytes) -> None:
        """Append a frame that crosses the first interface now."""
        self.write(Captured(time.time_ns(), 0, frame))

    def _block(self, kind: int, body: bytes) -> None:
        length = _BLOCK.size + len(body) + _LENGTH.size
        self._file.write(_BLOCK.pack(kind, length) + body + _LENGTH.pack(length))


def read(file: BinaryIO) -> Iterator[Captured]:
    """The frames of a file that `Writer` wrote, also of one whose writer was killed."""
    for kind, body in _blocks(file):
        if kind == PACKET:
            interface, high, low, length, _ = _PACKET.unpack_from(body)
            yield Captured(high << 32 | low, interface, body[_PACKET.size :][:length])


def merge(parts: Sequence[tuple[str, Path]], target: Path) -> None:
    """Make one file of (interface name, file with one interface), in order of time."""
    files = [path.open("rb") for _, path in parts]
    try:
        with target.open("wb") as merged:
            writer = Writer(merged, [name for name, _ in parts])
            streams = [_at_interface(read(file), place) for place, file in enumerate(files)]
            for captured in heapq.merge(*streams):
                writer.write(captured)
    finally:
        for file in files:
            file.close()


def _at_interface(frames: Iterable[Captured], interface: int) -> Iterator[Captured]:
    for captured in frames:
        yield captured._replace(interface=interface)


def _blocks(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    while len(head := file.read(_BLOCK.size)) == _BLOCK.size:
        kind, length = _BLOCK.unpack(head)
        body = file.read(length - _BLOCK.size)
        if len(body) < length - _BLOCK.size:  # the writer was killed here
            return
        yield kind, body[: -_LENGTH.size]


def _option(code: int, value: bytes) -> bytes:
    return struct.pack("<HH", code, len(value)) + _padded(value)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)
