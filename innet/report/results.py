"""The results of a scenario: what `--json` prints and summary.json holds, and reading it back."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from innet.errors import ConfigurationError
from innet.metrics.figures import RunSummary

FORMAT_VERSION = 1


@dataclass(frozen=True, slots=True)
class Unfinished:
    """An algorithm that could not finish at a point, with the message that says who waits."""

    algorithm: str
    message: str


@dataclass(frozen=True, slots=True)
class PointResult:
    """One point of a sweep: the swept keys with their values as written, and its runs."""

    parameters: Mapping[str, Any]
    runs: tuple[RunSummary, ...]
    unfinished: tuple[Unfinished, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the point's object of the `--json` output."""
        found: dict[str, Any] = {
            "parameters": dict(self.parameters),
            "runs": [run.as_json() for run in self.runs],
        }
        if self.unfinished:
            found["unfinished"] = [
                {"algorithm": run.algorithm, "message": run.message} for run in self.unfinished
            ]
        return found


@dataclass(frozen=True, slots=True)
class Results:
    """All points of a scenario in order, as far as they were run."""

    name: str
    points: tuple[PointResult, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the object that `--json` prints."""
        points = [point.as_json() for point in self.points]
        return {"version": FORMAT_VERSION, "name": self.name, "points": points}


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run directory that was read back."""

    folder: Path
    manifest: Mapping[str, Any]
    results: Results


def json_text(document: object) -> str:
    """Return JSON that every reader accepts: no NaN, keys in their given order, one final newline.

    Raises ValueError for NaN and infinities.
    """
    return json.dumps(document, indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def read_run(folder: Path) -> StoredRun:
    """Return what `innet run` left in a folder.

    Raises ConfigurationError that names the file and what is wrong with it.
    """
    if not folder.is_dir():
        raise ConfigurationError(
            "there is no such run directory; write one that `innet run` made, for example "
            "runs/quickstart",
            file=str(folder),
        )
    manifest = _read_object(folder / "manifest.json")
    return StoredRun(folder, manifest, _read_results(folder / "summary.json"))


def _read_object(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigurationError(
            "is missing, so this is not a run directory that `innet run` made", file=str(path)
        ) from None
    except OSError as error:
        raise ConfigurationError(f"cannot be read: {error.strerror}", file=str(path)) from None
    except ValueError as error:
        raise ConfigurationError(f"is not JSON: {error}", file=str(path)) from None
    if not isinstance(document, dict) or document.get("version") != FORMAT_VERSION:
        raise ConfigurationError(
            f"is not version {FORMAT_VERSION} of this file; run the scenario again",
            file=str(path),
        )
    return document


def _read_results(path: Path) -> Results:
    document = _read_object(path)
    try:
        points = tuple(
            PointResult(
                parameters=point["parameters"],
                runs=tuple(RunSummary(**run) for run in point["runs"]),
                unfinished=tuple(Unfinished(**run) for run in point.get("unfinished", ())),
            )
            for point in document["points"]
        )
        return Results(document["name"], points)
    except (KeyError, TypeError, AttributeError) as error:
        raise ConfigurationError(
            f"does not hold what this innet {_problem(error)}; run the scenario again",
            file=str(path),
        ) from None


def _problem(error: Exception) -> str:
    return f"expects (key {error})" if isinstance(error, KeyError) else f"expects ({error})"
