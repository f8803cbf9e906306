"""What a plot shows, decided without drawing: the x axis, the panels, a series an algorithm."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from innet.errors import ConfigurationError
from innet.metrics.figures import OPERATION, RunSummary
from innet.metrics.rates import algorithm_bandwidth_bps, bus_bandwidth_bps
from innet.report.numbers import elements_per_second, exact_size, short_parameter
from innet.report.results import PointResult, StoredRun
from innet.units import parse_duration, parse_rate, parse_size

Quantity = Literal["size", "workers", "loss", "window", "rate", "duration", "number", "category"]
Measure = Literal["time", "algbw", "busbw", "rate"]
MEASURES: tuple[Measure, ...] = ("time", "algbw", "busbw", "rate")

# The short names of --x, in the order in which they are preferred when several fit equally.
SHORT_NAMES: Mapping[str, tuple[str, ...]] = {
    "size": ("collective.size",),
    "workers": ("topology.workers",),
    "loss": ("topology.link.loss",),
    "window": ("switch.slots", "message.window"),
}
_QUANTITIES: Mapping[str, Quantity] = {
    "collective.size": "size",
    "topology.workers": "workers",
    "topology.link.loss": "loss",
    "switch.slots": "window",
    "message.window": "window",
}
MOST_PANELS = 12


@dataclass(frozen=True, slots=True)
class Axis:
    """The swept key along x, None when nothing was swept, and what its values are."""

    key: str | None
    quantity: Quantity
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sample:
    """One run: where it stands on x, what was measured and the lower bound's value.

    Time is in ps, algbw and busbw in bit/s, rate in elements/s.
    """

    x: float
    value: float
    bound: float


@dataclass(frozen=True, slots=True)
class Series:
    """One line in order of x: an algorithm in one of several variants.

    Variants are run directories, values of the key that tells lines apart, or both; `variant`
    counts them from 0 and `name` tells them, None where there is only one.
    """

    algorithm: str
    variant: int
    name: str | None
    samples: tuple[Sample, ...]


@dataclass(frozen=True, slots=True)
class Panel:
    """The series at one combination of the other swept values, which `title` tells."""

    title: str
    series: tuple[Series, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """All panels of a figure, and what is the same in all of them (`subtitle`)."""

    axis: Axis
    measure: Measure
    panels: tuple[Panel, ...]
    subtitle: str


@dataclass(frozen=True, slots=True)
class _Entry:
    """One run of one point of one run directory."""

    name: str | None
    parameters: Mapping[str, Any]
    run: RunSummary


def choose_chart(
    runs: Sequence[StoredRun], x: str, measure: Measure, lines: str | None = None
) -> Chart:
    """Return what to draw of some run directories.

    `x` is `auto`, a short name (size, workers, loss, window) or a dotted key; each value of
    the key `lines`, if given, gets lines of its own, those of other keys get panels. Raises
    ConfigurationError when a key was not swept or there is nothing to draw.
    """
    entries = list(_entries(runs))
    if not entries:
        raise ConfigurationError("no run has finished there, so there is nothing to draw")
    varied = _varied(entries)
    split = None if lines is None else _swept_key("--lines", lines, varied)
    axis = _axis(entries, x, [key for key in varied if key != split])
    others = [
        key
        for key in varied
        if key not in (axis.key, split) and not _follows(entries, key, axis.key)
    ]
    groups: dict[tuple[str, ...], list[_Entry]] = {}
    for entry in entries:
        values = tuple(short_parameter(entry.parameters.get(key, "-")) for key in others)
        groups.setdefault(values, []).append(entry)
    if len(groups) > MOST_PANELS:
        raise ConfigurationError(
            f"{len(groups)} combinations of {', '.join(others)} are too many for one figure (at "
            f"most {MOST_PANELS}); give one of them as --x or sweep fewer values"
        )
    variants = list(dict.fromkeys(_variant(entry, split) for entry in entries))
    panels = [
        Panel(_title(others, values), tuple(_series(group, axis, measure, split, variants)))
        for values, group in groups.items()
    ]
    return Chart(axis, measure, tuple(panels), _subtitle(entries))


def _entries(runs: Sequence[StoredRun]) -> Iterator[_Entry]:
    names = _distinct_names(runs)
    swept = {key for each in runs for point in each.results.points for key in point.parameters}
    for stored, name in zip(runs, names, strict=True):
        fixed = _fixed(stored, swept)
        for point in stored.results.points:
            for run in point.runs:
                yield _Entry(name, {**fixed, **_parameters(point, run)}, run)


def _fixed(stored: StoredRun, keys: set[str]) -> dict[str, Any]:
    """Return what a run directory's scenario says of keys that another one swept."""
    found = {}
    for key in keys:
        value: Any = stored.scenario
        for part in key.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        if isinstance(value, str | int | float):
            found[key] = value
    return found


def _distinct_names(runs: Sequence[StoredRun]) -> list[str | None]:
    """Name the runs when there are several, by their folders where their names are the same."""
    if len(runs) == 1:
        return [None]
    names = [stored.results.name for stored in runs]
    repeated = len(set(names)) < len(names)
    return [str(stored.folder) for stored in runs] if repeated else list(names)


def _parameters(point: PointResult, run: RunSummary) -> dict[str, Any]:
    """Return a point's parameters, with size and workers also where they were not swept."""
    known = {"collective.size": f"{run.size_bytes} B", "topology.workers": run.workers}
    return {**known, **point.parameters}


