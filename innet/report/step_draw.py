"""Draw run directories of training steps into files; which charts, and what they are called."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

from innet.errors import ConfigurationError
from innet.files import write_whole
from innet.metrics.step_timeline import Timeline, timelines_of
from innet.report.files import PLOTS
from innet.report.plot import plot_format, rendered
from innet.report.step_charts import gain_chart, shared_runs
from innet.report.step_plots import gain_figure, shares_figure
from innet.report.step_results import (
    SPANS,
    StoredSteps,
    algorithm_of,
    read_spans_of,
    read_step_run,
)
from innet.report.step_timeline_plot import timeline_figure
from innet.report.swept import axis_name

StepChart = Literal["auto", "gain", "shares", "timeline"]


def draw_step_folders(
    folders: Sequence[Path],
    chart: StepChart,
    x: str = "auto",
    algorithm: str | None = None,
    out: Path | None = None,
) -> Path:
    """Draw run directories and return the file, by default in the first one's plots/.

    `auto` is the gain of several directories or of a sweep, else the shares of the steps. `x` is
    of the gain, `algorithm` of the timeline alone. Raises ConfigurationError for a folder
    that holds no training run, a chart that it has no data for, or an unwritable file.
    """
    if out is not None:
        plot_format(out)
    runs = [read_step_run(folder) for folder in folders]
    if chart == "auto":
        chart = "gain" if len(runs) > 1 or len(runs[0].results.points) > 1 else "shares"
    if chart == "timeline":
        return draw_timeline(runs, algorithm, out)
    if algorithm is not None:
        raise ConfigurationError(f"--algorithm {algorithm}: of --chart timeline alone")
    if chart == "gain":
        return draw_gain(runs, x, out)
    return draw_shares(runs, out)


def draw_finished(run: StoredSteps) -> list[Path]:
    """Draw what `innet run` leaves: gains of a sweep, or shares and timeline of one point."""
    if len(run.results.points) > 1:
        gains = any(point.gain for point in run.results.points)
        return [draw_gain([run], "auto")] if gains else []
    return [draw_shares([run]), draw_timeline([run])]


def draw_gain(runs: Sequence[StoredSteps], x: str, out: Path | None = None) -> Path:
    """Draw gains, as `gain_chart` chooses them."""
    chart = gain_chart(runs, x)
    against = axis_name(chart.axis)
    name = "gain" if against is None else f"gain_against_{against}"
    return _drawn(runs[0], name, lambda: gain_figure(chart), out)


def draw_shares(runs: Sequence[StoredSteps], out: Path | None = None) -> Path:
    """Draw how every step is spent."""
    steps = shared_runs(runs)
    title = runs[0].results.name if len(runs) == 1 else ""
    return _drawn(runs[0], "shares", lambda: shares_figure(steps, title), out)


def draw_timeline(
    runs: Sequence[StoredSteps], algorithm: str | None = None, out: Path | None = None
) -> Path:
    """Draw the timeline of an algorithm, by default of in_network above the best of the others."""
    if len(runs) > 1:
        raise ConfigurationError("--chart timeline: draws one run directory at a time")
    (run,) = runs
    timelines = _timelines(run, algorithm)
    name = "timeline" if algorithm is None else f"timeline_{algorithm}"
    return _drawn(run, name, lambda: timeline_figure(timelines, run.results.name), out)


def _timelines(run: StoredSteps, algorithm: str | None) -> list[Timeline]:
    chosen = [algorithm_of(run, algorithm)]
    content = read_spans_of(run)
    gain = run.results.points[0].gain
    if algorithm is None and gain is not None:
        chosen.append(gain.over)
    try:
        found = timelines_of(content, chosen)
    except ValueError as error:
        raise ConfigurationError(
            f"{error}; run the scenario again", file=str(run.folder / SPANS)
        ) from None
    if not any(timeline.lanes for timeline in found):
        raise ConfigurationError("no rank did anything, so there is no timeline to draw")
    return found


def _drawn(run: StoredSteps, name: str, make_figure: Callable[[], Any], out: Path | None) -> Path:
    path = run.folder / PLOTS / f"{name}.svg" if out is None else out
    write_whole(path, rendered(make_figure, plot_format(path)))
    return path
