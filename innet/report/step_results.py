"""The results of a training scenario: what `--json` prints and summary.json holds, read back too.

They differ from a collective's by `kind`: a point holds the steps of all algorithms, and what
in-network aggregation gains over the best of the others.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from innet.metrics.step_figures import StepSummary
from innet.metrics.step_gain import Gain, gain_of
from innet.report.results import FORMAT_VERSION, Unfinished, read_manifest, read_results

TRAINING = "training"


@dataclass(frozen=True, slots=True)
class StepPoint:
    """One point of a sweep: the swept keys with their values as written, and its steps."""

    parameters: Mapping[str, Any]
    runs: tuple[StepSummary, ...]
    unfinished: tuple[Unfinished, ...] = ()

    @property
    def gain(self) -> Gain | None:
        """What in-network aggregation gains here."""
        return gain_of(self.runs)

    def as_json(self) -> dict[str, Any]:
        """Return the point's object of the `--json` output and of summary.json."""
        gain = self.gain
        found: dict[str, Any] = {
            "parameters": dict(self.parameters),
            "gain": None if gain is None else asdict(gain),
            "runs": [asdict(run) for run in self.runs],
        }
        if self.unfinished:
            found["unfinished"] = [asdict(run) for run in self.unfinished]
        return found


@dataclass(frozen=True, slots=True)
class StepResults:
    """All points of a training scenario in order, as far as they were run."""

    name: str
    points: tuple[StepPoint, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the object that `--json` prints and summary.json holds."""
        points = [point.as_json() for point in self.points]
        return {"version": FORMAT_VERSION, "kind": TRAINING, "name": self.name, "points": points}


@dataclass(frozen=True, slots=True)
class StoredSteps:
    """The run directory of a training scenario that was read back."""

    folder: Path
    manifest: Mapping[str, Any]
    results: StepResults

    @property
    def scenario(self) -> Mapping[str, Any]:
        """The resolved scenario, every key with its value."""
        resolved: Mapping[str, Any] = self.manifest["scenario"]["resolved"]
        return resolved


def read_step_run(folder: Path) -> StoredSteps:
    """Return what `innet run` of a training scenario left in a folder.

    Raises ConfigurationError that names the file and what is wrong with it.
    """
    manifest = read_manifest(folder)
    return StoredSteps(folder, manifest, read_results(folder, StepResults, TRAINING))
