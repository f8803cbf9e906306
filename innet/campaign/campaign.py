"""Run every algorithm at every point of a scenario, in order, and collect what came out.

A point's results depend on its scenario and seed only, so a point that stands in a sweep several
times (the equal layers of a model) is run once. The collection grows run by run, so that what is
finished is not lost when the work is interrupted.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from innet.campaign.kinds import AnyResults, FinishedPoint, Summary, kind_of
from innet.campaign.runs import Runner, runner_of
from innet.engine.progress import Reached, Report
from innet.engine.simulate import Engine, Note
from innet.errors import UnfinishedError
from innet.metrics.rows import Row
from innet.report.numbers import short_parameter
from innet.report.results import Unfinished
from innet.scenario.load import Point, expand
from innet.scenario.schema import Scenario
from innet.trace.spans_file import StoredSpan, spans_file


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the work is: a share from 0 to 1, and what is being run.

    `reached_ps` is the simulated time that the run has reached, None where none is simulated.
    """

    done: float
    doing: str
    reached_ps: int | None = None


class Failure(NamedTuple):
    """A wrong sum or an unfinished run: the algorithm, where it ran, and what to say of it."""

    algorithm: str
    swept: str
    told: str

    @property
    def message(self) -> str:
        """The whole message."""
        return run_name(self.algorithm, self.swept) + self.told


@dataclass(slots=True)
class _PointInWork:
    point: Point
    runs: list[Summary] = field(default_factory=list)
    unfinished: list[Unfinished] = field(default_factory=list)
    rows: dict[str, list[Row]] = field(default_factory=dict)
    spans: list[StoredSpan] = field(default_factory=list)


class Campaign:
    """The runs of a scenario. `failed` are its wrong sums and unfinished runs.

    `note` is told what a user should know of the engine.
    """

    def __init__(
        self,
        scenario: Scenario,
        report: Callable[[Progress], None],
        engine: Engine = "auto",
        note: Note | None = None,
    ) -> None:
        self._scenario, self.kind = scenario, kind_of(scenario)
        self._points = expand(scenario)
        self._report = report
        self._engine, self._note = engine, note
        self._in_work: list[_PointInWork] = []
        self._todo = sum(work_of(point.scenario) for point in self._points)
        self._done = 0
        self._finished: dict[str, _PointInWork] = {}
        self.failed: list[Failure] = []

    @property
    def results(self) -> AnyResults:
        """What is finished so far; a point that nothing is known of is left out."""
        points = [
            FinishedPoint(work.point.parameters, work.runs, work.unfinished)
            for work in self._in_work
            if work.runs or work.unfinished
        ]
        return self.kind.results(self._scenario.name, points)

    @property
    def rows(self) -> dict[str, list[Row]]:
        """The rows of each CSV file, by its name, of what is finished so far."""
        return {
            name: [row for work in self._in_work for row in work.rows.get(name, ())]
            for name in self.kind.tables
        }

    @property
    def spans(self) -> bytes:
        """The file of the spans at a scenario's only point; empty where there are none."""
        spans = [span for work in self._in_work for span in work.spans]
        return spans_file(spans) if spans else b""

    @property
    def failures(self) -> list[str]:
        """A message on every wrong sum and unfinished run."""
        return [failure.message for failure in self.failed]

    def run(self) -> None:
        """Run all points in order.

        Raises ConfigurationError for tensor files that do not fit. A run that cannot finish is
        noted in `failed` and the next one starts.
        """
        for point in self._points:
            work = _PointInWork(point)
            self._in_work.append(work)
            settings = json.dumps(point.scenario.resolved())
            if settings in self._finished:
                self._repeat_point(work, self._finished[settings])
            else:
                self._run_point(work)
                self._finished[settings] = work
            self._done += work_of(point.scenario)

    def _repeat_point(self, work: _PointInWork, earlier: _PointInWork) -> None:
        work.runs, work.unfinished, work.rows = earlier.runs, earlier.unfinished, earlier.rows

    def _run_point(self, work: _PointInWork) -> None:
        scenario = work.point.scenario
        runner = runner_of(scenario, self._engine, self._note)
        share = work_of(scenario) / len(scenario.algorithms) / self._todo
        for place, algorithm in enumerate(scenario.algorithms):
            before = self._done / self._todo + place * share
            doing = run_name(algorithm, swept_text(work.point.parameters))
            self._report(Progress(before, doing))
            try:
                self._run_one(work, algorithm, runner, _scaled(self._report, before, share, doing))
            except UnfinishedError as error:
                work.unfinished.append(Unfinished(algorithm, str(error)))
                told = f" cannot finish: {error}"
                self.failed.append(Failure(algorithm, swept_text(work.point.parameters), told))

    def _run_one(
        self,
        work: _PointInWork,
        algorithm: str,
        runner: Runner,
        progress: Report,
    ) -> None:
        ran = runner.run(algorithm, progress)
        if ran.wrong:
            swept = swept_text(work.point.parameters)
            self.failed.append(Failure(algorithm, swept, f": {ran.wrong}"))
        work.runs.append(ran.summary)
        work.spans += ran.spans if len(self._points) == 1 else ()
        parameters = swept_columns(work.point.parameters)
        for name, rows in ran.rows.items():
            work.rows.setdefault(name, []).extend({**parameters, **row} for row in rows)


def swept_columns(parameters: Mapping[str, object]) -> dict[str, str]:
    """Return the swept keys with their values as rows of a CSV file show them."""
    return {key: short_parameter(value) for key, value in parameters.items()}


def swept_text(parameters: Mapping[str, object]) -> str:
    """Return a point's swept keys with their values, `key=value, ...`; may be empty."""
    return ", ".join(f"{key}={value}" for key, value in swept_columns(parameters).items())


def run_name(algorithm: str, swept: str) -> str:
    """Return what a run of an algorithm is called at a point."""
    return f"{algorithm} at {swept}" if swept else algorithm


def output_folder(scenario: Scenario, out: Path) -> Path:
    """Return the run directory of a scenario below `out`."""
    return out / scenario.name


def work_of(scenario: Scenario) -> int:
    """Return the work of a point in arbitrary units, at least 1; it only weighs the progress."""
    if scenario.training is not None:
        return len(scenario.algorithms)
    elements = scenario.collective.elements or 2**20
    return (elements + 1) * scenario.topology.workers * len(scenario.algorithms)


def _scaled(report: Callable[[Progress], None], before: float, share: float, doing: str) -> Report:
    def scaled(reached: Reached) -> None:
        report(Progress(before + share * reached.share, doing, reached.at_ps))

    return scaled
