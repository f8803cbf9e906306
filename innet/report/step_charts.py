"""What the plots of training steps show, decided without drawing: gains, and shares of steps."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from innet.errors import ConfigurationError
from innet.metrics.step_figures import StepSummary
from innet.metrics.step_gain import Gain
from innet.report.labels import key_value
from innet.report.series import distinct_names
from innet.report.step_results import StepPoint, StoredSteps
from innet.report.swept import Axis, choose_axis, fixed_values, position, varied_keys

MOST_LINES = 8
MOST_BARS = 60


@dataclass(frozen=True, slots=True)
class GainBar:
    """One point: the gain, or None with why there is none."""

    label: str
    gain: Gain | None
    why: str = ""


@dataclass(frozen=True, slots=True)
class GainLine:
    """Gains along x at one combination of run directory and other swept values."""

    name: str | None
    samples: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class TimeLine:
    """Step times in ps along x of one algorithm."""

    algorithm: str
    samples: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class GainChart:
    """Gains: bars where no key goes along x, else lines, and of a single line the step times.

    `bounds` are the longest computes of a rank along x, in ps, below which no step can come.
    """

    axis: Axis
    bars: tuple[GainBar, ...]
    lines: tuple[GainLine, ...]
    times: tuple[TimeLine, ...]
    bounds: tuple[tuple[float, float], ...]
    title: str


@dataclass(frozen=True, slots=True)
class _Entry:
    name: str | None
    place: Mapping[str, Any]
    point: StepPoint


def gain_chart(runs: Sequence[StoredSteps], x: str = "auto") -> GainChart:
    """Return the gains of some run directories, along `x` where that was swept in all of them.

    For `auto`, x is a key that all of them sweep; where there is none, every point has a bar.
    Raises ConfigurationError when a key was not swept or nothing has a gain.
    """
    entries = list(_entries(runs))
    if not any(entry.point.gain for entry in entries):
        raise ConfigurationError(
            "there is no gain to draw: it needs in_network and a point-to-point algorithm that "
            "have both finished at one point"
        )
    title = runs[0].results.name if len(runs) == 1 else ""
    places = [entry.place for entry in entries]
    varied = varied_keys(places)
    if x == "auto":
        varied = [key for key in varied if all(key in _swept(run) for run in runs)]
        if not varied:
            return GainChart(Axis(None, "category"), _bars(entries), (), (), (), title)
    axis = choose_axis(places, x, varied)
    lines = tuple(_lines(entries, axis))
    if len(lines) > MOST_LINES:
        raise ConfigurationError(
            f"{len(lines)} lines are too many for one figure (at most {MOST_LINES}); draw fewer "
            "run directories or sweep fewer keys"
        )
    alone = entries if len(lines) == 1 else []
    return GainChart(axis, (), lines, _times(alone, axis), _bounds(alone, axis), title)


def _swept(run: StoredSteps) -> Sequence[str]:
    return varied_keys([point.parameters for point in run.results.points])


def _entries(runs: Sequence[StoredSteps]) -> Iterator[_Entry]:
    swept = {key for run in runs for point in run.results.points for key in point.parameters}
    for run, name in zip(runs, distinct_names(runs), strict=True):
        fixed = fixed_values(run.scenario, swept)
        for point in run.results.points:
            yield _Entry(name, {**fixed, **point.parameters}, point)


def _bars(entries: Sequence[_Entry]) -> tuple[GainBar, ...]:
    if len(entries) > MOST_BARS:
        raise ConfigurationError(
            f"{len(entries)} bars are too many for one figure (at most {MOST_BARS}); draw fewer "
            "run directories"
        )
    return tuple(
        GainBar(_label(entry), entry.point.gain, _why_none(entry.point)) for entry in entries
    )


def _label(entry: _Entry) -> str:
    swept = [key_value(key, value) for key, value in entry.point.parameters.items()]
    return ", ".join(filter(None, [entry.name, *swept]))


def _why_none(point: StepPoint) -> str:
    if point.gain is not None:
        return ""
    missing = [f"{each.algorithm} did not finish" for each in point.unfinished]
    return ", ".join(missing) or "no two algorithms to compare"


def _lines(entries: Sequence[_Entry], axis: Axis) -> Iterator[GainLine]:
    others = [
        key
        for key in varied_keys([entry.place for entry in entries])
        if key not in (axis.key, *axis.followers)
    ]
    found: dict[str, list[tuple[float, float]]] = {}
    for entry in entries:
        told = [key_value(key, entry.place.get(key, "-")) for key in others]
        name = ", ".join(filter(None, [entry.name, *told]))
        samples = found.setdefault(name, [])
        if entry.point.gain is not None:
            samples.append((position(entry.place, axis), entry.point.gain.gain))
    for name, samples in found.items():
        if samples:
            yield GainLine(name or None, tuple(sorted(samples)))


def _times(entries: Sequence[_Entry], axis: Axis) -> tuple[TimeLine, ...]:
    found: dict[str, list[tuple[float, float]]] = {}
    for entry in entries:
        for run in entry.point.runs:
            sample = position(entry.place, axis), float(run.step_ps)
            found.setdefault(run.algorithm, []).append(sample)
    return tuple(TimeLine(name, tuple(sorted(samples))) for name, samples in found.items())


def _bounds(entries: Sequence[_Entry], axis: Axis) -> tuple[tuple[float, float], ...]:
    found = {
        position(entry.place, axis): float(max(run.bound_ps for run in entry.point.runs))
        for entry in entries
        if entry.point.runs
    }
    return tuple(sorted(found.items()))


def shared_runs(runs: Sequence[StoredSteps]) -> tuple[tuple[str, StepSummary], ...]:
    """Return every step of some run directories with what to call it, for bars of shares.

    Raises ConfigurationError when there are none, or too many for one figure.
    """
    entries = list(_entries(runs))
    found = tuple((_label(entry), run) for entry in entries for run in entry.point.runs)
    if not found:
        raise ConfigurationError("no run has finished there, so there is nothing to draw")
    if len(found) > MOST_BARS:
        raise ConfigurationError(
            f"{len(found)} bars are too many for one figure (at most {MOST_BARS}); draw fewer "
            "run directories, or --chart gain"
        )
    return found
