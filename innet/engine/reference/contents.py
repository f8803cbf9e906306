"""Which packets of a job carry values, and which only a header.

All kinds of operation run the same protocol, n contributions and a result for everyone. They
differ in who has something to give and who needs what comes of it: each chunk of a reduce_scatter
or an all_gather has as its owners the places whose blocks it touches, each chunk of a reduce or
broadcast its root. Values that nobody gives or needs stay away, and a packet without values takes
as many bytes as a call for help.

In the simulation, packets with and without values are the same objects: who has nothing to give
contributes zeros.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from innet.collectives.schedule import block_bounds
from innet.engine.reference.program import Vector
from innet.plan.operation import Operation
from innet.plan.plan import Aggregation
from innet.protocol.transitions import NUMBER_MASK

ALL_GIVE = frozenset({"all_reduce", "reduce", "reduce_scatter"})
ALL_NEED = frozenset({"all_reduce", "broadcast", "all_gather"})
BY_BLOCK = frozenset({"reduce_scatter", "all_gather"})
IN_NETWORK = ALL_GIVE | ALL_NEED


class _Part(NamedTuple):
    """A core's part of an operation: its first sequence number, its chunks, its elements."""

    operation: Operation
    first_number: int
    chunks: int
    lead: int
    start: int
    end: int


class Contents:
    """The operations of one job, in order."""

    def __init__(self, format_: Aggregation, cores: int) -> None:
        self.format = format_
        self.always_full = True
        self._slots = block_bounds(format_.slots, cores)
        self._parts: list[list[_Part]] = [[] for _ in range(cores)]
        self._next_numbers = [format_.first_number] * cores

    def add(self, operation: Operation, blocks_of_cores: Sequence[int]) -> None:
        """Take the job's next operation; every core sends so many blocks of it."""
        if operation.kind != "all_reduce":
            self.always_full = False
        bounds = block_bounds(operation.elements, len(self._parts))
        for core, (parts, blocks) in enumerate(zip(self._parts, blocks_of_cores, strict=True)):
            slots = self._slots[core + 1] - self._slots[core]
            lead = min(slots, blocks) if self.format.exponent_round else 0
            first = self._next_numbers[core]
            self._next_numbers[core] += blocks + lead
            parts.append(
                _Part(operation, first, blocks + lead, lead, bounds[core], bounds[core + 1])
            )

    def of(self, places: Iterable[int]) -> "View":
        """What goes up from these places, and down to them."""
        return View(self, places)

    def owners(self, slot: int, number: int) -> tuple[Operation, range]:
        """The operation that a chunk belongs to, and the places that own the chunk."""
        core = bisect_right(self._slots, slot) - 1
        for part in reversed(self._parts[core]):
            chunk = (number - part.first_number) & NUMBER_MASK
            if chunk < part.chunks:
                return part.operation, self._owners(part, chunk)
        raise LookupError(f"no operation has the number {number}")

    def _owners(self, part: _Part, chunk: int) -> range:
        """In the exponents' round, a chunk belongs to the block whose exponent it carries."""
        operation, elements = part.operation, self.format.elements_per_packet
        if operation.kind not in BY_BLOCK:
            return range(operation.root, operation.root + 1)
        block = chunk - part.lead if chunk >= part.lead else chunk
        start = part.start + block * elements
        bounds = block_bounds(operation.elements, len(operation.group))
        last = bisect_left(bounds, min(start + elements, part.end)) - 1
        return range(bisect_right(bounds, start) - 1, last + 1)


class View:
    """A job's contents as they pass a link that leads to some places only."""

    def __init__(self, contents: Contents, places: Iterable[int]) -> None:
        self._contents, self._places = contents, frozenset(places)

    def up_bytes(self, slot: int, number: int) -> int:
        """The medium bytes of a contribution."""
        return self._bytes(slot, number, ALL_GIVE)

    def down_bytes(self, slot: int, number: int) -> int:
        """The medium bytes of a result."""
        return self._bytes(slot, number, ALL_NEED)

    def _bytes(self, slot: int, number: int, always: frozenset[str]) -> int:
        format_ = self._contents.format
        if self._contents.always_full:
            return format_.packet_bytes
        operation, owners = self._contents.owners(slot, number)
        full = operation.kind in always or not self._places.isdisjoint(owners)
        return format_.packet_bytes if full else format_.help_bytes


def contribution(operation: Operation, place: int, vector: Vector) -> Vector:
    """What a place contributes of its vector: zeros where it has nothing to give."""
    if operation.kind in ALL_GIVE:
        return vector
    given: Vector = np.zeros_like(vector)
    if operation.kind == "broadcast":
        part = slice(0, len(vector) if place == operation.root else 0)
    else:
        bounds = block_bounds(len(vector), len(operation.group))
        part = slice(bounds[place], bounds[place + 1])
    given[part] = vector[part]
    return given
