"""Execution traces of MLCommons Chakra: one file a rank, a length and a message for every node.

Fields are those of the schema's et_def.proto (GlobalMetadata, Node, AttributeProto). Of a node
only what a step needs is read: its dependencies, its duration, and what it communicates.
"""

import gzip
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from innet.errors import ConfigurationError, unreadable
from innet.units import DURATION_UNITS
from innet.workload.importers.protobuf import (
    BrokenError,
    Value,
    chunk,
    fields,
    numbers,
    real,
    signed,
    zigzag,
)

COMPUTE, SEND, RECEIVE, COLLECTIVE = 4, 5, 6, 7
_GZIP = b"\x1f\x8b"
Attribute = int | float | str

# The fields of AttributeProto that hold one value, by what they hold.
_REALS, _PLAIN, _SIGNED, _ZIGZAG, _FIXED, _SIGNED_FIXED = (
    (3, 5),
    (11, 13, 27),
    (7, 9),
    (15, 17),
    (19, 21),
    (23, 25),
)
_TEXT = 29


@dataclass(frozen=True, slots=True)
class Node:
    """A node of a trace; `needs` are the ids of all nodes that it depends on."""

    number: int
    name: str
    kind: int
    needs: tuple[int, ...]
    start_us: int
    duration_us: int
    attributes: Mapping[str, Attribute]

    @property
    def on_cpu(self) -> bool:
        """Whether the node is a CPU's call and not work of the device."""
        return bool(self.attributes.get("is_cpu_op", False))

    @property
    def duration_ps(self) -> int:
        """How long it took."""
        return self.duration_us * DURATION_UNITS["us"]

    def whole(self, attribute: str) -> int | None:
        """An attribute that is a whole number, None where it is missing."""
        value = self.attributes.get(attribute)
        return value if isinstance(value, int) else None


def read_trace(path: Path) -> tuple[Node, ...]:
    """Return the nodes of a trace, which may be gzipped; ConfigurationError if it is broken."""
    try:
        data = path.read_bytes()
        if data[:2] == _GZIP:
            data = gzip.decompress(data)
        return tuple(_nodes(data))
    except EOFError:
        raise ConfigurationError("its gzip data ends too early", file=str(path)) from None
    except OSError as error:
        raise unreadable(path, error) from None
    except BrokenError as error:
        raise ConfigurationError(f"is no Chakra trace: {error}", file=str(path)) from None


def _nodes(data: bytes) -> Iterator[Node]:
    _, at = chunk(data, 0)  # GlobalMetadata
    while at < len(data):
        message, following = chunk(data, at)
        try:
            yield _node(message)
        except (BrokenError, UnicodeDecodeError, TypeError) as error:
            raise BrokenError(at, f"a node cannot be read ({error})") from None
        at = following


def _node(message: bytes) -> Node:
    plain = {1: 0, 3: 0, 6: 0, 7: 0}
    name = ""
    needs: list[int] = []
    attributes: dict[str, Attribute] = {}
    for field, value in fields(message):
        if field in plain:
            plain[field] = _number(value)
        elif field == 2:
            name = _text(value)
        elif field in (4, 5):
            needs += numbers(value)
        elif field == 10:
            attributes.update(_attribute(value))
    return Node(plain[1], name, plain[3], tuple(needs), plain[6], plain[7], attributes)


def _attribute(message: Value) -> dict[str, Attribute]:
    """Return {name: value} of an attribute, nothing for one that is a list."""
    if isinstance(message, int):
        raise TypeError("an attribute is a number")
    name = ""
    found: Attribute | None = None
    for field, value in fields(message):
        if field == 1:
            name = _text(value)
        elif field > 2:
            found = _value(field, value)
    return {} if found is None else {name: found}


def _value(field: int, value: Value) -> Attribute | None:
    if field in _PLAIN:
        return _number(value)
    if field in _SIGNED:
        return signed(_number(value))
    if field in _ZIGZAG:
        return zigzag(_number(value))
    if isinstance(value, int):
        return None
    if field in _REALS:
        return real(value)
    if field in _FIXED:
        return int.from_bytes(value, "little")
    if field in _SIGNED_FIXED:
        return int.from_bytes(value, "little", signed=True)
    return _text(value) if field == _TEXT else None


def _number(value: Value) -> int:
    if not isinstance(value, int):
        raise TypeError("bytes where a number should be")
    return value


def _text(value: Value) -> str:
    if isinstance(value, int):
        raise TypeError("a number where a text should be")
    return value.decode("utf-8")
