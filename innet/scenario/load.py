"""From a file, and `--set` options, to a validated scenario and the points of its sweep."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from innet.errors import ConfigurationError, unreadable
from innet.scenario.checks import without_absent_workers
from innet.scenario.document import Document, read_document
from innet.scenario.located import KeyPath
from innet.scenario.problems import Origin, explain, known_keys
from innet.scenario.quantities import shown
from innet.scenario.schema import Scenario
from innet.scenario.step import actions_of, workload_of
from innet.scenario.sweep import Sweep, parse_sweep


@dataclass(frozen=True, slots=True)
class Point:
    """One point of a sweep: the swept keys as they were written, and what to run there."""

    parameters: dict[str, object]
    scenario: Scenario


def load_scenario(path: Path, overrides: Sequence[str] = ()) -> Scenario:
    """Return the validated scenario of a YAML file.

    Each override is `key=value` with a dotted key and a YAML value, as `--set` takes it; one
    that gives a swept key ends the sweep over that key. Paths of tensors are taken relative to
    the file. Every point of the sweep is validated too.

    Raises ConfigurationError with every problem found, one a line, each with the file and line
    (or the option), the key and what is allowed.
    """
    return parse_scenario(read_text(path), str(path), overrides, path.parent)


def load_collective(path: Path, overrides: Sequence[str] = ()) -> Scenario:
    """Return the scenario of a file that must be one of a collective; see `load_scenario`."""
    scenario = load_scenario(path, overrides)
    if scenario.training is not None:
        told = "a training step runs in simulated time only; write a collective instead"
        raise scenario.origin.error(("training",), told)
    return scenario


def parse_scenario(
    text: str, file: str = "<scenario>", overrides: Sequence[str] = (), folder: Path = Path()
) -> Scenario:
    """Return the validated scenario of a YAML text; see `load_scenario`."""
    document = read_document(text, file)
    if not isinstance(document.value, dict):
        raise ConfigurationError(
            f"a scenario is a mapping of keys: {', '.join(known_keys(Scenario))}",
            file=file,
            line=document.lines[()],
        )
    data, origin = _with_overrides(document, overrides)
    scenario = _validated(*_with_first_point(data, origin))
    scenario.remember(origin, folder)
    for point in _points(scenario):
        if point.scenario.training is not None:
            _try_step(point.scenario)
    return scenario


def _try_step(scenario: Scenario) -> None:
    """Refuse a step that is wrong already at rank 0, so that little is done for nothing."""
    for _ in actions_of(scenario, workload_of(scenario), 0):
        pass


def expand(scenario: Scenario) -> tuple[Point, ...]:
    """Return the points of the sweep in the file's order; without one, the scenario itself."""
    return tuple(_points(scenario))


