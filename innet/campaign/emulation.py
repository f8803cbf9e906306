"""What `innet emulate` does, from the scenario file to the run directory."""

import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from innet.campaign.campaign import Progress
from innet.campaign.execute import WorkInterruptedError
from innet.campaign.hosts_file import read_hosts
from innet.campaign.store import build_manifest
from innet.campaign.values import Values, load_values, wrong_elements
from innet.emulator.attached import Attachment
from innet.emulator.emulate import Emulated, Emulation, Options
from innet.errors import UnfinishedError
from innet.files import write_whole
from innet.metrics.rows import Row, link_rows, worker_rows
from innet.metrics.traffic import packets_sent, retransmissions
from innet.report.emulation import EmulatedFigures, EmulatedPoint, EmulatedResults
from innet.report.files import csv_text, prepare_folder
from innet.report.numbers import short_parameter
from innet.report.results import json_text
from innet.scenario.build import build_plan
from innet.scenario.load import Point, expand, load_collective
from innet.scenario.schema import Scenario
from innet.wire.dtypes import ITEMSIZE

ALGORITHM = "in_network"
ATTACHED = "hosts"
"""What results call the network of a hosts file."""

CAPTURE = "capture"
# Columns that only a simulated clock can fill.
_SIMULATED = (
    "rate_bps",
    "busy_share",
    "busy_ps",
    "queue_dropped",
    "queued_ps",
    "window_stalled_ps",
    "cpu_busy_ps",
)


@dataclass(frozen=True, slots=True)
class EmulationRequest:
    """What to emulate: a scenario file, keys to override, where run directories go, and how.

    With a `hosts` file the workers are those hosts, and the switch is the one at `grpc`.
    """

    file: Path
    overrides: tuple[str, ...] = ()
    seed: int | None = None
    out: Path = Path("runs")
    target: str = "p4"
    network: str = "loopback"
    deadline_s: float = 30.0
    capture: bool = False
    hosts: Path | None = None
    grpc: str = ""
    device: int = 0

    @property
    def all_overrides(self) -> tuple[str, ...]:
        """The overrides with the seed as the last one."""
        return self.overrides if self.seed is None else (*self.overrides, f"seed={self.seed}")

    @property
    def command(self) -> str:
        """The command that does the same again."""
        words = ["innet", "emulate", str(self.file)]
        words += ["--target", self.target]
        if self.hosts is None:
            words += ["--net", self.network]
        else:
            words += ["--hosts", str(self.hosts), "--grpc", self.grpc]
            words += ["--device-id", str(self.device)]
        for override in self.all_overrides:
            words += ["--set", override]
        return shlex.join(words)


@dataclass(frozen=True, slots=True)
class EmulationOutcome:
    """What came out; `failures` are messages on wrong sums and runs that cannot finish."""

    results: EmulatedResults
    folder: Path
    failures: tuple[str, ...]


def emulate_scenario(
    request: EmulationRequest, report: Callable[[Progress], None]
) -> EmulationOutcome:
    """Emulate every point of a scenario in turn and write its run directory.

    Raises ConfigurationError before anything is started for what cannot be emulated, and
    MissingToolError where a tool or right is missing.
    """
    scenario = load_collective(request.file, request.all_overrides)
    if ALGORITHM not in scenario.algorithms:
        raise scenario.origin.error(
            ("algorithms",), f"only {ALGORITHM} is emulated; add it to the list"
        )
    folder = request.out / f"{scenario.name}-emulated"
    prepare_folder(folder)
    for old in folder.glob(f"{CAPTURE}*.pcapng"):
        old.unlink()
    work = _Work(request, folder, expand(scenario), report)
    try:
        for number in range(len(work.points)):
            work.run_point(number)
    except KeyboardInterrupt:
        if not work.done:
            raise WorkInterruptedError("interrupted; no run had finished") from None
        _store(folder, request, scenario, work)
        kept = f"{len(work.done)} of {len(work.points)} points kept in {folder}"
        raise WorkInterruptedError(f"interrupted; {kept}") from None
    results = _store(folder, request, scenario, work)
    return EmulationOutcome(results, folder, tuple(work.failures))


