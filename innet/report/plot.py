"""Draw a chart: lines with their lower bounds dashed, or bars where nothing was swept.

Matplotlib is imported only here and in `axes.py`, when something is drawn, and never its pyplot.
The same chart gives the same bytes: no dates, fixed ids.
"""

from collections.abc import Callable, Sequence
from io import BytesIO
from math import ceil
from pathlib import Path
from typing import Any

from innet.errors import ConfigurationError
from innet.files import write_whole
from innet.report.axes import set_x_axis, set_y_axis, x_title, y_label, y_title
from innet.report.series import Chart, Panel, Series
from innet.report.style import SETTINGS, VARIANT_LINES, label_of, marker_fill, style_of

FORMATS = ("svg", "png", "pdf")
_NO_DATE = {"svg": {"Date": None}, "png": {}, "pdf": {"CreationDate": None, "ModDate": None}}
_MOST_COLUMNS = 3
_PANEL_INCHES = (3.9, 2.7)
_SMALL_PANEL_INCHES = (2.35, 2.1)
_LEGEND_INCHES = 1.75
# Characters of tick labels that fit below a panel.
_ROOM = 52
_SMALL_ROOM = 28


def plot_format(path: Path) -> str:
    """Return the format that a file's ending names; ConfigurationError for another."""
    ending = path.suffix.lower().lstrip(".")
    if ending not in FORMATS:
        raise ConfigurationError(
            f"'{path.suffix}' is not a plot format; end the name in .svg, .png or .pdf",
            file=str(path),
        )
    return ending


def write_plot(chart: Chart, path: Path) -> None:
    """Draw a chart into a file, SVG, PNG or PDF by its ending."""
    write_whole(path, draw(chart, plot_format(path)))


def draw(chart: Chart, file_format: str) -> bytes:
    """Return a chart as the bytes of an svg, png or pdf file."""
    kind = _bar_figure if chart.axis.key is None else _line_figure
    return rendered(lambda: kind(chart), file_format)


def rendered(make_figure: Callable[[], Any], file_format: str) -> bytes:
    """Return the figure that is made under innet's settings as the bytes of a file."""
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        settings: Any = matplotlib.rcParams
        settings.update(SETTINGS)
        figure = make_figure()
        content = BytesIO()
        figure.savefig(
            content,
            format=file_format,
            metadata=_NO_DATE[file_format],
            bbox_inches="tight",
            pad_inches=0.05,
        )
    return content.getvalue()


def _line_figure(chart: Chart) -> Any:  # noqa: ANN401
    count = len(chart.panels)
    columns = min(count, _MOST_COLUMNS)
    rows = ceil(count / columns)
    width, height = _PANEL_INCHES if count == 1 else _SMALL_PANEL_INCHES
    figure = _figure(columns * width + _LEGEND_INCHES, rows * height + 0.3)
    alone = _on_their_own(chart)
    # One title for the whole row where it is wider than a panel.
    shared = columns > 1 and len(x_title(chart.axis)) > _SMALL_ROOM
    grid = figure.subplots(rows, columns, sharey=not alone, squeeze=False)
    for place, axes in enumerate(grid.flat):
        if place >= count:
            axes.remove()
            continue
        _draw_panel(axes, chart, chart.panels[place])
        shown = [chart.panels[place]] if alone else chart.panels
        set_y_axis(axes, chart, _values(shown))
        if place + columns >= count and not shared:
            axes.set_xlabel(x_title(chart.axis))
        if place % columns == 0:
            axes.set_ylabel(y_title(chart.measure, _equivalent(chart)))
    if shared:
        figure.supxlabel(x_title(chart.axis), fontsize=8.5)
    figure.suptitle(chart.subtitle, x=0.02, ha="left", fontsize=8.5, color="#444444")
    _legend(figure, chart)
    return figure


