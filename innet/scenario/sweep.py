"""The sweep of a scenario: which keys take which values, as a grid, zipped, or both.

`{key: [...], other: [...]}` is a grid: every combination, the last key changing fastest.
`{zip: {key: [...], other: [...]}}` takes the n-th value of each key together; beside grid keys
it counts as one key in its place.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod

from innet.scenario.located import Problem, located_error
from innet.scenario.quantities import Parsed, shown

MAXIMUM_POINTS = 10_000
_FIXED = ("version", "name", "sweep")


@dataclass(frozen=True, slots=True)
class Axis:
    """Keys that change together; `rows` holds one value a key."""

    keys: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]


@dataclass(frozen=True, slots=True)
class Sweep:
    """The axes of a sweep, in the file's order."""

    axes: tuple[Axis, ...]

    @property
    def keys(self) -> tuple[str, ...]:
        """All swept keys."""
        return tuple(key for axis in self.axes for key in axis.keys)

    @property
    def size(self) -> int:
        """Number of points."""
        return prod(len(axis.rows) for axis in self.axes)

    def points(self) -> Iterator[dict[str, object]]:
        """Yield the value of every swept key, for each point in order."""
        for rows in product(*(axis.rows for axis in self.axes)):
            yield {
                key: value
                for axis, row in zip(self.axes, rows, strict=True)
                for key, value in zip(axis.keys, row, strict=True)
            }

    def values(self) -> Iterator[tuple[str, object]]:
        """Yield every key with each of its values."""
        for axis in self.axes:
            for row in axis.rows:
                yield from zip(axis.keys, row, strict=True)


def parse_sweep(value: object) -> Sweep | None:
    """Return the sweep that a scenario's `sweep` says; errors name the key in it."""
    if value is None or isinstance(value, Sweep):
        return value
    if not isinstance(value, Mapping):
        raise ValueError(f"{shown(value)} is not a mapping of dotted keys to lists of values")
    problems: list[Problem] = []
    axes = [
        _zip_axis(values, problems) if key == "zip" else _grid_axis(key, values, problems)
        for key, values in value.items()
    ]
    sweep = Sweep(tuple(axes))
    if not problems and len(set(sweep.keys)) < len(sweep.keys):
        problems.append((("zip",), "a key is swept both here and outside zip"))
    if not problems and sweep.size > MAXIMUM_POINTS:
        problems.append(((), f"{sweep.size} points are too many; at most {MAXIMUM_POINTS}"))
    if problems:
        raise located_error(problems)
    return sweep if axes else None


def _grid_axis(key: object, values: object, problems: list[Problem]) -> Axis:
    kept = _values((str(key),), key, values, problems)
    return Axis((str(key),), tuple((value,) for value in kept))


def _zip_axis(columns: object, problems: list[Problem]) -> Axis:
    if not isinstance(columns, Mapping) or not columns:
        problems.append((("zip",), "zip takes a mapping of dotted keys to lists of equal length"))
        return Axis((), ())
    kept = [_values(("zip", str(key)), key, values, problems) for key, values in columns.items()]
    lengths = [len(column) for column in kept]
    if len(set(lengths)) > 1:
        told = ", ".join(f"{key} has {n}" for key, n in zip(columns, lengths, strict=True))
        problems.append((("zip",), f"the lists under zip differ in length: {told}"))
        return Axis((), ())
    return Axis(tuple(str(key) for key in columns), tuple(zip(*kept, strict=True)))


def _values(
    path: tuple[str, ...], key: object, values: object, problems: list[Problem]
) -> tuple[object, ...]:
    parts = key.split(".") if isinstance(key, str) else [""]
    if "" in parts or parts[0] in _FIXED:
        problems.append((path, f"{shown(key)} cannot be swept"))
    elif not isinstance(values, list | tuple) or not values:
        problems.append((path, f"{shown(values)} is not a list of values to sweep over"))
    else:
        return tuple(values)
    return ()


def write_sweep(sweep: Sweep | None) -> object:
    """Return the sweep as a scenario file would hold it."""
    if sweep is None:
        return None
    written: dict[str, object] = {}
    for axis in sweep.axes:
        columns = {key: [row[i] for row in axis.rows] for i, key in enumerate(axis.keys)}
        written.update(columns if len(columns) == 1 else {"zip": columns})
    return written


_LIST = {"type": "array", "minItems": 1}
SWEEP_FIELD = Parsed(
    parse_sweep,
    {
        "type": "object",
        "properties": {"zip": {"type": "object", "additionalProperties": _LIST}},
        "additionalProperties": _LIST,
    },
    write_sweep,
)
