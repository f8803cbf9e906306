"""The two kinds of scenarios, of a collective and of a training step: what their results are."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from innet.metrics.figures import RunSummary
from innet.metrics.rows import Row
from innet.metrics.step_figures import StepSummary
from innet.report.draw import draw_stored
from innet.report.files import write_run
from innet.report.results import PointResult, Results, StoredRun, Unfinished
from innet.report.step_draw import draw_finished
from innet.report.step_results import SPANS, StepPoint, StepResults, StoredSteps
from innet.report.step_table import step_table_lines
from innet.report.table import table_lines
from innet.scenario.schema import Scenario

Tables = Mapping[str, Sequence[Row]]
Summary = RunSummary | StepSummary
AnyResults = Results | StepResults


class FinishedPoint(NamedTuple):
    """A point's swept keys, and what is finished of it."""

    parameters: Mapping[str, object]
    runs: Sequence[Summary]
    unfinished: Sequence[Unfinished]


@dataclass(frozen=True, slots=True)
class Kind:
    """What the results of a kind of scenario are.

    `tables` names the CSV files of a run directory; `write` writes it, with a file of spans
    where it is not empty. `lines` makes the table from results and the resolved scenario, `draw`
    the plots from a run directory, its manifest and results.
    """

    tables: tuple[str, ...]
    results: Callable[[str, Sequence[FinishedPoint]], AnyResults]
    write: Callable[[Path, Mapping[str, Any], Any, Tables, bytes], None]
    lines: Callable[[Any, Mapping[str, Any]], list[Any]]
    draw: Callable[[Path, Mapping[str, Any], Any], list[Path]]


def kind_of(scenario: Scenario) -> Kind:
    """Return the kind of a scenario."""
    return COLLECTIVE if scenario.training is None else TRAINING


def _collective_results(name: str, points: Sequence[FinishedPoint]) -> Results:
    return Results(
        name,
        tuple(
            PointResult(
                point.parameters,
                tuple(run for run in point.runs if isinstance(run, RunSummary)),
                tuple(point.unfinished),
            )
            for point in points
        ),
    )


def _step_results(name: str, points: Sequence[FinishedPoint]) -> StepResults:
    return StepResults(
        name,
        tuple(
            StepPoint(
                point.parameters,
                tuple(run for run in point.runs if isinstance(run, StepSummary)),
                tuple(point.unfinished),
            )
            for point in points
        ),
    )


def _write_collective(
    folder: Path,
    manifest: Mapping[str, Any],
    results: Results,
    tables: Tables,
    _: bytes,
) -> None:
    write_run(folder, manifest, results.as_stored(), tables)


def _write_steps(
    folder: Path,
    manifest: Mapping[str, Any],
    results: StepResults,
    tables: Tables,
    spans: bytes,
) -> None:
    write_run(folder, manifest, results.as_json(), tables, {SPANS: spans})


def _draw_collective(folder: Path, manifest: Mapping[str, Any], results: Results) -> list[Path]:
    return [draw_stored([StoredRun(folder, manifest, results)], "auto", "time")]


def _draw_steps(folder: Path, manifest: Mapping[str, Any], results: StepResults) -> list[Path]:
    return draw_finished(StoredSteps(folder, manifest, results))


COLLECTIVE = Kind(
    ("workers", "links"),
    _collective_results,
    _write_collective,
    table_lines,
    _draw_collective,
)
TRAINING = Kind(
    ("ranks", "operations", "links"),
    _step_results,
    _write_steps,
    step_table_lines,
    _draw_steps,
)
