"""Make long steps short: what is listed several times in a row becomes a `repeat`."""

from collections.abc import Sequence
from typing import NamedTuple

from innet.workload.importers.imported import Entry

_LONGEST_BODY = 200


class _Run(NamedTuple):
    """`times` equal bodies of `length` entries; `saved` is how many entries fewer that is."""

    length: int
    times: int

    @property
    def saved(self) -> int:
        """What remains are the body and the repeat itself."""
        return (self.times - 1) * self.length - 1


def folded(entries: Sequence[Entry]) -> list[Entry]:
    """Return entries that do the same with runs of equal bodies, nested ones too, as repeats."""
    inner = [entry | {"do": folded(entry["do"])} if "do" in entry else entry for entry in entries]
    while (shorter := _folded_once(inner)) != inner:
        inner = shorter
    return inner


def _folded_once(entries: list[Entry]) -> list[Entry]:
    numbers = _numbered(entries)
    found: list[Entry] = []
    at = 0
    while at < len(entries):
        run = _best_run(numbers, at)
        body = entries[at : at + run.length]
        found += body if run.times == 1 else [{"repeat": run.times, "do": folded(body)}]
        at += run.length * run.times
    return found


def _numbered(entries: list[Entry]) -> list[int]:
    """Return a number for every entry, the same for equal ones."""
    known: dict[str, int] = {}
    return [known.setdefault(repr(entry), len(known)) for entry in entries]


def _best_run(numbers: list[int], at: int) -> _Run:
    """Return the run from `at` that saves most entries, one entry alone where none saves any."""
    best = _Run(1, 1)
    for length in range(1, min(_LONGEST_BODY, (len(numbers) - at) // 2) + 1):
        if numbers[at + length] == numbers[at]:
            run = _Run(length, _times(numbers, at, length))
            if run.saved > max(best.saved, 0):
                best = run
    return best


def _times(numbers: list[int], at: int, length: int) -> int:
    """Return how often in a row the `length` numbers from `at` are there."""
    body, count = numbers[at : at + length], 1
    while numbers[at + count * length : at + (count + 1) * length] == body:
        count += 1
    return count
