"""As much of protobuf's wire format as reading a trace takes (protobuf.dev, Encoding).

A message is a row of fields, each a number, a wire type and a value: a varint, 8 or 4 bytes, or
a length and so many bytes, which are a text, a message or packed numbers.
"""

import struct
from collections.abc import Iterator

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_LONGEST_VARINT = 10
Value = int | bytes


class BrokenError(ValueError):
    """Bytes that are no message; `at` is where."""

    def __init__(self, at: int, why: str) -> None:
        super().__init__(f"{why} at byte {at}")


def varint(data: bytes, at: int) -> tuple[int, int]:
    """Return the number at a place and where the next thing begins."""
    value = 0
    for place in range(_LONGEST_VARINT):
        if at + place >= len(data):
            raise BrokenError(at, "the data ends within a number")
        byte = data[at + place]
        value |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            return value & (1 << 64) - 1, at + place + 1
    raise BrokenError(at, "a number is longer than 10 bytes")


def chunk(data: bytes, at: int) -> tuple[bytes, int]:
    """Return the bytes behind a length, and where the next thing begins."""
    length, start = varint(data, at)
    if start + length > len(data):
        raise BrokenError(at, f"{length} bytes are announced and {len(data) - start} are left")
    return data[start : start + length], start + length


def fields(data: bytes) -> Iterator[tuple[int, Value]]:
    """Yield the number and the raw value of every field."""
    at = 0
    while at < len(data):
        start = at
        key, at = varint(data, at)
        kind = key & 7
        value: Value
        if kind == VARINT:
            value, at = varint(data, at)
        elif kind == BYTES:
            value, at = chunk(data, at)
        elif kind in (FIXED64, FIXED32):
            end = at + (8 if kind == FIXED64 else 4)
            if end > len(data):
                raise BrokenError(start, "the data ends within a number")
            value, at = data[at:end], end
        else:
            raise BrokenError(start, f"wire type {kind} is unknown")
        yield key >> 3, value


def numbers(value: Value) -> list[int]:
    """Return one number, or those that are packed in bytes."""
    if isinstance(value, int):
        return [value]
    found = []
    at = 0
    while at < len(value):
        number, at = varint(value, at)
        found.append(number)
    return found


def signed(value: int, bits: int = 64) -> int:
    """Return a varint as the two's complement number that it stands for."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def zigzag(value: int) -> int:
    """Return the signed number of an `sint` field."""
    return (value >> 1) ^ -(value & 1)


def real(value: bytes) -> float:
    """Return the number of a `double` or `float` field."""
    return float(struct.unpack("<d" if len(value) == 8 else "<f", value)[0])
