"""Run every algorithm at every point of a scenario, in order, and collect what came out.

A point's results depend on its scenario and seed only, so a point that stands in a sweep several
times (the equal layers of a model) is run once. The collection grows run by run, so that what is
finished is not lost when the work is interrupted.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from innet.campaign.values import Values, load_values, wrong_elements
from innet.engine.simulate import simulate
from innet.errors import UnfinishedError
from innet.metrics.figures import RunSummary
from innet.metrics.rows import Row, link_rows, worker_rows
from innet.metrics.summary import summarise
from innet.report.numbers import short_parameter
from innet.report.results import PointResult, Results, Unfinished
from innet.scenario.build import build_plan
from innet.scenario.load import Point, expand
from innet.scenario.schema import Scenario


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the work is: a share from 0 to 1, and what is being run."""

    done: float
    doing: str


@dataclass(slots=True)
class _PointInWork:
    point: Point
    runs: list[RunSummary] = field(default_factory=list)
    unfinished: list[Unfinished] = field(default_factory=list)
    workers: list[Row] = field(default_factory=list)
    links: list[Row] = field(default_factory=list)


class Campaign:
    """The runs of a scenario. `failures` are messages on wrong sums and unfinished runs."""

    def __init__(self, scenario: Scenario, report: Callable[[Progress], None]) -> None:
        self._scenario = scenario
        self._points = expand(scenario)
        self._report = report
        self._in_work: list[_PointInWork] = []
        self._todo = sum(_work(point.scenario) for point in self._points)
        self._done = 0
        self._finished: dict[str, _PointInWork] = {}
        self.failures: list[str] = []

    @property
    def results(self) -> Results:
        """What is finished so far; a point that nothing is known of is left out."""
        points = tuple(
            PointResult(work.point.parameters, tuple(work.runs), tuple(work.unfinished))
            for work in self._in_work
            if work.runs or work.unfinished
        )
        return Results(self._scenario.name, points)

    @property
    def workers(self) -> list[Row]:
        """The rows of workers.csv of what is finished so far."""
        return [row for work in self._in_work for row in work.workers]

    @property
    def links(self) -> list[Row]:
        """The rows of links.csv of what is finished so far."""
        return [row for work in self._in_work for row in work.links]

    def run(self) -> None:
        """Run all points in order.

        Raises ConfigurationError for tensor files that do not fit. A run that cannot finish is
        noted in `failures` and the next one starts.
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
            self._done += _work(point.scenario)

    def _repeat_point(self, work: _PointInWork, earlier: _PointInWork) -> None:
        work.runs, work.unfinished = earlier.runs, earlier.unfinished
        work.workers, work.links = earlier.workers, earlier.links

    def _run_point(self, work: _PointInWork) -> None:
        scenario = work.point.scenario
        values = load_values(scenario)
        share = _work(scenario) / len(scenario.algorithms) / self._todo
        for place, algorithm in enumerate(scenario.algorithms):
            before = self._done / self._todo + place * share
            doing = self._name(work.point, algorithm)
            self._report(Progress(before, doing))
            try:
                self._run_one(work, algorithm, values, _scaled(self._report, before, share, doing))
            except UnfinishedError as error:
                work.unfinished.append(Unfinished(algorithm, str(error)))
                self.failures.append(f"{doing} cannot finish: {error}")

    def _run_one(
        self,
        work: _PointInWork,
        algorithm: str,
        values: Values,
        progress: Callable[[float], None],
    ) -> None:
        scenario = work.point.scenario
        plan = build_plan(scenario, algorithm, values.carried, values.elements)
        trace = simulate(plan, values.tensors, progress)
        wrong, first = wrong_elements(values, plan, trace)
        if wrong:
            self.failures.append(f"{self._name(work.point, algorithm)}: {first}")
        work.runs.append(summarise(plan, trace, wrong, values.carried))
        parameters = dict(self._parameters(work.point))
        work.workers += [{**parameters, **row} for row in worker_rows(plan, trace)]
        work.links += [{**parameters, **row} for row in link_rows(plan, trace)]

    def _parameters(self, point: Point) -> Iterator[tuple[str, str]]:
        for key, value in point.parameters.items():
            yield key, short_parameter(value)

    def _name(self, point: Point, algorithm: str) -> str:
        swept = ", ".join(f"{key}={value}" for key, value in self._parameters(point))
        return f"{algorithm} at {swept}" if swept else algorithm


def output_folder(scenario: Scenario, out: Path) -> Path:
    """Return the run directory of a scenario below `out`."""
    return out / scenario.name


def _work(scenario: Scenario) -> int:
    """Return the work of a point in arbitrary units, at least 1; it only weighs the progress."""
    elements = scenario.collective.elements or 2**20
    return (elements + 1) * scenario.topology.workers * len(scenario.algorithms)


def _scaled(
    report: Callable[[Progress], None], before: float, share: float, doing: str
) -> Callable[[float], None]:
    def scaled(done: float) -> None:
        report(Progress(before + share * done, doing))

    return scaled
