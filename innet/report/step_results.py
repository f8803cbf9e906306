"""The results of a training scenario: what `--json` prints and summary.json holds, read back too.

They differ from a collective's by `kind`: a point holds the steps of all algorithms, and what
in-network aggregation gains over the best of the others.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from innet.errors import ConfigurationError, unreadable
from innet.metrics.step_figures import IN_NETWORK, StepSummary
from innet.metrics.step_gain import Gain, gain_of
from innet.report.results import FORMAT_VERSION, Unfinished, read_manifest, read_results

TRAINING = "training"
SPANS = "spans.csv.gz"


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


def read_spans_of(run: StoredSteps) -> bytes:
    """Return the content of a run directory's file of spans; ConfigurationError without one."""
    path = run.folder / SPANS
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise ConfigurationError(
            "is missing: spans are kept of scenarios with one point only; run one point again, "
            f"for example {_one_point(run)}",
            file=str(path),
        ) from None
    except OSError as error:
        raise unreadable(path, error) from None


def algorithm_of(run: StoredSteps, algorithm: str | None) -> str:
    """Return the algorithm whose spans are wanted, by default in_network, or else the first.

    Raises ConfigurationError for one that did not finish there.
    """
    ran = [each.algorithm for point in run.results.points for each in point.runs]
    if not ran:
        raise ConfigurationError("no run has finished there", file=str(run.folder))
    if algorithm is None:
        return IN_NETWORK if IN_NETWORK in ran else ran[0]
    if algorithm not in ran:
        known = ", ".join(dict.fromkeys(ran))
        raise ConfigurationError(
            f"--algorithm {algorithm}: has no run there; what has: {known}", file=str(run.folder)
        )
    return algorithm


def _one_point(run: StoredSteps) -> str:
    file = run.manifest["scenario"].get("file", "SCENARIO.yaml")
    chosen = run.results.points[0].parameters if run.results.points else {}
    values = [f"--set {key}={str(value).replace(' ', '')}" for key, value in chosen.items()]
    return " ".join(["innet run", file, *values])
