"""Draw timelines of a training step: a row a rank, in it a strip a lane, one panel an algorithm.

Where there are many ranks, a row has two strips, compute above and all operations below.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from innet.metrics.step_timeline import Timeline, TimelineLane
from innet.report.axes import time_label, with_micro
from innet.report.numbers import short_duration
from innet.report.style import label_of, tinted

_WIDTH_INCHES = 6.9
_STRIP_INCHES = (0.02, 0.15)
_PANEL_INCHES = 4.0  # unless the strips would be too thin
_MOST_LANES = 48
_MOST_RANKS = 128
_ROW_GAP = 0.35  # in strips
_COMPUTE = "#BBBBBB"
_COLOURS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#8A7B00",
    "#000000",
    "#882255",
    "#44AA99",
    "#DDCC77",
    "#332288",
)
_WAITING_TINT = 0.3


def timeline_figure(timelines: Sequence[Timeline], title: str) -> Any:  # noqa: ANN401
    """Return the figure of some timelines with the same kinds, on one axis of time."""
    from matplotlib.figure import Figure

    rows = [list(_rows(each)) for each in timelines]
    heights = [_panel_inches(own) for own in rows]
    figure = Figure(figsize=(_WIDTH_INCHES, sum(heights) + 0.75), layout="constrained")
    panels = figure.subplots(
        len(timelines), 1, sharex=True, squeeze=False, gridspec_kw={"height_ratios": heights}
    )
    for axes, timeline, own in zip(panels.flat, timelines, rows, strict=True):
        _draw_panel(axes, timeline, own)
    last = panels.flat[-1]
    last.set_xlim(0, max(each.step_ps for each in timelines) * 1.005 or 1)
    last.xaxis.set_major_formatter(lambda value, _: time_label(value))
    last.set_xlabel("time")
    figure.suptitle(title, x=0.02, ha="left", fontsize=8.5, color="#444444")
    _legend(figure, timelines)
    return figure


Row = Sequence[Sequence[TimelineLane]]


def _rows(timeline: Timeline) -> Iterator[Row]:
    """Yield for every rank its strips from above, each of one lane or of several."""
    crowded = len(timeline.lanes) > _MOST_LANES
    shown = set(timeline.ranks[:: _every(timeline)])
    for rank, lanes in groupby(timeline.lanes, key=lambda lane: lane.rank):
        own = list(lanes) if rank in shown else []
        if not own:
            continue
        if crowded:
            compute = [lane for lane in own if lane.category == "compute"]
            yield [compute, [lane for lane in own if lane.category != "compute"]]
        else:
            yield [[lane] for lane in own]


def _every(timeline: Timeline) -> int:
    return -(-len(timeline.ranks) // _MOST_RANKS)


def _panel_inches(rows: Sequence[Row]) -> float:
    least, most = _STRIP_INCHES
    strips = sum(len(row) + _ROW_GAP for row in rows)
    return 0.3 + strips * min(most, max(least, _PANEL_INCHES / max(strips, 1)))


def _draw_panel(axes: Any, timeline: Timeline, rows: Sequence[Row]) -> None:  # noqa: ANN401
    from matplotlib.collections import PolyCollection

    boxes: dict[tuple[int, bool], list[Sequence[tuple[float, float]]]] = {}
    centres, top = [], 0.0
    for row in rows:
        for strip, lanes in enumerate(row):
            for bar in (bar for lane in lanes for bar in lane.bars):
                above, below = top + strip + 0.04, top + strip + 0.96
                corners = [(bar.start_ps, above), (bar.start_ps, below)]
                corners += [(bar.end_ps, below), (bar.end_ps, above)]
                boxes.setdefault((bar.kind, bar.waiting), []).append(corners)
        centres.append(top + len(row) / 2)
        top += len(row) + _ROW_GAP
    # What waits lies below: an operation under way in another lane of the strip is seen.
    for kind, waiting in sorted(boxes, key=lambda key: (not key[1], key[0])):
        colour = _colour(timeline.kinds[kind], timeline.kinds)
        shade = tinted(colour, _WAITING_TINT) if waiting else colour
        axes.add_collection(
            PolyCollection(boxes[kind, waiting], facecolors=[shade], edgecolors="none")
        )
    axes.set_ylim(top - _ROW_GAP + 0.2, -0.2)
    _label_ranks(axes, timeline, centres)
    axes.axvline(timeline.step_ps, color="black", linewidth=0.8)
    name, step = label_of(timeline.algorithm), short_duration(timeline.step_ps, 4)
    thinned = f" (one rank in {_every(timeline)} shown)" if _every(timeline) > 1 else ""
    axes.set_title(f"{name}: {with_micro(step)}{thinned}", loc="left")


def _label_ranks(axes: Any, timeline: Timeline, centres: Sequence[float]) -> None:  # noqa: ANN401
    every = max(1, -(-len(centres) // 16))
    ranks = timeline.ranks[:: _every(timeline)]
    shown = list(zip(centres, ranks, strict=True))[::every]
    axes.set_yticks([at for at, _ in shown], [f"rank {rank}" for _, rank in shown])
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def _colour(kind: str, kinds: Sequence[str]) -> str:
    if kind == "compute":
        return _COMPUTE
    others = [each for each in kinds if each != "compute"]
    return _COLOURS[others.index(kind) % len(_COLOURS)]


def _legend(figure: Any, timelines: Sequence[Timeline]) -> None:  # noqa: ANN401
    from matplotlib.patches import Patch

    kinds = timelines[0].kinds
    handles = [Patch(facecolor=_colour(kind, kinds), label=kind) for kind in kinds]
    if any(bar.waiting for each in timelines for lane in each.lanes for bar in lane.bars):
        pale = tinted(_COLOURS[0], _WAITING_TINT)
        handles.append(Patch(facecolor=pale, label="pale: waiting for other ranks"))
    figure.legend(
        handles=handles,
        loc="outside lower left",
        ncols=3,
        frameon=False,
        handlelength=1.2,
        columnspacing=1.4,
    )
