"""Draw run directories into files; where they go and what they are called."""

from collections.abc import Sequence
from pathlib import Path

from innet.report.files import PLOTS
from innet.report.plot import plot_format, write_plot
from innet.report.results import StoredRun, read_run
from innet.report.series import Chart, Measure, choose_chart
from innet.report.swept import axis_name


def draw_runs(
    folders: Sequence[Path],
    x: str,
    measure: Measure,
    out: Path | None = None,
    lines: str | None = None,
) -> Path:
    """Draw some run directories and return the file, by default in the first one's plots/.

    `x` and `lines` are keys as `choose_chart` takes them. Raises ConfigurationError for a
    folder that holds no run, a key that was not swept, or a file that cannot be written.
    """
    if out is not None:
        plot_format(out)
    runs = [read_run(folder) for folder in folders]
    return draw_stored(runs, x, measure, out, lines)


def draw_stored(
    runs: Sequence[StoredRun],
    x: str,
    measure: Measure,
    out: Path | None = None,
    lines: str | None = None,
) -> Path:
    """Draw runs that were read already; see `draw_runs`."""
    chart = choose_chart(runs, x, measure, lines)
    path = runs[0].folder / PLOTS / f"{_file_name(chart)}.svg" if out is None else out
    write_plot(chart, path)
    return path


def _file_name(chart: Chart) -> str:
    against = axis_name(chart.axis)
    return chart.measure if against is None else f"{chart.measure}_against_{against}"
