"""Say in sentences what limited each training step and what would help."""

from collections.abc import Iterator

from rich.text import Text

from innet.errors import ConfigurationError
from innet.metrics.step_figures import IN_NETWORK, OpenTimes, StepSummary
from innet.metrics.step_gain import offloading_losses
from innet.report.numbers import short_bytes, short_duration
from innet.report.step_results import StepPoint, StepResults
from innet.report.step_table import (
    dropped_text,
    free_network_text,
    gain_text,
    loss_text,
    point_title,
)

_INDENT = "    "
_MOST_OPERATIONS = 3


def explain_step_lines(results: StepResults) -> Iterator[Text]:
    """Yield the explanation of every step, a Text a line.

    Raises ConfigurationError when there is nothing to explain.
    """
    if not results.points:
        raise ConfigurationError("no run has finished there, so there is nothing to explain")
    for point in results.points:
        swept = point_title(point)
        yield Text(f"{results.name} at {swept}" if swept else results.name, "bold")
        for run in point.runs:
            yield from _run_lines(run)
        for missing in point.unfinished:
            yield Text(f"  {missing.algorithm} did not finish", "red")
            yield Text(f"{_INDENT}{missing.message}")
        yield from _comparison(point)


def _run_lines(run: StepSummary) -> Iterator[Text]:
    step = short_duration(run.step_ps)
    yield Text(f"  {run.algorithm}: {step} a step, limited by {run.limited_by}")
    yield Text(f"{_INDENT}why:   {run.because}")
    yield Text(f"{_INDENT}helps: {run.help}")
    costly = sorted(run.operations, key=lambda each: -each.slowest.exposed_ps)
    for each in costly[:_MOST_OPERATIONS]:
        if each.slowest.exposed_ps:
            yield Text(f"{_INDENT}{each.name}: {_spent(each.slowest, run)}")
    if run.dropped:
        yield Text(f"{_INDENT}{dropped_text(run)}")
    if run.algorithm == IN_NETWORK:
        for each in run.operations:
            if not each.offloaded:
                size = short_bytes(each.size_bytes)
                yield Text(f"{_INDENT}not in the network: {each.name} ({size}): {each.why}")


def _spent(times: OpenTimes, run: StepSummary) -> str:
    told = [f"exposed {_part(times.exposed_ps, run)}"]
    if times.waiting_ps:
        told.append(f"of which waiting {_part(times.waiting_ps, run)}")
    told.append(f"hidden {_part(times.hidden_ps, run)}")
    return f"{', '.join(told)} at rank {run.slowest_rank}"


def _part(part_ps: int, run: StepSummary) -> str:
    share = f" ({100 * part_ps / run.step_ps:.3g} %)" if part_ps else ""
    return f"{short_duration(part_ps, 4)}{share}"


def _comparison(point: StepPoint) -> Iterator[Text]:
    if point.gain is not None:
        yield Text(f"  {gain_text(point.gain)}")
    for loss in offloading_losses(point.runs):
        yield Text(f"  {loss_text(loss)}")
    if point.runs:
        yield Text(f"  {free_network_text(point.runs)}")
