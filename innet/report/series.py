"""What a plot shows, decided without drawing: the x axis, the panels, a series an algorithm."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from innet.errors import ConfigurationError
from innet.metrics.figures import OPERATION, RunSummary
from innet.metrics.rates import algorithm_bandwidth_bps, bus_bandwidth_bps
from innet.report.labels import key_value
from innet.report.numbers import elements_per_second, exact_size
from innet.report.results import PointResult, StoredRun
from innet.report.step_results import StoredSteps
from innet.report.swept import Axis, choose_axis, fixed_values, position, swept_key, varied_keys

Measure = Literal["time", "algbw", "busbw", "rate"]
MEASURES: tuple[Measure, ...] = ("time", "algbw", "busbw", "rate")

MOST_PANELS = 12


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
    places = [entry.parameters for entry in entries]
    varied = varied_keys(places)
    split = None if lines is None else swept_key("--lines", lines, varied)
    axis = choose_axis(places, x, [key for key in varied if key != split])
    others = [key for key in varied if key not in (axis.key, *axis.followers, split)]
    groups: dict[str, list[_Entry]] = {}
    for entry in entries:
        title = ", ".join(key_value(key, entry.parameters.get(key, "-")) for key in others)
        groups.setdefault(title, []).append(entry)
    if len(groups) > MOST_PANELS:
        raise ConfigurationError(
            f"{len(groups)} combinations of {', '.join(others)} are too many for one figure (at "
            f"most {MOST_PANELS}); give one of them as --x or sweep fewer values"
        )
    variants = list(dict.fromkeys(_variant(entry, split) for entry in entries))
    panels = [
        Panel(title, tuple(_series(group, axis, measure, split, variants)))
        for title, group in groups.items()
    ]
    return Chart(axis, measure, tuple(panels), _subtitle(entries))


def _entries(runs: Sequence[StoredRun]) -> Iterator[_Entry]:
    names = distinct_names(runs)
    swept = {key for each in runs for point in each.results.points for key in point.parameters}
    for stored, name in zip(runs, names, strict=True):
        fixed = fixed_values(stored.scenario, swept)
        for point in stored.results.points:
            for run in point.runs:
                yield _Entry(name, {**fixed, **_parameters(point, run)}, run)


def distinct_names(runs: Sequence[StoredRun | StoredSteps]) -> list[str | None]:
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


def _variant(entry: _Entry, split: str | None) -> str | None:
    if split is None:
        return entry.name
    told = key_value(split, entry.parameters.get(split, "-"))
    return told if entry.name is None else f"{entry.name}, {told}"


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
        position(entry.parameters, axis),
        _measured(run, run.time_ps, measure),
        _measured(run, run.bound_ps, measure),
    )


def _measured(run: RunSummary, time_ps: int, measure: Measure) -> float:
    if measure == "time":
        return float(time_ps)
    if measure == "algbw":
        return float(algorithm_bandwidth_bps(run.size_bytes, time_ps))
    if measure == "busbw":
        return float(bus_bandwidth_bps(run.size_bytes, time_ps, OPERATION, run.workers))
    return elements_per_second(run.elements, time_ps)


def _subtitle(entries: Sequence[_Entry]) -> str:
    """Tell size, type and number of workers where they are the same everywhere."""
    sizes = {entry.run.size_bytes for entry in entries}
    dtypes = {entry.run.dtype for entry in entries}
    workers = {entry.run.workers for entry in entries}
    size = exact_size(sizes.pop()) if len(sizes) == 1 else ""
    tensor = " ".join(filter(None, [size, *dtypes] if len(dtypes) == 1 else [size]))
    members = f"{workers.pop()} workers" if len(workers) == 1 else ""
    return ", ".join(filter(None, [OPERATION.replace("_", "-"), tensor, members]))
