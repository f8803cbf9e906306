"""What changed between two runs of scenarios: the configuration, and every time."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from rich.text import Text

from innet.metrics.figures import RunSummary
from innet.metrics.step_figures import StepSummary
from innet.report.numbers import short_duration, short_parameter
from innet.report.results import Results, StoredRun
from innet.report.step_results import StoredSteps

_GAP = "  "
_IGNORED = ("name",)

Summary = TypeVar("Summary", bound=RunSummary | StepSummary)
# The swept values of every point, and its runs.
Points = Sequence[tuple[Mapping[str, Any], Sequence[Summary]]]


@dataclass(frozen=True, slots=True)
class Change:
    """A key of the resolved scenarios that differs; None where it is not there."""

    key: str
    before: Any
    after: Any


@dataclass(frozen=True)
class Pair(Generic[Summary]):
    """The same algorithm at the same point in both runs; None where one lacks it."""

    point: str
    algorithm: str
    before: Summary | None
    after: Summary | None


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    """Return the differences of two resolved scenarios, by dotted key."""
    old, new = dict(_flattened(before)), dict(_flattened(after))
    keys = list(dict.fromkeys([*old, *new]))
    return [
        Change(key, old.get(key), new.get(key))
        for key in keys
        if old.get(key) != new.get(key) and key not in _IGNORED
    ]


def pairs(before: Points[Summary], after: Points[Summary]) -> list[Pair[Summary]]:
    """Return all runs of both, matched by swept values and algorithm.

    Where the swept keys differ, only the keys that both runs sweep are compared; a point that
    this does not make unique is matched with the first.
    """
    common = _swept(before) & _swept(after)
    old, new = _by_place(before, common), _by_place(after, common)
    places = list(dict.fromkeys([*old, *new]))
    return [Pair(*place, old.get(place), new.get(place)) for place in places]


def compare_lines(before: StoredRun, after: StoredRun) -> list[Text]:
    """Return the comparison, a Text a line: configuration first, then every time."""
    matched = pairs(_points(before.results), _points(after.results))
    both = [pair for pair in matched if pair.before and pair.after]
    return [
        *change_lines(before, after),
        *aligned_rows(_pair_rows(both)),
        *alone_lines(matched),
    ]


def change_lines(before: StoredRun | StoredSteps, after: StoredRun | StoredSteps) -> list[Text]:
    """Return which directories are compared, and what differs in their scenarios."""
    lines = [Text(f"# A: {before.folder}   B: {after.folder}", "bold"), Text()]
    found = changes(before.scenario, after.scenario)
    told = [f"{each.key}: {_shown(each.before)} -> {_shown(each.after)}" for each in found]
    lines += map(Text, told or ["The scenarios are the same."])
    return [*lines, Text()]


def alone_lines(matched: Sequence[Pair[Any]]) -> Iterator[Text]:
    """Say which algorithms have runs in one directory that the other lacks."""
    for name, alone in (
        ("A", [pair for pair in matched if pair.after is None]),
        ("B", [pair for pair in matched if pair.before is None]),
    ):
        if alone:
            algorithms = ", ".join(dict.fromkeys(pair.algorithm for pair in alone))
            yield Text(f"only in {name}: {len(alone)} runs ({algorithms})")


def _pair_rows(found: list[Pair[RunSummary]]) -> Iterator[tuple[str, ...]]:
    yield ("point", "algorithm", "time A", "time B", "B/A", "resent A", "resent B", "limited by")
    for pair in found:
        assert pair.before is not None
        assert pair.after is not None
        yield (
            pair.point,
            pair.algorithm,
            short_duration(pair.before.time_ps),
            short_duration(pair.after.time_ps),
            ratio(pair.before.time_ps, pair.after.time_ps),
            str(pair.before.retransmissions),
            str(pair.after.retransmissions),
            " -> ".join(dict.fromkeys((pair.before.limited_by, pair.after.limited_by))),
        )


def ratio(before_ps: int, after_ps: int) -> str:
    """Write a time over the one before; `=` where they are the same."""
    if before_ps == after_ps:
        return "="
    return f"{after_ps / before_ps:.4g}" if before_ps else "-"


def aligned_rows(rows: Iterator[tuple[str, ...]]) -> list[Text]:
    """Align the columns; the first ones' texts to the left, numbers to the right."""
    table = list(rows)
    columns = list(zip(*table, strict=True))
    kept = [place for place, column in enumerate(columns) if any(column[1:])]
    lines = []
    for row in table:
        cells = []
        for place in kept:
            width = max(map(len, columns[place]))
            text = place < 2 or place == len(row) - 1
            cells.append(row[place].ljust(width) if text else row[place].rjust(width))
        lines.append(_GAP.join(cells).rstrip())
    return [Text(line, "" if place else "bold") for place, line in enumerate(lines)]


def _points(results: Results) -> Points[RunSummary]:
    return [(point.parameters, point.runs) for point in results.points]


def _swept(points: Points[Summary]) -> frozenset[str]:
    return frozenset(key for parameters, _ in points for key in parameters)


def _by_place(points: Points[Summary], keys: frozenset[str]) -> dict[tuple[str, str], Summary]:
    found: dict[tuple[str, str], Summary] = {}
    for parameters, runs in points:
        told = ", ".join(
            f"{key}={short_parameter(value)}" for key, value in parameters.items() if key in keys
        )
        for run in runs:
            found.setdefault((told, run.algorithm), run)
    return found


def _flattened(document: object, prefix: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(document, Mapping) and document:
        for key, value in document.items():
            yield from _flattened(value, f"{prefix}.{key}" if prefix else str(key))
    else:
        yield prefix, document


def _shown(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, list):
        return "[" + ", ".join(map(_shown, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_shown(item)}" for key, item in value.items()) + "}"
    return short_parameter(value)
