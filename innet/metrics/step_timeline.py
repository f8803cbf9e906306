"""What a drawing of a step's timeline shows: bars in the lanes of every rank.

A drawing shows 1/1500 of a step. Short bars of one kind that are closer are one bar, so that a
step of a million operations is drawn by as few bars as one of a thousand; shorter bars are as long
as that, and long operations that touch are parted by as much.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from innet.metrics.step_waiting import entered_ps
from innet.trace.lanes import Lane, lanes_of
from innet.trace.spans_file import StoredSpan, read_spans_file
from innet.trace.steps import COMPUTE

# Of the step's time: less than a pixel of a drawing as wide as a page.
_VISIBLE_PARTS = 1500
_SHORT = 8  # of what can be seen


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
    entries = entered_ps(spans)
    lanes = tuple(
        TimelineLane(lane.rank, lane.category, tuple(_bars(lane, entries, kinds, step)))
        for lane in lanes_of(spans)
    )
    return Timeline(algorithm, step, kinds, lanes)


def _kind(span: StoredSpan) -> str:
    return f"{span.operation} over {span.axes}" if span.axes else span.operation


def _bars(
    lane: Lane, entries: dict[int, int], kinds: tuple[str, ...], step_ps: int
) -> Iterator[Bar]:
    parted = lane.category != COMPUTE
    return _seen(_exact(lane, entries, kinds), step_ps // _VISIBLE_PARTS, parted)


def _exact(lane: Lane, entries: dict[int, int], kinds: tuple[str, ...]) -> Iterator[Bar]:
    for span in lane.spans:
        kind = kinds.index(_kind(span))
        entered = min(max(span.start_ps, entries.get(span.number, 0)), span.end_ps)
        if span.start_ps < entered:
            yield Bar(span.start_ps, entered, kind, True)
        if entered < span.end_ps or span.start_ps == span.end_ps:
            yield Bar(entered, span.end_ps, kind, False)


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
