"""The table of training steps: how each algorithm's step was spent, and by which operations.

Every point has a line with the swept values; under it stands a line an algorithm with the mean
over ranks and one with the rank that ended last, or one for all where these are the same, then
the gain. A single point's operations follow, and its bytes by class of links.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.text import Text

from innet.metrics.step_figures import (
    IN_NETWORK,
    OpenTimes,
    OperationFigures,
    RankTimes,
    StepSummary,
)
from innet.metrics.step_gain import Gain, OffloadingLoss, offloading_losses
from innet.report.columns import GAP, Cells, aligned, widths_of
from innet.report.numbers import short_bytes, short_duration, short_parameter
from innet.report.step_results import StepPoint, StepResults
from innet.units import noun_for

_DIGITS = 4
_RUN_HEADS = (
    "algorithm",
    "step",
    "of",
    "compute",
    "exposed",
    "waiting",
    "hidden",
    "idle",
    "limited by",
)
_RUN_LEFT = (0, 2, len(_RUN_HEADS) - 1)
_OPERATION_HEADS = (
    "algorithm",
    "operation",
    "over",
    "ran as",
    "calls",
    "bytes",
    "exposed",
    "waiting",
    "hidden",
)
_OPERATION_LEFT = (0, 1, 2, 3)


def step_table_lines(results: StepResults, scenario: Mapping[str, Any]) -> list[Text]:
    """Return the table and its notes, a Text a line; `scenario` is the resolved scenario."""
    lines = [Text(f"# {results.name}: {_subject(scenario)}, {_extent(results)}", "bold")]
    lines += _runs(results.points)
    if len(results.points) == 1 and results.points[0].runs:
        (point,) = results.points
        lines += [Text(), *_operations(point.runs), *_refusals(results.points)]
        lines += [Text(), *_links(point.runs)]
    else:
        lines += _refusals(results.points)
    if any(point.runs for point in results.points):
        more = _NOTES_OF_ONE_POINT if len(results.points) == 1 else ()
        lines += [Text(), *(Text(f"# {note}", "dim") for note in (*_NOTES, *more))]
    return lines


def gain_text(gain: Gain) -> str:
    """Say what in-network aggregation gains, or loses, over the best of the others."""
    if "1" in (f"{gain.gain:.4g}", f"{1 / gain.gain:.4g}"):
        told = f"no gain: {IN_NETWORK} takes as long as {gain.over}"
    elif gain.gain > 1:
        told = f"gain: {IN_NETWORK} is {gain.gain:.4g} times as fast as {gain.over}"
    else:
        told = f"loss: {IN_NETWORK} takes {1 / gain.gain:.4g} times as long as {gain.over}"
    told += (
        ", the only point-to-point algorithm here"
        if gain.among == 1
        else f", the best of {gain.among} point-to-point algorithms here"
    )
    return told if gain.offloaded else f"{told} (no switch took part in any operation)"


def loss_text(loss: OffloadingLoss) -> str:
    """Say that operations cost more in the network than point to point."""
    return (
        f"offloading {loss.name} loses: exposed {_duration(loss.in_network_ps)} in the network, "
        f"{_duration(loss.over_ps)} by {loss.over}"
    )


def free_network_text(runs: Sequence[StepSummary]) -> str:
    """Say how much faster than the fastest step any network could make it."""
    fastest = min(runs, key=lambda run: run.step_ps)
    if not fastest.bound_ps:
        return "no rank computes, so a network that took no time would end the step at once"
    return (
        f"a network that took no time would be {fastest.step_ps / fastest.bound_ps:.4g} times as "
        f"fast as {fastest.algorithm}, at the most: a rank computes "
        f"{_duration(fastest.bound_ps)}"
    )


def _subject(scenario: Mapping[str, Any]) -> str:
    training = scenario.get("training", {})
    axes = ", ".join(f"{axis} {length}" for axis, length in training.get("mesh", {}).items())
    model = training.get("model")
    told = f"training step of {model}" if isinstance(model, str) else "training step"
    return f"{told}, mesh {axes}" if axes else told


def _extent(results: StepResults) -> str:
    points, runs = len(results.points), sum(len(point.runs) for point in results.points)
    engines = sorted({run.engine for point in results.points for run in point.runs})
    told = f"{points} {noun_for(points, 'point')}, {runs} {noun_for(runs, 'run')}"
    return f"{told}, {' and '.join(engines)} engine" if engines else told


# --- how steps were spent -----------------------------------------------------------------


def _runs(points: Sequence[StepPoint]) -> Iterator[Text]:
    rows = [[row for run in point.runs for row in _run_rows(run)] for point in points]
    widths = widths_of([_RUN_HEADS, *(row for own in rows for row in own)])
    yield Text(GAP + aligned(_RUN_HEADS, widths, _RUN_LEFT), "bold")
    for point, own in zip(points, rows, strict=True):
        if point.parameters:
            yield Text(point_title(point), "cyan")
        for row in own:
            yield Text(GAP + aligned(row, widths, _RUN_LEFT))
        for missing in point.unfinished:
            told = missing.message.partition("\n")[0]
            yield Text(f"{GAP}{missing.algorithm}{GAP}did not finish: {told}", "red")
        if point.gain is not None:
            yield Text(GAP + gain_text(point.gain), "red" if point.gain.gain < 1 else "green")
        for loss in offloading_losses(point.runs):
            yield Text(GAP + loss_text(loss), "red")
        if point.runs and len(points) == 1:
            yield Text(GAP + free_network_text(point.runs))


def point_title(point: StepPoint) -> str:
    """Return a point's swept keys with their values; empty where nothing was swept."""
    return ", ".join(f"{key}={short_parameter(value)}" for key, value in point.parameters.items())


