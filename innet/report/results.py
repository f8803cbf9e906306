"""The results of a scenario: what `--json` prints and summary.json holds, and reading it back."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from innet.errors import ConfigurationError, unreadable
from innet.metrics.figures import RunSummary

FORMAT_VERSION = 1
COLLECTIVE = "collective"

_AnyResults = TypeVar("_AnyResults")


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
        return self._object([run.as_json() for run in self.runs])

    def as_stored(self) -> dict[str, Any]:
        """Return the point's object of summary.json."""
        return self._object([run.as_stored() for run in self.runs])

    def _object(self, runs: list[dict[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {"parameters": dict(self.parameters), "runs": runs}
        if self.unfinished:
            found["unfinished"] = [asdict(run) for run in self.unfinished]
        return found


@dataclass(frozen=True, slots=True)
class Results:
    """All points of a scenario in order, as far as they were run."""

    name: str
    points: tuple[PointResult, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the object that `--json` prints."""
        return self._object([point.as_json() for point in self.points])

    def as_stored(self) -> dict[str, Any]:
        """Return the object of summary.json, in which every run has more keys."""
        return self._object([point.as_stored() for point in self.points])

    def _object(self, points: list[dict[str, Any]]) -> dict[str, Any]:
        return {"version": FORMAT_VERSION, "name": self.name, "points": points}


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run directory that was read back."""

    folder: Path
    manifest: Mapping[str, Any]
    results: Results

    @property
    def scenario(self) -> Mapping[str, Any]:
        """The resolved scenario, every key with its value."""
        resolved: Mapping[str, Any] = self.manifest["scenario"]["resolved"]
        return resolved


def json_text(document: object) -> str:
    """Return JSON that every reader accepts: no NaN, keys in their given order, one final newline.

    Raises ValueError for NaN and infinities.
    """
    return json.dumps(document, indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def read_run(folder: Path) -> StoredRun:
    """Return what `innet run` of a collective left in a folder.

    Raises ConfigurationError that names the file and what is wrong with it.
    """
    return StoredRun(folder, read_manifest(folder), read_results(folder, Results, COLLECTIVE))


def kind_of_run(folder: Path) -> str:
    """Return what a run directory holds, `collective` or `training`; errors as `read_run`."""
    read_manifest(folder)
    path = folder / "summary.json"
    return str(_read_object(path, _read_text(path)).get("kind", COLLECTIVE))


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of a run directory, which holds the resolved scenario."""
    if not folder.is_dir():
        raise ConfigurationError(
            "there is no such run directory; write one that `innet run` made, for example "
            "runs/quickstart",
            file=str(folder),
        )
    path = folder / "manifest.json"
    manifest = _read_object(path, _read_text(path))
    match manifest:
        case {"scenario": {"resolved": {}}}:
            return manifest
    raise ConfigurationError(
        "does not hold the resolved scenario; run the scenario again", file=str(path)
    )


def read_results(folder: Path, results: type[_AnyResults], kind: str) -> _AnyResults:
    """Return the results of a run directory that must hold what `kind` says."""
    path = folder / "summary.json"
    text = _read_text(path)
    found = _read_object(path, text).get("kind", COLLECTIVE)
    if found != kind:
        raise ConfigurationError(
            f"holds the results of a {found} scenario, not of a {kind} one", file=str(path)
        )
    try:
        return TypeAdapter(results).validate_json(text, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(map(str, first["loc"]))
        raise ConfigurationError(
            f"does not hold what this innet expects ({first['msg']}); run the scenario again",
            file=str(path),
            key=key,
        ) from None


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigurationError(
            "is missing, so this is not a run directory that `innet run` made", file=str(path)
        ) from None
    except OSError as error:
        raise unreadable(path, error) from None
    except UnicodeDecodeError:
        raise ConfigurationError("is not JSON: not a text in UTF-8", file=str(path)) from None


def _read_object(path: Path, text: str) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except RecursionError:
        raise ConfigurationError("is not JSON: nested too deeply", file=str(path)) from None
    except ValueError as error:
        raise ConfigurationError(f"is not JSON: {error}", file=str(path)) from None
    if not isinstance(document, dict) or document.get("version") != FORMAT_VERSION:
        raise ConfigurationError(
            f"is not version {FORMAT_VERSION} of this file; run the scenario again",
            file=str(path),
        )
    return document
