"""The safetensors file format: 8 bytes of header length, a JSON header, then raw data.

A small reader of its own, so that files of gradients need no further package. It checks what
the format promises: every tensor's bytes lie in the data, fit its shape, and neither overlap
nor leave gaps.
"""

import json
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from innet.errors import ConfigurationError

MAXIMUM_HEADER_BYTES = 100_000_000
"""The format's own limit."""

STORED: dict[str, np.dtype[Any]] = {
    "I32": np.dtype("<i4"),
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "BF16": np.dtype("<u2"),
}
_LENGTH_BYTES = 8


class Entry(NamedTuple):
    """One tensor in a file: the format's dtype name, shape, and bytes [begin, end) of data."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


def read_header(path: Path) -> tuple[list[Entry], int]:
    """The file's tensors in order of their data, and the offset at which data begins.

    ConfigurationError for a header that breaks the format; OSError as open() gives it.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(_LENGTH_BYTES), "little")
        start = _LENGTH_BYTES + length
        if size < _LENGTH_BYTES or length > MAXIMUM_HEADER_BYTES or start > size:
            raise _broken(path, f"its header would end at byte {start} of {size}")
        text = file.read(length)
    try:
        header = json.loads(text, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise _broken(path, f"its header is no JSON object ({error})") from None
    if not isinstance(header, dict):
        raise _broken(path, "its header is no JSON object")
    header.pop("__metadata__", None)
    entries = [_entry(path, name, fields) for name, fields in header.items()]
    entries.sort(key=lambda entry: (entry.begin, entry.end))
    _require_cover(path, entries, size - start)
    return entries, start


def read_entry(path: Path, entry: Entry, start: int) -> npt.NDArray[Any]:
    """The tensor of `entry`, whose dtype must be in STORED, in its shape."""
    flat = np.fromfile(
        path, dtype=STORED[entry.dtype], count=prod(entry.shape), offset=start + entry.begin
    )
    return flat.reshape(entry.shape)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name appears twice")
    return found


def _entry(path: Path, name: str, fields: object) -> Entry:
    match fields:
        case {"dtype": str(dtype), "shape": [*shape], "data_offsets": [begin, end]} if (
            all(type(number) is int and number >= 0 for number in (*shape, begin, end))
            and begin <= end
        ):
            entry = Entry(name, dtype, tuple(shape), begin, end)
        case _:
            raise _broken(path, f"tensor '{name}' lacks a right dtype, shape or data_offsets")
    if dtype in STORED and prod(shape) * STORED[dtype].itemsize != end - begin:
        raise _broken(
            path, f"tensor '{name}' of shape {entry.shape} and {dtype} has {end - begin} bytes"
        )
    return entry


def _require_cover(path: Path, entries: list[Entry], size: int) -> None:
    position = 0
    for entry in entries:
        if entry.begin != position:
            raise _broken(
                path, f"tensor '{entry.name}' begins at data byte {entry.begin}, not {position}"
            )
        position = entry.end
    if position != size:
        raise _broken(path, f"its tensors take {position} bytes of data, but it has {size}")


def _broken(path: Path, why: str) -> ConfigurationError:
    return ConfigurationError(f"not a whole safetensors file: {why}", file=str(path))