def _varied(entries: Sequence[_Entry]) -> list[str]:
    keys = dict.fromkeys(key for entry in entries for key in entry.parameters)
    return [key for key in keys if len(_values(entries, key)) > 1]


def _values(entries: Sequence[_Entry], key: str) -> set[float | str]:
    return {_number(entry.parameters.get(key, "-"))[0] for entry in entries}


def _axis(entries: Sequence[_Entry], x: str, varied: Sequence[str]) -> Axis:
    if x == "auto":
        if not varied:
            return Axis(None, "category")
        known = [key for keys in SHORT_NAMES.values() for key in keys]
        rank = {key: place for place, key in enumerate(known)}
        chosen = max(varied, key=lambda key: (len(_values(entries, key)), -rank.get(key, 99)))
        return _described(entries, chosen)
    return _described(entries, _swept_key("--x", x, varied))


def _swept_key(option: str, name: str, varied: Sequence[str]) -> str:
    for key in SHORT_NAMES.get(name, (name,)):
        if key in varied:
            return key
    swept = ", ".join(varied) or "nothing"
    raise ConfigurationError(f"{option} {name}: was not swept in these runs; what was: {swept}")


def _described(entries: Sequence[_Entry], key: str) -> Axis:
    given = [entry.parameters.get(key, "-") for entry in entries]
    kinds = {_number(value)[1] for value in given}
    if len(kinds) == 1 and kinds != {"category"}:
        return Axis(key, _QUANTITIES.get(key, kinds.pop()))
    return Axis(key, "category", tuple(dict.fromkeys(short_parameter(value) for value in given)))


def _number(value: object) -> tuple[float | str, Quantity]:
    """Return a swept value as a number and its quantity, or as a text and `category`."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value), "number"
    kinds: tuple[tuple[Any, Quantity], ...] = (
        (parse_size, "size"),
        (parse_rate, "rate"),
        (parse_duration, "duration"),
    )
    for parse, quantity in kinds:
        try:
            return float(parse(value)), quantity
        except ValueError:
            continue
    return short_parameter(value), "category"


def _follows(entries: Sequence[_Entry], key: str, x: str | None) -> bool:
    """Say whether `key` is decided by `x`, as in a zipped sweep: then it needs no panels."""
    if x is None:
        return False
    seen: dict[float | str, float | str] = {}
    for entry in entries:
        here = _number(entry.parameters.get(x, "-"))[0]
        value = _number(entry.parameters.get(key, "-"))[0]
        if seen.setdefault(here, value) != value:
            return False
    return True


def _variant(entry: _Entry, split: str | None) -> str | None:
    if split is None:
        return entry.name
    told = f"{_short_key(split)} {short_parameter(entry.parameters.get(split, '-'))}"
    return told if entry.name is None else f"{entry.name}, {told}"


def _title(keys: Sequence[str], values: Sequence[str]) -> str:
    return ", ".join(f"{_short_key(key)} {value}" for key, value in zip(keys, values, strict=True))


def _series(
    entries: Sequence[_Entry],
    axis: Axis,
    measure: Measure,
    split: str | None,
    variants: Sequence[str | None],
) -> Iterator[Series]:
    """Yield a line an algorithm and variant; one only where the variants make no difference."""
    lines: dict[str, dict[str | None, list[Sample]]] = {}
    for entry in entries:
        of_algorithm = lines.setdefault(entry.run.algorithm, {})
        of_algorithm.setdefault(_variant(entry, split), []).append(_sample(entry, axis, measure))
    for algorithm, of_algorithm in lines.items():
        ordered = {name: tuple(sorted(samples, key=_x)) for name, samples in of_algorithm.items()}
        if split is not None and len(ordered) > 1 and len(set(ordered.values())) == 1:
            yield Series(algorithm, 0, None, next(iter(ordered.values())))
            continue
        for name, samples in ordered.items():
            yield Series(algorithm, variants.index(name), name, samples)


def _x(sample: Sample) -> float:
    return sample.x


def _sample(entry: _Entry, axis: Axis, measure: Measure) -> Sample:
    run = entry.run
    return Sample(
        _position(entry, axis),
        _measured(run, run.time_ps, measure),
        _measured(run, run.bound_ps, measure),
    )


def _position(entry: _Entry, axis: Axis) -> float:
    if axis.key is None:
        return 0.0
    value = entry.parameters.get(axis.key, "-")
    if axis.quantity == "category":
        return float(axis.labels.index(short_parameter(value)))
    return float(_number(value)[0])


def _measured(run: RunSummary, time_ps: int, measure: Measure) -> float:
    if measure == "time":
        return float(time_ps)
    if measure == "algbw":
        return float(algorithm_bandwidth_bps(run.size_bytes, time_ps))
    if measure == "busbw":
        return float(bus_bandwidth_bps(run.size_bytes, time_ps, OPERATION, run.workers))
    return elements_per_second(run.elements, time_ps)


def _short_key(key: str) -> str:
    return key.rpartition(".")[2]


def _subtitle(entries: Sequence[_Entry]) -> str:
    """Tell size, type and number of workers where they are the same everywhere."""
    sizes = {(entry.run.size_bytes, entry.run.dtype) for entry in entries}
    workers = {entry.run.workers for entry in entries}
    told = [f"{exact_size(size)} {dtype}" for size, dtype in sizes] if len(sizes) == 1 else []
    if len(workers) == 1:
        told.append(f"{workers.pop()} workers")
    return ", ".join([OPERATION.replace("_", "-"), *told])