class _Work:
    """The points of a scenario on their way."""

    def __init__(
        self,
        request: EmulationRequest,
        folder: Path,
        points: tuple[Point, ...],
        report: Callable[[Progress], None],
    ) -> None:
        self.points = points
        self.done: list[EmulatedPoint] = []
        self.notes: list[str] = []
        self.failures: list[str] = []
        self.workers: list[Row] = []
        self.links: list[Row] = []
        self._request = request
        self._folder = folder
        self._report = report

    def run_point(self, number: int) -> None:
        """Emulate one point; one that cannot finish is noted in `failures`."""
        point = self.points[number]
        name = _name(point)
        values = load_values(_checked(point.scenario))
        assert values.tensors is not None
        plan = build_plan(point.scenario, ALGORITHM, True, values.elements)
        options = Options(
            self._request.target,
            self._request.network,
            self._request.deadline_s,
            self._capture_file(number),
            self._attachment(plan.workers),
        )

        def progress(share: float) -> None:
            self._report(Progress((number + share) / len(self.points), name))

        progress(0.0)
        try:
            with Emulation(plan, values.tensors, options) as emulation:
                emulated = emulation.run(progress)
        except UnfinishedError as error:
            self.failures.append(f"{name}: {error}")
            self.done.append(_point(point, values, None, str(error)))
            return
        self._keep(point, name, values, emulated)

    def _keep(self, point: Point, name: str, values: Values, emulated: Emulated) -> None:
        wrong, first = wrong_elements(values, emulated.plan, emulated.trace)
        if wrong:
            self.failures.append(f"{name}: {first}")
        plan, trace = emulated.plan, emulated.trace
        figures = EmulatedFigures(
            wrong,
            packets_sent(plan, trace),
            retransmissions(trace),
            emulated.dropped,
            emulated.wall_s,
        )
        self.done.append(_point(point, values, figures, ""))
        self.notes += emulated.notes
        parameters = {key: short_parameter(value) for key, value in point.parameters.items()}
        self.workers += [{**parameters, **_measured(row)} for row in worker_rows(plan, trace)]
        self.links += [{**parameters, **_measured(row)} for row in link_rows(plan, trace)]

    def _attachment(self, workers: int) -> Attachment | None:
        request = self._request
        if request.hosts is None:
            return None
        return Attachment(read_hosts(request.hosts, workers), request.grpc, request.device)

    def _capture_file(self, number: int) -> Path | None:
        if not self._request.capture:
            return None
        place = f"{number + 1}" if len(self.points) > 1 else ""
        return self._folder / f"{CAPTURE}{place}.pcapng"


def _checked(scenario: Scenario) -> Scenario:
    """The scenario with `check: always`: packets carry values here, so they can be checked."""
    collective = scenario.collective.model_copy(update={"check": "always"})
    checked = scenario.model_copy(update={"collective_": collective})
    checked.remember(scenario.origin, scenario.folder)
    return checked


def _name(point: Point) -> str:
    swept = ", ".join(f"{key}={short_parameter(value)}" for key, value in point.parameters.items())
    return f"{ALGORITHM} at {swept}" if swept else ALGORITHM


def _point(
    point: Point, values: Values, figures: EmulatedFigures | None, unfinished: str
) -> EmulatedPoint:
    dtype = point.scenario.collective.dtype
    return EmulatedPoint(
        point.parameters,
        point.scenario.topology.workers,
        values.elements * ITEMSIZE[dtype],
        values.elements,
        dtype,
        figures,
        unfinished,
    )


def _measured(row: Row) -> Row:
    return {name: value for name, value in row.items() if name not in _SIMULATED}


def _not_emulated(scenario: Scenario) -> Iterator[str]:
    others = [name for name in scenario.algorithms if name != ALGORITHM]
    if others:
        yield f"only {ALGORITHM} is emulated, not {', '.join(others)}"
    if scenario.collective.check == "never":
        yield "check: never has no meaning here: packets carry values, and they are checked"


def _store(
    folder: Path, request: EmulationRequest, scenario: Scenario, work: _Work
) -> EmulatedResults:
    results = EmulatedResults(
        scenario.name,
        request.target,
        request.network,
        tuple(work.done),
        (*dict.fromkeys(work.notes), *_not_emulated(scenario)),
    )
    finished = sum(not point.unfinished for point in results.points)
    complete = finished == len(work.points)
    manifest: Mapping[str, Any] = {
        **build_manifest(scenario, request.file, request.all_overrides, request.command, complete),
        "emulation": {
            "target": request.target,
            "net": request.network,
            "deadline_s": request.deadline_s,
            "notes": list(results.notes),
        },
    }
    write_whole(folder / "emulation.json", json_text(results.as_json()).encode())
    write_whole(folder / "workers.csv", csv_text(work.workers).encode())
    write_whole(folder / "links.csv", csv_text(work.links).encode())
    write_whole(folder / "manifest.json", json_text(manifest).encode())
    return results
