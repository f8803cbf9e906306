"""What an importer gives: a training step in innet's vocabulary, as plain data for a YAML file."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from innet.units import format_duration, noun_for

Entry = dict[str, Any]
_SUMMED = ("all_reduce", "reduce_scatter", "reduce")


@dataclass(frozen=True, slots=True)
class Imported:
    """A step over the axes of `mesh`; `notes` say what was left out and what was assumed."""

    mesh: Mapping[str, int]
    step: tuple[Entry, ...]
    notes: tuple[str, ...]

    def totals(self) -> Mapping[tuple[str, str], tuple[int, int]]:
        """Return calls and bytes of every (collective, axes), as the step lists them."""
        found: dict[tuple[str, str], tuple[int, int]] = {}
        for verb, options in _operations(self.step):
            if "over" in options:
                calls, size = found.get((verb, options["over"]), (0, 0))
                found[verb, options["over"]] = (calls + 1, size + options["size"])
        return found

    def summed_sizes(self) -> set[int]:
        """Return the bytes of all vectors that are summed."""
        return {options["size"] for verb, options in _operations(self.step) if verb in _SUMMED}


def _operations(entries: tuple[Entry, ...] | list[Entry]) -> Iterator[tuple[str, Entry]]:
    for entry in entries:
        if "do" in entry:
            for _ in range(entry.get("repeat", 1)):
                yield from _operations(entry["do"])
        else:
            for verb, options in entry.items():
                if isinstance(options, dict):
                    yield verb, options


def compute(duration_ps: int) -> list[Entry]:
    """Return the entry of some work, none where it takes no time."""
    return [{"compute": format_duration(duration_ps)}] if duration_ps else []


def collective(kind: str, size_bytes: int, over: str, handle: str | None = None) -> Entry:
    """Return a collective's entry; with a handle it goes on beside what follows."""
    options: Entry = {"size": size_bytes, "over": over}
    return {kind: options if handle is None else options | {"async": handle}}


def wait(handle: str) -> Entry:
    """Return the entry that waits for what was begun under a handle."""
    return {"wait": handle}


def counted(count: int, one: str, several: str) -> str:
    """Return a number with its noun."""
    return f"{count:,} {noun_for(count, one, several)}"
