"""The table of a scenario's results, after that of nccl-tests.

Every point has a line with size, count, type, redop and the swept values, and below it a line an
algorithm. Widths are decided over all points, so columns stay in place; lines are never wrapped
or cut; colours are for terminals.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.text import Text

from innet.metrics.figures import OPERATION, RunSummary
from innet.report.columns import GAP, Cells, aligned, widths_of
from innet.report.notes import notes
from innet.report.numbers import (
    exact_size,
    gigabytes_per_second,
    over_bound,
    short_bytes,
    short_duration,
    short_parameter,
)
from innet.report.results import PointResult, Results

_POINT_HEADS = ("size", "count", "type", "redop", "workers")
_RUN_HEADS = (
    ("algorithm", ""),
    ("time", ""),
    ("algbw", "GB/s"),
    ("busbw", "GB/s"),
    ("#wrong", ""),
    ("wire/NIC", ""),
    ("resent", ""),
    ("bound", ""),
    ("over", ""),
    ("limited by", ""),
)
_LEFT_ALIGNED = (0, len(_RUN_HEADS) - 1)
_SHOWN_ANYWAY = ("collective.size", "collective.dtype", "topology.workers")
_REDUCTIONS = {OPERATION: "sum"}


def table_lines(results: Results, scenario: Mapping[str, Any]) -> list[Text]:
    """Return the table and its notes, a Text a line; `scenario` is the resolved scenario."""
    lines = [Text(f"# {results.name}: {OPERATION}, {_extent(results)}", "bold")]
    lines += _body(results, scenario)
    found = notes(results, scenario)
    if found:
        lines += [Text(), *(Text(f"# {note}", "dim") for note in found)]
    return lines


def _extent(results: Results) -> str:
    points, runs = len(results.points), sum(len(point.runs) for point in results.points)
    engines = sorted({run.engine for point in results.points for run in point.runs})
    told = f"{points} point{'s' * (points != 1)}, {runs} run{'s' * (runs != 1)}"
    return f"{told}, {' and '.join(engines)} engine" if engines else told


def _body(results: Results, scenario: Mapping[str, Any]) -> Iterator[Text]:
    swept = dict.fromkeys(key for point in results.points for key in point.parameters)
    parameters = tuple(key for key in swept if key not in _SHOWN_ANYWAY)
    point_rows = [_point_cells(point, parameters, scenario) for point in results.points]
    run_rows = [[_run_cells(run) for run in point.runs] for point in results.points]
    point_heads = (*_POINT_HEADS, *parameters)
    point_widths = widths_of([point_heads, *point_rows])
    heads = [tuple(head for head, _ in _RUN_HEADS), tuple(unit for _, unit in _RUN_HEADS)]
    run_widths = widths_of([*heads, *(cells for rows in run_rows for cells in rows)])
    yield Text(aligned(point_heads, point_widths), "bold")
    for head in heads:
        yield Text("  " + aligned(head, run_widths, _LEFT_ALIGNED), "bold")
    for point, cells, rows in zip(results.points, point_rows, run_rows, strict=True):
        yield Text(aligned(cells, point_widths), "cyan")
        for run, row in zip(point.runs, rows, strict=True):
            yield Text("  " + aligned(row, run_widths, _LEFT_ALIGNED), "red" if run.wrong else "")
        for missing in point.unfinished:
            told = missing.message.partition("\n")[0]
            yield Text(f"  {missing.algorithm}{GAP}did not finish: {told}", "red")


def _point_cells(
    point: PointResult, parameters: Sequence[str], scenario: Mapping[str, Any]
) -> Cells:
    swept = [short_parameter(point.parameters.get(key, "-")) for key in parameters]
    if not point.runs:
        # Nothing finished, so the scenario's own words are all that is known.
        size, dtype, workers = (_told(point, scenario, key) for key in _SHOWN_ANYWAY)
        return (size, "-", dtype, _REDUCTIONS[OPERATION], workers, *swept)
    run = point.runs[0]
    size, count = exact_size(run.size_bytes), str(run.elements)
    return (size, count, run.dtype, _REDUCTIONS[OPERATION], str(run.workers), *swept)


def _told(point: PointResult, scenario: Mapping[str, Any], key: str) -> str:
    section, _, name = key.partition(".")
    return str(point.parameters.get(key, scenario.get(section, {}).get(name, "-")))


def _run_cells(run: RunSummary) -> Cells:
    return (
        run.algorithm,
        short_duration(run.time_ps),
        gigabytes_per_second(run.algbw_bps),
        gigabytes_per_second(run.busbw_bps) + ("*" if run.busbw_equivalent else " "),
        str(run.wrong) if run.checked else "-",
        short_bytes(run.wire_bytes_per_nic),
        str(run.retransmissions),
        short_duration(run.bound_ps),
        over_bound(run.time_ps, run.bound_ps),
        run.limited_by,
    )
