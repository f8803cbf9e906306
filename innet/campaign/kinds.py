"""The two kinds of scenarios, of a collective and of a training step: what their results are."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from rich.text import Text

from innet.metrics.figures import RunSummary
from innet.metrics.step_figures import StepSummary
from innet.report.draw import draw_stored
from innet.report.numbers import short_duration
from innet.report.results import PointResult, Results, StoredRun, Unfinished
from innet.report.step_results import StepPoint, StepResults
from innet.report.table import table_lines
from innet.scenario.schema import Scenario

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

    `tables` names the CSV files of a run directory, `stored` makes the object of summary.json.
    `lines` makes the table from results and the resolved scenario, `draw` the plots from a run
    directory, its manifest and results.
    """

    tables: tuple[str, ...]
    results: Callable[[str, Sequence[FinishedPoint]], AnyResults]
    stored: Callable[[Any], dict[str, Any]]
    lines: Callable[[Any, Mapping[str, Any]], list[Text]]
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


def _draw_collective(folder: Path, manifest: Mapping[str, Any], results: Results) -> list[Path]:
    return [draw_stored([StoredRun(folder, manifest, results)], "auto", "time")]


def _draw_steps(folder: Path, manifest: Mapping[str, Any], results: StepResults) -> list[Path]:
    return []


def _step_lines(results: StepResults, _: Mapping[str, Any]) -> list[Text]:
    lines = [Text(f"# {results.name}: training step", "bold")]
    for point in results.points:
        lines.append(Text(", ".join(f"{key}={value}" for key, value in point.parameters.items())))
        for run in point.runs:
            time = short_duration(run.step_ps)
            lines.append(Text(f"  {run.algorithm:20}  {run.engine:10}  {time}"))
        if point.gain is not None:
            lines.append(Text(f"  gain over {point.gain.over}: {point.gain.gain:.3g}"))
    return lines


COLLECTIVE = Kind(
    ("workers", "links"),
    _collective_results,
    Results.as_stored,
    table_lines,
    _draw_collective,
)
TRAINING = Kind(
    ("ranks", "operations", "links"),
    _step_results,
    StepResults.as_json,
    _step_lines,
    _draw_steps,
)
