"""What an emulation leaves behind: its JSON, and its table.

Its time is this machine's. It stands apart from simulated times, and no bandwidth is made of
it; so an emulation is no run that `plot` or `compare` could read.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.text import Text

from innet.report.numbers import exact_size, short_parameter
from innet.report.results import FORMAT_VERSION

_HEADS = ("size", "count", "type", "redop", "workers")
_FIGURES = ("#wrong", "packets", "resent", "lost", "dropped", "wall*")
_SHOWN_ANYWAY = ("collective.size", "collective.dtype", "topology.workers")
_GAP = "  "

Cells = Sequence[str]


@dataclass(frozen=True, slots=True)
class EmulatedFigures:
    """What came out of one emulated all-reduce.

    `wrong` counts elements over all workers. `dropped` counts packets by who dropped them
    (links, workers, switch) and why.
    """

    wrong: int
    packets: int
    retransmissions: int
    dropped: Mapping[str, Mapping[str, int]]
    wall_s: float


@dataclass(frozen=True, slots=True)
class EmulatedPoint:
    """One point of a scenario; `figures` is None when it did not finish, for `unfinished`."""

    parameters: Mapping[str, Any]
    workers: int
    size_bytes: int
    elements: int
    dtype: str
    figures: EmulatedFigures | None
    unfinished: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the point's part of the `--json` output."""
        found: dict[str, Any] = {"workers": self.workers, "elements": self.elements}
        figures = self.figures
        if figures is None:
            return {**found, "wrong": None, "unfinished": self.unfinished}
        return {
            **found,
            "wrong": figures.wrong,
            "packets": figures.packets,
            "retransmissions": figures.retransmissions,
            "dropped": figures.dropped,
            "wall_s": round(figures.wall_s, 6),
        }


@dataclass(frozen=True, slots=True)
class EmulatedResults:
    """All points of a scenario, and what of it was not enforced or not run."""

    name: str
    target: str
    network: str
    points: tuple[EmulatedPoint, ...]
    notes: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the object that `--json` prints: one point's, or a list of a sweep's points."""
        head = {"version": FORMAT_VERSION, "target": self.target, "net": self.network}
        if len(self.points) == 1 and not self.points[0].parameters:
            return {**head, **self.points[0].as_json()}
        points = [
            {"parameters": dict(point.parameters), **point.as_json()} for point in self.points
        ]
        return {**head, "points": points}


def emulation_lines(results: EmulatedResults) -> list[Text]:
    """Return the table and its notes, a Text a line."""
    title = f"# {results.name}: all_reduce in network, emulated: {results.target} on "
    lines = [Text(title + results.network, "bold"), *_table(results), Text()]
    lines.append(Text("# *: this machine's time for real packets, not a network's", "dim"))
    lines += [Text(f"# {note}", "dim") for note in results.notes]
    return lines


def _table(results: EmulatedResults) -> Iterator[Text]:
    swept = dict.fromkeys(key for point in results.points for key in point.parameters)
    parameters = tuple(key for key in swept if key not in _SHOWN_ANYWAY)
    rows = [(*_HEADS, *parameters, *_FIGURES)]
    rows += [_cells(point, parameters) for point in results.points]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for place, row in enumerate(rows):
        cells = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
        yield Text(_GAP.join(cells).rstrip(), "bold" if place == 0 else "")
    for point in results.points:
        if point.unfinished:
            yield Text(f"did not finish: {point.unfinished}", "red")


def _cells(point: EmulatedPoint, parameters: Sequence[str]) -> tuple[str, ...]:
    swept = tuple(short_parameter(point.parameters.get(key, "-")) for key in parameters)
    size = exact_size(point.size_bytes)
    head = (size, str(point.elements), point.dtype, "sum", str(point.workers), *swept)
    figures = point.figures
    if figures is None:
        return (*head, *("-" for _ in _FIGURES))
    dropped = sum(figures.dropped["workers"].values()) + sum(figures.dropped["switch"].values())
    return (
        *head,
        str(figures.wrong),
        str(figures.packets),
        str(figures.retransmissions),
        str(sum(figures.dropped["links"].values())),
        str(dropped),
        f"{figures.wall_s:.3g} s",
    )
