"""What `innet run` does, from the scenario file to the run directory."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from innet.campaign.campaign import Campaign, Progress, output_folder
from innet.campaign.kinds import AnyResults, Kind, kind_of
from innet.campaign.store import build_manifest, store
from innet.engine.simulate import Engine, Note
from innet.errors import InnetError
from innet.report.files import prepare_folder
from innet.scenario.load import load_scenario
from innet.scenario.schema import Scenario


class WorkInterruptedError(InnetError):
    """The user stopped the work; what was finished is kept."""

    exit_code = 130


@dataclass(frozen=True, slots=True)
class Request:
    """What to run: a scenario file, keys to override, where run directories go,
    whether the results are drawn, and by which engine."""

    file: Path
    overrides: tuple[str, ...] = ()
    seed: int | None = None
    out: Path = Path("runs")
    plots: bool = False
    engine: Engine = "auto"

    @property
    def all_overrides(self) -> tuple[str, ...]:
        """The overrides with the seed as the last one."""
        return self.overrides if self.seed is None else (*self.overrides, f"seed={self.seed}")

    @property
    def command(self) -> str:
        """The command that gives these results; where they go is no part of it."""
        words = ["innet", "run", str(self.file)]
        for override in self.overrides:
            words += ["--set", override]
        if self.seed is not None:
            words += ["--seed", str(self.seed)]
        if self.engine != "auto":
            words += ["--engine", self.engine]
        return shlex.join(words)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came out. `failures` are messages on wrong sums and runs that cannot finish;
    `files` are the run directory and the plots.
    """

    kind: Kind
    results: AnyResults
    manifest: Mapping[str, Any]
    files: Sequence[Path]
    failures: Sequence[str]


def execute(
    request: Request, report: Callable[[Progress], None], note: Note | None = None
) -> Outcome:
    """Run a scenario and write its run directory, also when it is interrupted.

    `note` is told what a user should know of the engine.
    Raises ConfigurationError before any work for a bad scenario or an unwritable directory,
    and WorkInterruptedError on Ctrl-C.
    """
    scenario = load_scenario(request.file, request.all_overrides)
    folder = output_folder(scenario, request.out)
    prepare_folder(folder)
    campaign = Campaign(scenario, report, request.engine, note)
    try:
        campaign.run()
    except KeyboardInterrupt:
        kept = _keep_finished(request, scenario, folder, campaign)
        raise WorkInterruptedError(f"interrupted; {kept}") from None
    except BaseException:
        _keep_finished(request, scenario, folder, campaign)
        raise
    complete = not any(point.unfinished for point in campaign.results.points)
    manifest = manifest_of(request, scenario, complete)
    store(folder, manifest, campaign)
    kind, results = kind_of(scenario), campaign.results
    files = [folder, *drawn(request, kind, folder, manifest, results)]
    return Outcome(kind, results, manifest, files, campaign.failures)


def drawn(
    request: Request, kind: Kind, folder: Path, manifest: Mapping[str, Any], results: AnyResults
) -> list[Path]:
    """Draw a run's results where that is wanted and there are any; return the plots."""
    if not request.plots or not any(point.runs for point in results.points):
        return []
    return kind.draw(folder, manifest, results)


def _keep_finished(request: Request, scenario: Scenario, folder: Path, campaign: Campaign) -> str:
    finished = sum(len(point.runs) for point in campaign.results.points)
    if finished == 0:
        return "no run had finished"
    store(folder, manifest_of(request, scenario, complete=False), campaign)
    return f"{finished} finished run{'s' * (finished != 1)} kept in {folder}"


def manifest_of(request: Request, scenario: Scenario, complete: bool) -> dict[str, Any]:
    """Return the manifest of a request's results."""
    return build_manifest(scenario, request.file, request.all_overrides, request.command, complete)
