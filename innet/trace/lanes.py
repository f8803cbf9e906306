"""The lanes of a rank in a timeline: compute, collectives by their axes, sends and receives.

Spans of a lane do not overlap: where those of one kind do, the kind has several lanes.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from innet.trace.spans_file import StoredSpan
from innet.trace.steps import COMPUTE


@dataclass(slots=True)
class Lane:
    """A rank's spans of one kind in order; `title` tells the kind, `category` its kind's kind."""

    rank: int
    title: str
    category: str
    spans: list[StoredSpan] = field(default_factory=list)


_CATEGORIES = (COMPUTE, "collective", "send", "recv")


def lanes_of(spans: Iterable[StoredSpan]) -> list[Lane]:
    """Return the lanes of one algorithm's spans, by rank, category and title."""
    lanes: dict[tuple[int, int, str], list[Lane]] = {}
    for span in sorted(spans, key=lambda span: (span.start_ps, span.number)):
        category = span.operation if span.operation in _CATEGORIES else "collective"
        title = _title(category, span.axes)
        own = lanes.setdefault((span.rank, _CATEGORIES.index(category), title), [])
        free = next((each for each in own if each.spans[-1].end_ps <= span.start_ps), None)
        if free is None:
            name = f"{title} ({len(own) + 1})" if own else title
            free = Lane(span.rank, name, category)
            own.append(free)
        free.spans.append(span)
    return [lane for key in sorted(lanes) for lane in lanes[key]]


def _title(category: str, axes: str) -> str:
    if category == COMPUTE:
        return COMPUTE
    return f"{category} over {axes}" if axes else category
