"""What `innet sweep` does: every point once, on many processes, kept as soon as it is finished.

A record a point lies below `points/` of the run directory, under the hash of what its results
depend on, so that a sweep that was stopped in any way goes on with what is left. At the end the
run directory holds what `innet run` of the same scenario leaves.
"""

from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from innet.campaign.campaign import Failure, output_folder, swept_columns, swept_text, work_of
from innet.campaign.execute import Outcome, Request, WorkInterruptedError, drawn, manifest_of
from innet.campaign.kinds import AnyResults, FinishedPoint, Kind, kind_of
from innet.campaign.sweep_point import Finished, Task, key_of
from innet.campaign.sweep_workers import run_on_cluster, run_on_cores
from innet.engine.simulate import Engine
from innet.metrics.rows import Row
from innet.report.files import prepare_folder
from innet.report.points import PointRecord, read_point, write_point
from innet.scenario.load import Point, expand, load_scenario
from innet.scenario.schema import Scenario

POINTS = "points"


@dataclass(frozen=True, slots=True)
class Crew:
    """Who runs the points: `jobs` processes of this machine, or a Dask cluster's workers."""

    jobs: int = 1
    cluster: str | None = None

    def run(self, tasks: Sequence[Task]) -> Iterator[Finished]:
        """Run tasks and give back their records as they are finished."""
        if self.cluster is not None:
            return run_on_cluster(tasks, self.cluster)
        return run_on_cores(tasks, self.jobs)


@dataclass(frozen=True, slots=True)
class SweepStatus:
    """How many different points are done, running, failed and left; `done` includes `kept`,
    those of an earlier sweep. `share` is of this sweep's work, from 0 to 1.
    """

    kept: int
    done: int
    running: int
    failed: int
    left: int
    share: float


@dataclass(slots=True)
class _Sweep:
    """The points of a scenario with their keys, and the records that are there."""

    scenario: Scenario
    folder: Path
    points: Sequence[Point]
    keys: Sequence[str]
    engine: Engine
    records: dict[str, PointRecord] = field(default_factory=dict)

    def read(self) -> None:
        """Take the records of an earlier sweep; those of points that failed are run again."""
        for key in dict.fromkeys(self.keys):
            record = read_point(self._path(key))
            if record is not None and record.error is None:
                self.records[key] = record

    def take(self, finished: Finished) -> None:
        """Keep a record, first of all on the disk."""
        write_point(self._path(finished.key), finished.record)
        self.records[finished.key] = finished.record

    def _path(self, key: str) -> Path:
        return self.folder / POINTS / f"{key}.json"

    def tasks(self) -> list[Task]:
        """Return the points without a record, each once, in order."""
        scenarios = {key: point.scenario for key, point in zip(self.keys, self.points, strict=True)}
        return [
            Task(key, it, self.engine, len(self.points) == 1)
            for key, it in scenarios.items()
            if key not in self.records
        ]

    def finished(self) -> Iterator[tuple[Mapping[str, object], PointRecord]]:
        """Yield the swept keys and the record of every point that has one, in order."""
        for key, point in zip(self.keys, self.points, strict=True):
            if key in self.records:
                yield point.parameters, self.records[key]

    @property
    def kind(self) -> Kind:
        """The kind of the scenario."""
        return kind_of(self.scenario)

    def results(self) -> AnyResults:
        """Return what is there of all points."""
        found = [
            FinishedPoint(parameters, record.runs, record.unfinished)
            for parameters, record in self.finished()
            if record.runs or record.unfinished
        ]
        return self.kind.results(self.scenario.name, found)

    def failures(self) -> list[str]:
        """Return a message on every point that failed, and on every run of one that did."""
        told: dict[str, list[str]] = {}
        for key, point in zip(self.keys, self.points, strict=True):
            record, swept = self.records.get(key), swept_text(point.parameters)
            if record is not None and key not in told:
                told[key] = [Failure(name, swept, why).message for name, why in record.failed]
                if record.error is not None:
                    told[key].append(f"{swept or self.scenario.name}: {record.error}")
        return [message for messages in told.values() for message in messages]

    @property
    def complete(self) -> bool:
        """Whether every run of every point is finished."""
        records = [self.records.get(key) for key in self.keys]
        return all(
            record is not None and record.error is None and not record.unfinished
            for record in records
        )

    def write(self, request: Request) -> dict[str, Any]:
        """Write the run directory; return its manifest."""
        manifest = manifest_of(request, self.scenario, self.complete)
        tables = {name: self._rows(name) for name in self.kind.tables}
        spans = [record.spans for record in self.records.values()] if len(self.points) == 1 else []
        self.kind.write(self.folder, manifest, self.results(), tables, b64decode("".join(spans)))
        return manifest

    def _rows(self, table: str) -> list[Row]:
        return [
            {**swept_columns(parameters), **row}
            for parameters, record in self.finished()
            for row in record.rows.get(table, ())
        ]


def sweep(request: Request, crew: Crew, report: Callable[[SweepStatus], None]) -> Outcome:
    """Run the points that are left and write the run directory, also when interrupted.

    Raises ConfigurationError before any work for a bad scenario or an unwritable directory,
    MissingToolError for a cluster without Dask, and WorkInterruptedError on Ctrl-C.
    """
    scenario = load_scenario(request.file, request.all_overrides)
    folder = output_folder(scenario, request.out)
    prepare_folder(folder)
    points = expand(scenario)
    keys = [key_of(point.scenario, request.engine) for point in points]
    work = _Sweep(scenario, folder, points, keys, request.engine)
    work.read()
    try:
        _run_left(work, crew, report)
    except KeyboardInterrupt:
        if work.records:
            work.write(request)
        told = f"{len(work.records)} finished points are kept in {folder / POINTS}"
        raise WorkInterruptedError(f"interrupted; {told}") from None
    manifest, results = work.write(request), work.results()
    files = [folder, *drawn(request, work.kind, folder, manifest, results)]
    return Outcome(work.kind, results, manifest, files, work.failures())


def _run_left(work: _Sweep, crew: Crew, report: Callable[[SweepStatus], None]) -> None:
    tasks = work.tasks()
    weights = {task.key: work_of(task.scenario) for task in tasks}
    kept, done, failed, worked = len(work.records), 0, 0, 0

    def tell() -> None:
        left = len(tasks) - done - failed
        running = left if crew.cluster is not None else min(left, crew.jobs)
        share = worked / max(1, sum(weights.values()))
        report(SweepStatus(kept, kept + done, running, failed, left - running, share))

    tell()
    for finished in crew.run(tasks) if tasks else ():
        work.take(finished)
        worked += weights[finished.key]
        done, failed = (done, failed + 1) if finished.record.error else (done + 1, failed)
        tell()