def _figure(width: float, height: float) -> Any:  # noqa: ANN401
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def _draw_panel(axes: Any, chart: Chart, panel: Panel) -> None:  # noqa: ANN401
    everywhere = [s.x for each in chart.panels for line in each.series for s in line.samples]
    room = _ROOM if len(chart.panels) == 1 else _SMALL_ROOM
    place = set_x_axis(axes, chart.axis, everywhere, room)
    axes.grid(axis="y", which="major", color="#DDDDDD", linewidth=0.6)
    if panel.title:
        axes.set_title(panel.title, loc="left")
    for line in panel.series:
        colour, marker = style_of(line.algorithm)
        across = [place(sample.x) for sample in line.samples]
        bounds = [sample.bound for sample in line.samples]
        axes.plot(
            across, bounds, color=colour, linestyle=(0, (4, 2)), linewidth=0.8, alpha=0.8, zorder=2
        )
        axes.plot(
            across,
            [sample.value for sample in line.samples],
            color=colour,
            linestyle=VARIANT_LINES[line.variant % len(VARIANT_LINES)],
            marker=marker,
            markerfacecolor=marker_fill(colour, line.variant),
            zorder=3 + (line.algorithm == "in_network"),
        )


def _legend(figure: Any, chart: Chart) -> None:  # noqa: ANN401
    """Tell algorithms by colour and marker, variants, if there are several, by their lines."""
    from matplotlib.lines import Line2D

    lines = _distinct_lines(chart)
    handles = []
    for algorithm in dict.fromkeys(line.algorithm for line in lines):
        colour, marker = style_of(algorithm)
        handles.append(Line2D([], [], color=colour, marker=marker, label=label_of(algorithm)))
    for variant, name in sorted({(line.variant, line.name) for line in lines if line.name}):
        handles.append(
            Line2D(
                [],
                [],
                color="#555555",
                marker="o",
                markerfacecolor=marker_fill("#555555", variant),
                linestyle=VARIANT_LINES[variant % len(VARIANT_LINES)],
                label=name,
            )
        )
    handles.append(
        Line2D([], [], color="#555555", linestyle=(0, (4, 2)), linewidth=0.8, label=_bound(chart))
    )
    figure.legend(handles=handles, loc="outside right upper", frameon=False, handlelength=2.4)


def _bound(chart: Chart) -> str:
    return "lower bound" if chart.measure == "time" else "upper bound"


def _distinct_lines(chart: Chart) -> list[Series]:
    lines = {(s.algorithm, s.name): s for panel in chart.panels for s in panel.series}
    return list(lines.values())


def _bar_figure(chart: Chart) -> Any:  # noqa: ANN401
    panel = chart.panels[0]
    figure = _figure(6.3, 0.75 + 0.27 * len(panel.series))
    axes = figure.subplots()
    widest = max(_values(chart.panels), default=0.0) or 1.0
    for row, line in enumerate(panel.series):
        sample = line.samples[-1]
        colour, _ = style_of(line.algorithm)
        axes.barh(row, sample.value, height=0.62, color=colour, alpha=0.85)
        axes.plot(
            [sample.bound] * 2, [row - 0.42, row + 0.42], color="black", linewidth=1.1, zorder=4
        )
        end = max(sample.value, sample.bound) + 0.012 * widest
        axes.text(end, row, y_label(sample.value, chart.measure), va="center", fontsize=8)
    labels = [label_of(line.algorithm, line.name) for line in panel.series]
    axes.set_yticks(range(len(labels)), labels)
    axes.invert_yaxis()
    axes.set_xlim(0, widest * 1.14)
    axes.xaxis.set_major_formatter(lambda value, _: y_label(value, chart.measure))
    axes.set_xlabel(f"{y_title(chart.measure, _equivalent(chart))} (black stroke: {_bound(chart)})")
    axes.set_title(chart.subtitle, loc="left", color="#444444")
    axes.tick_params(axis="y", length=0)
    return figure


def _on_their_own(chart: Chart) -> bool:
    """Say whether panels need y axes of their own: rates, from 0, would be lost in a common one."""
    tops = [max(_values([panel]), default=0.0) for panel in chart.panels]
    return chart.measure != "time" and 4 * min(tops) < max(tops)


def _values(panels: Sequence[Panel]) -> Sequence[float]:
    samples = [s for panel in panels for line in panel.series for s in line.samples]
    return [value for sample in samples for value in (sample.value, sample.bound) if value > 0]


def _equivalent(chart: Chart) -> bool:
    return any(line.algorithm == "in_network" for line in _distinct_lines(chart))