def _run_rows(run: StepSummary) -> Iterator[Cells]:
    step = _duration(run.step_ps)
    if run.mean == run.slowest:
        yield run.algorithm, step, _every(run.ranks), *_times(run.mean), run.limited_by
        return
    yield run.algorithm, step, "mean", *_times(run.mean), run.limited_by
    yield "", "", f"rank {run.slowest_rank}", *_times(run.slowest), ""


def _every(ranks: int) -> str:
    return "all ranks" if ranks > 1 else "rank 0"


def _times(times: RankTimes) -> tuple[str, ...]:
    each = (times.compute_ps, times.exposed_ps, times.waiting_ps, times.hidden_ps, times.idle_ps)
    return tuple(map(_duration, each))


def _duration(duration_ps: int) -> str:
    return short_duration(duration_ps, _DIGITS)


# --- operations and links -----------------------------------------------------------------


def _operations(runs: Sequence[StepSummary]) -> Iterator[Text]:
    rows = [row for run in runs for row in _operation_rows(run)]
    widths = widths_of([_OPERATION_HEADS, *rows])
    yield Text(GAP + aligned(_OPERATION_HEADS, widths, _OPERATION_LEFT), "bold")
    for row in rows:
        yield Text(GAP + aligned(row, widths, _OPERATION_LEFT))


def _operation_rows(run: StepSummary) -> Iterator[Cells]:
    for place, each in enumerate(run.operations):
        name = run.algorithm if place == 0 else ""
        size = short_bytes(each.size_bytes)
        yield name, *_ran(each), str(each.calls), size, *_open_times(each.mean)
    if not run.operations:
        yield run.algorithm, "none", *("",) * (len(_OPERATION_HEADS) - 2)


def _ran(each: OperationFigures) -> tuple[str, str, str]:
    return "send, recv" if each.operation == "send" else each.operation, each.axes, each.how


def _open_times(times: OpenTimes) -> tuple[str, str, str]:
    return _duration(times.exposed_ps), _duration(times.waiting_ps), _duration(times.hidden_ps)


def _refusals(points: Sequence[StepPoint]) -> Iterator[Text]:
    """Say why operations of the in-network step ran elsewhere, and how others were modelled."""
    told: dict[str, None] = {}
    for run in (run for point in points for run in point.runs):
        for each in run.operations:
            if run.algorithm == IN_NETWORK and not each.offloaded:
                told[f"{each.name} not in the network: {each.why}"] = None
            if each.modelled:
                told[f"{each.name} modelled by {each.modelled}"] = None
    yield from (Text(GAP + line) for line in told)


def _links(runs: Sequence[StepSummary]) -> Iterator[Text]:
    heads = ("algorithm", "links", "medium bytes", "busiest link", "busy")
    rows = [
        (
            run.algorithm if place == 0 else "",
            each.link_class,
            short_bytes(each.bytes),
            each.busiest,
            f"{100 * each.busiest_ps / run.step_ps:.1f} %" if run.step_ps else "-",
        )
        for run in runs
        for place, each in enumerate(run.link_classes)
    ]
    widths, left = widths_of([heads, *rows]), (0, 1, 3)
    yield Text(GAP + aligned(heads, widths, left), "bold")
    for row in rows:
        yield Text(GAP + aligned(row, widths, left))
    for run in runs:
        if run.dropped:
            yield Text(GAP + dropped_text(run))


def dropped_text(run: StepSummary) -> str:
    """Say how many packets of a step did not arrive whole."""
    packets = noun_for(run.dropped, "packet")
    return f"{run.algorithm}: {run.dropped} {packets} lost, dropped by a queue, or corrupted"


_NOTES = (
    "step: from time 0 until the last rank, and all that it began, is done; the rank named ends",
    "  last; compute + exposed + idle = step",
    "exposed: an operation is open and the rank does not compute; hidden: open under compute",
    "waiting: the part of exposed in which no open operation has all the ranks it needs yet (a",
    "  message: its sender), such as a pipeline's bubble or a straggler",
)
_NOTES_OF_ONE_POINT = (
    "operations: means over all ranks, each by its own spans, so that those at once count twice;",
    "  calls are operations, bytes their whole vectors",
    "medium bytes: headers and gaps too, all links of a class; busy: of the step",
)