def read_text(path: Path) -> str:
    """Return a file's text. ConfigurationError, with the file, if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigurationError("there is no such file", file=str(path)) from None
    except UnicodeDecodeError as error:
        raise ConfigurationError(
            f"not a text in UTF-8 (byte {error.start})", file=str(path)
        ) from None
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from None


def _validated(
    data: Mapping[str | int, Any], origin: Origin, most_workers: int | None = None
) -> Scenario:
    try:
        return Scenario.model_validate(data, context=most_workers)
    except ValidationError as error:
        raise explain(error, Scenario, origin) from None


def _with_overrides(
    document: Document, overrides: Sequence[str]
) -> tuple[dict[str | int, Any], Origin]:
    data: dict[str | int, Any] = document.value
    origin = Origin({path: (document.file, line) for path, line in document.lines.items()})
    for override in overrides:
        key, equals, text = override.partition("=")
        option = f"--set {key}"
        if not equals:
            raise ConfigurationError(
                "write key=value, for example --set topology.workers=16", file=option
            )
        try:
            path = key_path(key)
            value = read_document(text, option).value
            data = _without_swept(_replaced(data, path, value), key)
        except ConfigurationError as error:
            raise ConfigurationError(error.message, file=option, key=error.key) from None
        except ValueError as error:
            raise ConfigurationError(str(error), file=option) from None
        origin = origin.moved(dict.fromkeys(_new_paths(path, origin), (option, None)))
    return data, origin


def _new_paths(path: KeyPath, origin: Origin) -> list[KeyPath]:
    """Return `path` and those above it that the file does not have."""
    above = [path[:length] for length in range(1, len(path))]
    return [*(part for part in above if part not in origin.places), path]


def key_path(key: str) -> KeyPath:
    """Split a dotted key; what follows `sweep` is one key itself (`sweep.topology.workers`).

    ValueError: an empty part.
    """
    if "" in key.split("."):
        raise ValueError(f"'{key}' is not a dotted key such as topology.workers")
    parts: list[str | int] = [
        int(part) if part.isdecimal() and part.isascii() else part for part in key.split(".")
    ]
    if parts[0] == "sweep" and len(parts) > 1:
        named = 2 if parts[1] == "zip" and len(parts) > 2 else 1
        return (*parts[:named], ".".join(key.split(".")[named:]))
    return tuple(parts)


def _replaced(data: Any, path: KeyPath, value: object) -> Any:  # noqa: ANN401
    """Return a copy of `data` with `value` at `path`; what is not on the path is shared."""
    if not path:
        return value
    head, rest = path[0], path[1:]
    if isinstance(data, list) and isinstance(head, int) and head < len(data):
        return [*data[:head], _replaced(data[head], rest, value), *data[head + 1 :]]
    if isinstance(data, dict) or data is None:
        entries = data or {}
        return {**entries, head: _replaced(entries.get(head), rest, value)}
    if isinstance(data, list):
        raise ValueError(f"there is no item {head} in this list of {len(data)}")
    raise ValueError(f"there is no key '{head}' in {shown(data)}")


def _without_swept(data: dict[str | int, Any], key: str) -> dict[str | int, Any]:
    """Return `data` with the sweep over `key` taken out."""
    sweep = data.get("sweep")
    if not isinstance(sweep, dict):
        return data
    kept = {swept: values for swept, values in sweep.items() if swept != key}
    columns = kept.get("zip")
    if isinstance(columns, dict) and key in columns:
        kept["zip"] = {swept: values for swept, values in columns.items() if swept != key}
        if not kept["zip"]:
            del kept["zip"]
    return {**data, "sweep": kept}


def _with_first_point(
    data: dict[str | int, Any], origin: Origin
) -> tuple[dict[str | int, Any], Origin]:
    """Give keys that only the sweep gives their value at its first point."""
    try:
        sweep = parse_sweep(data.get("sweep"))
    except ValueError:
        return data, origin
    for key, value in next(sweep.points()).items() if sweep else ():
        path = key_path(key)
        if not _holds(data, path):
            data = _with_swept(data, key, value, origin)
            origin = origin.moved({path: origin.place(_swept_path(key, origin))})
    return data, origin


def _holds(data: Any, path: KeyPath) -> bool:  # noqa: ANN401
    for part in path:
        if not isinstance(data, dict) or part not in data:
            return False
        data = data[part]
    return True


def _points(scenario: Scenario) -> Iterator[Point]:
    sweep, origin = scenario.sweep, scenario.origin
    if sweep is None:
        yield Point({}, scenario)
        return
    base: dict[str | int, Any] = dict(scenario.source)
    base.pop("sweep", None)
    largest = _most_workers(sweep)
    for parameters in sweep.points():
        data = base
        for key, value in parameters.items():
            data = _with_swept(data, key, value, origin)
        here = _origin_at(origin, parameters)
        point = without_absent_workers(_validated(data, here, largest))
        point.remember(here, scenario.folder)
        yield Point(parameters, point)


def _most_workers(sweep: Sweep) -> int | None:
    """Return the largest number of workers of the points, None where it is not swept."""
    counts = [value for name, value in sweep.values() if name == "topology.workers"]
    whole = [count for count in counts if isinstance(count, int)]
    return max(whole, default=None)


def _with_swept(
    data: dict[str | int, Any], key: str, value: object, origin: Origin
) -> dict[str | int, Any]:
    try:
        swept: dict[str | int, Any] = _replaced(data, key_path(key), value)
    except ValueError as error:
        option, line = origin.place(key_path(key))
        given = f" (given by {option})" if line is None else ""
        raise origin.error(_swept_path(key, origin), f"{error}{given}") from None
    return swept


def _origin_at(origin: Origin, parameters: Mapping[str, object]) -> Origin:
    told = ", ".join(
        f"{key}={value if isinstance(value, str) else shown(value)}"
        for key, value in parameters.items()
    )
    places = {
        path: origin.place(_swept_path(key, origin))
        for key in parameters
        for path in _new_paths(key_path(key), origin)
    }
    return origin.moved(places, told)


def _swept_path(key: str, origin: Origin) -> KeyPath:
    zipped = ("sweep", "zip", key)
    return zipped if zipped in origin.places else ("sweep", key)
