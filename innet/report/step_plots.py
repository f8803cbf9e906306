"""Draw the gain of in-network aggregation, and how the steps of each algorithm are spent."""

from collections.abc import Sequence
from typing import Any

from innet.metrics.step_figures import RankTimes, StepSummary
from innet.report.axes import set_time_axis, set_x_axis, time_label, with_micro, x_title
from innet.report.numbers import short_duration
from innet.report.step_charts import GainBar, GainChart
from innet.report.style import label_of, style_of, tinted

_GAIN, _LOSS = "#D55E00", "#555555"
_LINES = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#8A7B00")
_MARKERS = "os^vDPX*"
_PANEL_INCHES = (3.1, 2.6)
_LEGEND_INCHES = 1.6
# Characters of tick labels that fit below a panel.
_ROOM = 40


def gain_figure(chart: GainChart) -> Any:  # noqa: ANN401
    """Return the figure of gains: bars, or lines along what was swept."""
    return _bar_figure(chart) if chart.axis.key is None else _line_figure(chart)


# --- gains as bars --------------------------------------------------------------------------


def _bar_figure(chart: GainChart) -> Any:  # noqa: ANN401
    figure = _figure(6.3, 0.75 + 0.26 * len(chart.bars))
    axes = figure.subplots()
    known = [bar.gain.gain for bar in chart.bars if bar.gain is not None]
    low, high = min(1.0, *known), max(1.0, *known)
    width = (high - low) or 1.0
    for row, bar in enumerate(chart.bars):
        _draw_gain(axes, row, bar, 0.015 * width)
    axes.axvline(1, color="black", linewidth=0.9)
    axes.set_yticks(range(len(chart.bars)), [bar.label for bar in chart.bars])
    axes.set_ylim(len(chart.bars) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.set_xlim(low - 0.05 * width if low < 1 else 1 - 0.02 * width, high + 0.42 * width)
    axes.set_xlabel("step time of the best point-to-point algorithm / in-network (below 1: a loss)")
    axes.grid(axis="x", color="#DDDDDD", linewidth=0.6)
    return figure


def _draw_gain(axes: Any, row: int, bar: GainBar, margin: float) -> None:  # noqa: ANN401
    if bar.gain is None:
        axes.text(1 + margin, row, bar.why, va="center", fontsize=8, color="#777777")
        return
    gain = bar.gain.gain
    colour = _GAIN if gain >= 1 else _LOSS
    axes.barh(row, gain - 1, left=1, height=0.62, color=colour, alpha=0.85)
    told = f"{gain:.2f}\N{MULTIPLICATION SIGN} over {label_of(bar.gain.over)}"
    told += "" if bar.gain.offloaded else ", nothing offloaded"
    # Beside the end of a gain; beside the line of a loss, so that no label leaves the figure.
    axes.text(max(gain, 1) + margin, row, told, va="center", fontsize=8)


# --- gains along what was swept -------------------------------------------------------------


def _line_figure(chart: GainChart) -> Any:  # noqa: ANN401
    width, height = _PANEL_INCHES
    panels = 2 if chart.times else 1
    figure = _figure(panels * width + (_LEGEND_INCHES if _legend_wanted(chart) else 0), height)
    grid = figure.subplots(1, panels, squeeze=False)[0]
    if chart.times:
        _draw_times(grid[0], chart)
    _draw_gains(grid[-1], chart)
    for axes in grid:
        axes.set_xlabel(x_title(chart.axis))
        axes.grid(axis="y", color="#DDDDDD", linewidth=0.6)
    if chart.title:
        figure.suptitle(chart.title, x=0.02, ha="left", fontsize=8.5, color="#444444")
    _legend(figure, grid)
    return figure


def _legend_wanted(chart: GainChart) -> bool:
    return bool(chart.times) or len(chart.lines) > 1


def _draw_times(axes: Any, chart: GainChart) -> None:  # noqa: ANN401
    place = set_x_axis(axes, chart.axis, _across(chart), _ROOM)
    values = [value for line in chart.times for _, value in line.samples]
    for line in chart.times:
        colour, marker = style_of(line.algorithm)
        axes.plot(
            [place(x) for x, _ in line.samples],
            [value for _, value in line.samples],
            color=colour,
            marker=marker,
            label=label_of(line.algorithm),
            zorder=3 + (line.algorithm == "in_network"),
        )
    bounds = [value for _, value in chart.bounds if value > 0]
    if bounds:
        axes.plot(
            [place(x) for x, _ in chart.bounds],
            [value for _, value in chart.bounds],
            color="#555555",
            linestyle=(0, (4, 2)),
            linewidth=0.8,
            label="longest compute of a rank",
        )
    set_time_axis(axes, [value for value in [*values, *bounds] if value > 0])
    axes.set_ylabel("step time")


def _draw_gains(axes: Any, chart: GainChart) -> None:  # noqa: ANN401
    place = set_x_axis(axes, chart.axis, _across(chart), _ROOM)
    values = [value for line in chart.lines for _, value in line.samples]
    for number, line in enumerate(chart.lines):
        axes.plot(
            [place(x) for x, _ in line.samples],
            [value for _, value in line.samples],
            color=_LINES[number % len(_LINES)],
            marker=_MARKERS[number % len(_MARKERS)],
            label=line.name if len(chart.lines) > 1 else None,
        )
    low, high = min(1.0, *values), max(1.0, *values)
    margin = 0.08 * ((high - low) or 1)
    axes.set_ylim(low - margin, high + margin)
    axes.axhspan(low - margin, 1, color="#F0F0F0", zorder=0)
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_ylabel("gain over point to point\n(below 1: a loss)")


def _across(chart: GainChart) -> list[float]:
    lines = [*(line.samples for line in chart.lines), *(line.samples for line in chart.times)]
    return [x for samples in lines for x, _ in samples]


def _legend(figure: Any, grid: Sequence[Any]) -> None:  # noqa: ANN401
    handles = [handle for axes in grid for handle in axes.get_legend_handles_labels()[0]]
    if handles:
        figure.legend(handles=handles, loc="outside right upper", frameon=False, handlelength=2.4)


# --- shares of a step -----------------------------------------------------------------------

_MOST_SPREAD = 20  # of the longest steps of points, on one axis of time
_SHARES = (
    "compute",
    "compute, operations hidden under it",
    "exposed: operations under way",
    "exposed: waiting for other ranks",
    "idle",
)


def shares_figure(steps: Sequence[tuple[str, StepSummary]], title: str) -> Any:  # noqa: ANN401
    """Return bars of how the mean rank spends each step, stacked up to the step's time.

    Steps come with the names of their points. Where points differ too much in time, bars are
    percents of the longest step of their point.
    """
    figure = _figure(6.9, 1.15 + 0.27 * len(steps))
    axes = figure.subplots()
    scales = _scales(steps)
    for row, ((_, run), scale) in enumerate(zip(steps, scales, strict=True)):
        left = 0.0
        for share, length in zip(_SHARES, _lengths(run.mean), strict=True):
            label = share if row == 0 else None
            axes.barh(row, length * scale, left=left, height=0.66, label=label, **_LOOKS[share])
            left += length * scale
        told = with_micro(short_duration(run.step_ps, 4))
        axes.text(run.step_ps * scale, row, f"  {told}", va="center", fontsize=8)
    _set_share_axes(axes, steps, scales)
    if title:
        axes.set_title(title, loc="left", color="#444444")
    figure.legend(loc="outside lower left", ncols=3, frameon=False, handlelength=1.2)
    return figure


def _scales(steps: Sequence[tuple[str, StepSummary]]) -> list[float]:
    """Return by what times of each step are multiplied: 1, or 100 over its point's longest."""
    longest: dict[str, int] = {}
    for name, run in steps:
        longest[name] = max(run.step_ps, longest.get(name, 1))
    if max(longest.values()) <= _MOST_SPREAD * min(longest.values()):
        return [1.0] * len(steps)
    return [100 / longest[name] for name, _ in steps]


def _set_share_axes(
    axes: Any,  # noqa: ANN401
    steps: Sequence[tuple[str, StepSummary]],
    scales: Sequence[float],
) -> None:
    names = {name for name, _ in steps}
    labels = [
        label_of(run.algorithm) if len(names) == 1 else f"{name}: {label_of(run.algorithm)}"
        for name, run in steps
    ]
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    widest = max(run.step_ps * scale for (_, run), scale in zip(steps, scales, strict=True))
    axes.set_xlim(0, widest * 1.13 or 1)
    if set(scales) == {1.0}:
        axes.xaxis.set_major_formatter(lambda value, _: time_label(value))
        axes.set_xlabel("time of the step, mean over ranks")
    else:
        axes.set_xlabel("% of the longest step at the same point, mean over ranks")


_LOOKS: dict[str, dict[str, Any]] = {
    _SHARES[0]: {"color": "#BBBBBB"},
    _SHARES[1]: {"color": "#BBBBBB", "hatch": "////", "edgecolor": "white", "linewidth": 0},
    _SHARES[2]: {"color": "#0072B2"},
    _SHARES[3]: {"color": tinted("#0072B2", 0.3)},
    _SHARES[4]: {"color": "#F0F0F0"},
}


def _lengths(times: RankTimes) -> tuple[int, ...]:
    return (
        times.compute_ps - times.hidden_ps,
        times.hidden_ps,
        times.exposed_ps - times.waiting_ps,
        times.waiting_ps,
        times.idle_ps,
    )


def _figure(width: float, height: float) -> Any:  # noqa: ANN401
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")
