"""Say in sentences what limited each run and what would help."""

from collections.abc import Iterator

from rich.text import Text

from innet.errors import ConfigurationError
from innet.metrics.figures import RunSummary
from innet.report.numbers import over_bound, short_duration, short_parameter
from innet.report.results import PointResult, Results

_INDENT = "    "


def explain_lines(results: Results) -> Iterator[Text]:
    """Yield the explanation of every run, a Text a line.

    Raises ConfigurationError when there is nothing to explain.
    """
    if not results.points:
        raise ConfigurationError("no run has finished there, so there is nothing to explain")
    for point in results.points:
        yield Text(_point_title(results.name, point), "bold")
        for run in point.runs:
            yield from _run_lines(run)
        for missing in point.unfinished:
            yield Text(f"  {missing.algorithm} did not finish", "red")
            yield Text(f"{_INDENT}{missing.message}")
        yield from _comparison(point)


def _point_title(name: str, point: PointResult) -> str:
    swept = ", ".join(f"{key}={short_parameter(value)}" for key, value in point.parameters.items())
    return f"{name} at {swept}" if swept else name


def _run_lines(run: RunSummary) -> Iterator[Text]:
    over = over_bound(run.time_ps, run.bound_ps)
    yield Text(
        f"  {run.algorithm}: {short_duration(run.time_ps)}, {over} over its lower bound of "
        f"{short_duration(run.bound_ps)}, limited by {run.limited_by}"
    )
    yield Text(f"{_INDENT}why:   {run.because}")
    yield Text(f"{_INDENT}helps: {run.help}")
    if run.wrong:
        yield Text(f"{_INDENT}wrong: {run.wrong} elements differ from the exact sum", "red")


def _comparison(point: PointResult) -> Iterator[Text]:
    """Yield how the fastest run compares with the next one."""
    ranked = sorted(point.runs, key=lambda run: run.time_ps)
    if len(ranked) > 1 and ranked[0].time_ps:
        first, second = ranked[0], ranked[1]
        gain = second.time_ps / first.time_ps
        yield Text(f"  fastest: {first.algorithm}, {gain:.3g} times as fast as {second.algorithm}")
