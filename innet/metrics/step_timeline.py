"""What a drawing of a step's timeline shows: bars in the lanes of every rank.

A drawing shows at most 1/1500 of a step. Short bars of one kind that are closer are one bar;
shorter bars are as long as that, and long operations that touch are parted by as much. Where a lane
has more bars than a drawing can show, it is cut into cells, each of which shows what fills most of
it, so that a step of a million operations is drawn by as few bars as one of a thousand.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from innet.metrics.step_waiting import entered_ps
from innet.trace.lanes import Lane, lanes_of
from innet.trace.spans_file import StoredSpan, read_spans_file
from innet.trace.steps import COMPUTE

# Of the step's time: less than a pixel of a drawing as wide as a page.
_VISIBLE_PARTS = 1500
_SHORT = 8  # of what can be seen
_MOST_BARS = 24_000  # of a timeline whose lanes are cut into cells, unless these were fewer than
_FEWEST_CELLS = 250


class Bar(NamedTuple):
    """A bar of a lane; `kind` is a place in `Timeline.kinds`.

    `waiting` is the part of an operation before it had all the ranks that it needed.
    """

    start_ps: int
    end_ps: int
    kind: int
    waiting: bool


@dataclass(frozen=True, slots=True)
class TimelineLane:
    """A rank's bars of one kind of lane, in order."""

    rank: int
    category: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class Timeline:
    """One step by one algorithm. `kinds` are compute and operations with their axes."""

    algorithm: str
    step_ps: int
    kinds: tuple[str, ...]
    lanes: tuple[TimelineLane, ...]

    @property
    def ranks(self) -> tuple[int, ...]:
        """The ranks that did something, in order."""
        return tuple(dict.fromkeys(lane.rank for lane in self.lanes))


def timelines_of(content: bytes, algorithms: Sequence[str]) -> list[Timeline]:
    """Return the timelines of some algorithms from a file of spans; they share their kinds.

    Raises ValueError that says what is wrong with the file.
    """
    spans = [span for span in read_spans_file(content) if span.algorithm in algorithms]
    kinds = tuple(dict.fromkeys(sorted(map(_kind, spans), key=lambda kind: kind != COMPUTE)))
    return [
        _timeline(algorithm, [span for span in spans if span.algorithm == algorithm], kinds)
        for algorithm in algorithms
    ]


def _timeline(algorithm: str, spans: Sequence[StoredSpan], kinds: tuple[str, ...]) -> Timeline:
    step = max((span.end_ps for span in spans), default=0)
    entries, numbers = entered_ps(spans), {kind: number for number, kind in enumerate(kinds)}
    found = lanes_of(spans)
    cells = min(_VISIBLE_PARTS, max(_FEWEST_CELLS, _MOST_BARS // max(1, len(found))))
    lanes = tuple(
        TimelineLane(
            lane.rank,
            lane.category,
            _drawn(list(_exact(lane, entries, numbers)), step, cells, lane.category != COMPUTE),
        )
        for lane in found
    )
    return Timeline(algorithm, step, kinds, lanes)


def _kind(span: StoredSpan) -> str:
    return f"{span.operation} over {span.axes}" if span.axes else span.operation


def _exact(lane: Lane, entries: Mapping[int, int], numbers: Mapping[str, int]) -> Iterator[Bar]:
    for span in lane.spans:
        kind = numbers[_kind(span)]
        entered = min(max(span.start_ps, entries.get(span.number, 0)), span.end_ps)
        if span.start_ps < entered:
            yield Bar(span.start_ps, entered, kind, True)
        if entered < span.end_ps or span.start_ps == span.end_ps:
            yield Bar(entered, span.end_ps, kind, False)


def _drawn(bars: Sequence[Bar], step_ps: int, cells: int, parted: bool) -> tuple[Bar, ...]:
    found = tuple(_seen(bars, step_ps // _VISIBLE_PARTS, parted))
    return found if len(found) <= cells else tuple(_cut(bars, -(-step_ps // cells)))


def _cut(bars: Iterable[Bar], cell_ps: int) -> Iterator[Bar]:
    """Show in every cell that is not empty what fills most of it; join cells alike."""
    filled: dict[int, dict[tuple[int, bool], int]] = {}
    for start, end, kind, waiting in bars:
        for cell in range(start // cell_ps, -(-max(end, start + 1) // cell_ps)):
            length = min(end, (cell + 1) * cell_ps) - max(start, cell * cell_ps)
            own = filled.setdefault(cell, {})
            own[kind, waiting] = own.get((kind, waiting), 0) + length
    shown = (
        Bar(cell * cell_ps, (cell + 1) * cell_ps, *max(own, key=lambda key: (own[key], key)))
        for cell, own in sorted(filled.items())
    )
    return _seen(shown, 0, parted=False)


def _seen(bars: Iterable[Bar], least_ps: int, parted: bool) -> Iterator[Bar]:
    """Join bars alike with gaps that cannot be seen, but part long ones, and widen the rest."""
    last: Bar | None = None
    for bar in bars:
        if last is not None and _continues(last, bar, least_ps):
            if not parted or min(_length(last), _length(bar)) < _SHORT * least_ps:
                last = last._replace(end_ps=bar.end_ps)
                continue
            last = last._replace(end_ps=bar.start_ps - least_ps)
        if last is not None:
            yield _widened(last, least_ps)
        last = bar
    if last is not None:
        yield _widened(last, least_ps)


def _continues(last: Bar, bar: Bar, least_ps: int) -> bool:
    return last[2:] == bar[2:] and bar.start_ps - last.end_ps <= least_ps


def _length(bar: Bar) -> int:
    return bar.end_ps - bar.start_ps


def _widened(bar: Bar, least_ps: int) -> Bar:
    return bar._replace(end_ps=max(bar.end_ps, bar.start_ps + least_ps))
