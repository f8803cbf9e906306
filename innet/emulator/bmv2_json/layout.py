"""How the fields of a header lie in its bytes, as calls of `struct`.

Fields are grouped up to the next byte boundary. A group is read as one integer, from one
struct item or from several, and then cut into its fields.
"""

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from innet.emulator.bmv2_json.program import Header
from innet.emulator.bmv2_json.terms import Field

_ITEMS = ((64, "Q"), (32, "I"), (16, "H"), (8, "B"))


@dataclass(frozen=True, slots=True)
class Group:
    """Fields that together fill `items`, (bits, struct letter) each, in order."""

    fields: tuple[Field, ...]
    items: tuple[tuple[int, str], ...]


def groups(header: Header) -> list[Group]:
    """The header's groups in order. ValueError if it does not end at a byte boundary."""
    found: list[Group] = []
    pending: list[Field] = []
    bits = 0
    for field in header.fields:
        pending.append(field)
        bits += field.width
        if bits % 8 == 0:
            found.append(Group(tuple(pending), _items(bits)))
            pending, bits = [], 0
    if pending:
        raise ValueError(f"header {header.name!r} does not end at a byte boundary")
    return found


def _items(bits: int) -> tuple[tuple[int, str], ...]:
    items = []
    for width, letter in _ITEMS:
        while bits >= width:
            items.append((width, letter))
            bits -= width
    return tuple(items)


def struct_of(header: Header) -> struct.Struct:
    """What packs and unpacks the items of all groups."""
    letters = "".join(letter for group in groups(header) for _, letter in group.items)
    return struct.Struct(">" + letters)


def unpack_source(header: Header, variable: Callable[[Field], str], call: str) -> list[str]:
    """Lines that set the variables of all fields from the items that `call` gives."""
    targets: list[str] = []
    lines: list[str] = []
    for number, group in enumerate(groups(header)):
        names = [f"item{number}_{place}" for place in range(len(group.items))]
        if len(group.items) == 1 and len(group.fields) == 1 and not group.fields[0].signed:
            names = [variable(group.fields[0])]
        else:
            lines += _cut(group, names, f"group{number}", variable)
        targets += names
    return [f"{', '.join(targets)}, = {call}", *lines]


def _cut(
    group: Group, names: Sequence[str], whole: str, variable: Callable[[Field], str]
) -> list[str]:
    lines = []
    source = names[0]
    for (width, _), name in zip(group.items[1:], names[1:], strict=True):
        source = f"({source} << {width} | {name})"
    if len(group.fields) > 1 and len(names) > 1:
        lines.append(f"{whole} = {source}")
        source = whole
    shift = sum(field.width for field in group.fields)
    for field in group.fields:
        shift -= field.width
        value = f"{source} >> {shift}" if shift else source
        if field is not group.fields[0]:
            value = f"{value} & {(1 << field.width) - 1:#x}"
        if field.signed:
            half = 1 << (field.width - 1)
            value = f"(({value}) ^ {half}) - {half}"
        lines.append(f"{variable(field)} = {value}")
    return lines


def pack_source(header: Header, variable: Callable[[Field], str]) -> str:
    """The arguments, separated by commas, with which the header's struct packs it."""
    arguments: list[str] = []
    for group in groups(header):
        whole = _join(group.fields, variable)
        below = sum(width for width, _ in group.items)
        for width, _ in group.items:
            below -= width
            part = f"{whole} >> {below}" if below else whole
            first = len(group.items) == 1 or below + width == _bits(group)
            arguments.append(part if first else f"{part} & {(1 << width) - 1:#x}")
    return ", ".join(arguments)


def _bits(group: Group) -> int:
    return sum(width for width, _ in group.items)


def _join(fields: Sequence[Field], variable: Callable[[Field], str]) -> str:
    """Source of the fields' bits as one integer."""
    text = ""
    for field in fields:
        value = variable(field)
        if field.signed:
            value = f"({value} & {(1 << field.width) - 1:#x})"
        text = f"({text} << {field.width} | {value})" if text else value
    return text
