"""From a graph of blocks to Python source that runs it.

Python has no goto. A block that is reached from one place only is written into that place;
all others stand one after the other in a loop, each behind a test of the variable `at`, so
that a jump forward falls down to its target and a jump backward starts the loop again.
"""

import heapq
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

DEEPEST = 24
"""Levels of indentation from which on blocks are no longer written into each other."""


@dataclass(slots=True)
class Writer:
    """Lines of source and the current indentation."""

    lines: list[str] = field(default_factory=list)
    depth: int = 0

    def __call__(self, line: str) -> None:
        """Add a line."""
        self.lines.append("    " * self.depth + line)

    def block(self, head: str) -> "_Indented":
        """Add a line that opens a block, for a `with` statement around its body."""
        self(head)
        return _Indented(self)


class _Indented:
    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    def __enter__(self) -> None:
        self._writer.depth += 1

    def __exit__(self, *_: object) -> None:
        self._writer.depth -= 1


Go = Callable[[str | None], None]


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of the program: `write(go)` writes it and ends each of its ways with go(target).

    `targets` are all the targets; None is the end of the graph.
    """

    targets: Sequence[str | None]
    write: Callable[[Go], None]


def write_graph(writer: Writer, blocks: Mapping[str, Block], start: str | None) -> None:
    """Write a loop that runs the blocks from `start` to an end and leaves it there."""
    if start is None:
        return
    order = _order(blocks, start)
    place = {name: number for number, name in enumerate(order)}
    arrivals = dict.fromkeys(order, 0)
    backward = False
    for name in order:
        for target in blocks[name].targets:
            if target is not None:
                arrivals[target] += 1
                backward = backward or place[target] <= place[name]
    _Graph(writer, blocks, place, arrivals, backward).write(start)


def _order(blocks: Mapping[str, Block], start: str) -> list[str]:
    """Blocks in the order in which they are reached: without loops, sources before targets."""
    done: list[str] = []
    seen = {start}
    path = [(start, iter(blocks[start].targets))]
    while path:
        name, targets = path[-1]
        target = next((each for each in targets if each is not None and each not in seen), None)
        if target is None:
            done.append(name)
            path.pop()
        else:
            seen.add(target)
            path.append((target, iter(blocks[target].targets)))
    return done[::-1]


@dataclass(slots=True)
class _Graph:
    writer: Writer
    blocks: Mapping[str, Block]
    place: Mapping[str, int]
    arrivals: Mapping[str, int]
    backward: bool
    waiting: list[int] = field(default_factory=list)

    def write(self, start: str) -> None:
        names = list(self.place)
        if self.backward:
            self.writer(f"at = {self.place[start]}")
        with self.writer.block("while True:"):
            heapq.heappush(self.waiting, self.place[start])
            while self.waiting:
                number = heapq.heappop(self.waiting)
                name = names[number]
                if name == start and not self.backward:
                    self._write_block(name)
                    continue
                with self.writer.block(f"if at == {number}:"):
                    self._write_block(name)

    def _write_block(self, name: str) -> None:
        self.blocks[name].write(lambda target: self._go(self.place[name], target))

    def _go(self, source: int, target: str | None) -> None:
        if target is None:
            self.writer("break")
            return
        number = self.place[target]
        if number <= source:
            self.writer(f"at = {number}")
            self.writer("continue")
        elif self.arrivals[target] == 1 and self.writer.depth < DEEPEST:
            self._write_block(target)
        else:
            self.writer(f"at = {number}")
            if number not in self.waiting:
                heapq.heappush(self.waiting, number)
