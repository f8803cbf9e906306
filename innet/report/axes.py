"""Scales, ticks and their labels, with units that fit the values."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from math import ceil, floor, log, log10
from typing import Any

from innet.report.labels import key_title
from innet.report.series import Chart, Measure
from innet.report.swept import SHORT_NAMES, Axis, Quantity
from innet.units import format_duration, format_rate, format_size

Mapper = Callable[[float], float]

_LOG_RANGE = 8.0
_LONGEST_ROUND_SIZE = len("512 KiB")
_TITLES: dict[Measure, str] = {
    "time": "time",
    "algbw": "algorithm bandwidth (GB/s)",
    "busbw": "bus bandwidth (GB/s)",
    "rate": "aggregated elements/s",
}


def set_x_axis(axes: Any, axis: Axis, values: Sequence[float], room: int) -> Mapper:  # noqa: ANN401
    """Scale and tick the x axis, `room` characters wide; return where a value is drawn.

    No loss, the 0 of a log axis, is drawn one decade below the smallest other value.
    """
    from matplotlib.ticker import FixedLocator, NullLocator

    points = sorted(set(values))
    logarithmic = axis.quantity != "category" and _wants_log(points, axis.quantity)
    positions = {value: value for value in points}
    if logarithmic and points[0] == 0:
        positions[0.0] = points[1] / 10
    if logarithmic:
        axes.set_xscale("log", base=10 if axis.quantity == "loss" else 2)
        axes.set_xlim(*_log_limits(positions.values()))
    shown = _thinned(points, axis, room, _relative(positions, logarithmic))
    odd = any(len(_x_label(value, axis)) > _LONGEST_ROUND_SIZE for value in points)
    if logarithmic and axis.quantity == "size" and (odd or len(shown) < len(points)):
        sizes = _round_sizes(points[0], points[-1])
        shown = _thinned(sizes, axis, room, _relative({s: s for s in sizes}, True))
    axes.xaxis.set_major_locator(FixedLocator([positions.get(value, value) for value in shown]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticklabels([_x_label(value, axis) for value in shown])
    if logarithmic and points[0] == 0:
        _mark_break(axes, positions[0.0], points[1])
    if axis.quantity == "category":
        axes.set_xlim(points[0] - 0.3, points[-1] + 0.3)
    return lambda value: positions[value]


def set_y_axis(axes: Any, chart: Chart, values: Sequence[float]) -> None:  # noqa: ANN401
    """Scale and tick the y axis: times as `set_time_axis` does, rates from 0."""
    if chart.measure == "time":
        set_time_axis(axes, values)
        return
    axes.set_ylim(0, max(values) * 1.08 or 1)
    axes.yaxis.set_major_formatter(lambda value, _: y_label(value, chart.measure))


def set_time_axis(axes: Any, values: Sequence[float]) -> None:  # noqa: ANN401
    """Scale and tick a y axis of times, logarithmic when they span a decade."""
    from matplotlib.ticker import LogLocator, NullFormatter

    low, high = min(values), max(values)
    if low > 0 and high / low > _LOG_RANGE:
        axes.set_yscale("log")
        few = log10(high / low) < 2.5
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if few else (1.0,)))
        axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        axes.set_ylim(0, high * 1.08 or 1)
    axes.yaxis.set_major_formatter(lambda value, _: time_label(value))


def y_title(measure: Measure, equivalent: bool) -> str:
    """Return the y axis' title; `equivalent` says that in-network runs are shown."""
    note = "\n(in-network: equivalent)" if measure == "busbw" and equivalent else ""
    return _TITLES[measure] + note


def x_title(axis: Axis) -> str:
    """Return the x axis' title."""
    both_windows = {axis.key, *axis.followers} >= set(SHORT_NAMES["window"])
    return "window (packets)" if both_windows else key_title(axis.key or "")


def y_label(value: float, measure: Measure) -> str:
    """Write a value of the y axis."""
    if measure == "time":
        return time_label(value)
    if value == 0:
        return "0"
    if measure == "rate":
        return _si(value)
    return f"{value / 8e9:.3g}"


def time_label(time_ps: float) -> str:
    """Write a time of an axis, with three digits."""
    return "0" if time_ps == 0 else with_micro(format_duration(round(time_ps), 3))


def with_micro(duration: str) -> str:
    """Write microseconds with the letter that prints have."""
    return duration.replace(" us", " \N{MICRO SIGN}s")


def _x_label(value: float, axis: Axis) -> str:
    if axis.quantity == "category":
        return axis.labels[int(value)]
    return _quantity_label(value, axis.quantity)


def _quantity_label(value: float, quantity: Quantity) -> str:
    if value == 0:
        return "0"
    if quantity == "size":
        return format_size(round(value))
    if quantity == "rate":
        return format_rate(round(value), 4)
    if quantity == "duration":
        return with_micro(format_duration(round(value), 4))
    if quantity == "loss" and value < 0.1:
        exponent = floor(log10(value) + 1e-9)
        mantissa = value / 10**exponent
        power = f"10$^{{{exponent}}}$"
        return power if f"{mantissa:.3g}" == "1" else f"{mantissa:.3g}·{power}"
    return f"{value:.6g}"


def _si(value: float) -> str:
    for scale, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= scale:
            return f"{value / scale:.4g} {prefix}"
    return f"{value:.4g}"


def _wants_log(points: Sequence[float], quantity: Quantity) -> bool:
    """Say whether values spread over factors, not steps: log axes belong to those.

    A 0 among them means steps, but for losses, of which none is an ordinary value.
    """
    positive = [value for value in points if value > 0]
    if len(positive) < 2 or points[0] < 0 or (points[0] == 0 and quantity != "loss"):
        return False
    factors = [after / before for before, after in pairwise(positive)]
    geometric = len(factors) > 1 and max(factors) < 1.001 * min(factors)
    return geometric or positive[-1] / positive[0] > _LOG_RANGE / 2


def _log_limits(positions: Any) -> tuple[float, float]:  # noqa: ANN401
    low, high = min(positions), max(positions)
    margin = (high / low) ** 0.04
    return low / margin, high * margin


def _thinned(points: Sequence[float], axis: Axis, room: int, places: Mapper) -> list[float]:
    """Keep as many ticks as fit side by side in `room` characters, with the first one.

    `places` gives where a value stands, from 0 at the first to 1 at the last. Values at even
    distances are left out evenly, others where they are too close to the one before.
    """

    def fits(before: float, after: float) -> bool:
        halves = [len(_x_label(value, axis).strip("$")) / 2 + 1 for value in (before, after)]
        return room * (places(after) - places(before)) >= sum(halves)

    gaps = [places(after) - places(before) for before, after in pairwise(points)]
    if gaps and max(gaps) > 1.5 * min(gaps):
        shown = [points[0]]
        for value in points[1:]:
            if fits(shown[-1], value):
                shown.append(value)
        return shown
    for step in range(1, len(points)):
        shown = list(points[::step])
        if all(fits(before, after) for before, after in pairwise(shown)):
            return shown
    return list(points[:1])


def _round_sizes(low: float, high: float) -> list[float]:
    """Return powers of 4 in a range, or of 2 where there are none: layers have odd sizes."""
    for power in (4, 2):
        first, last = ceil(log(low, power) - 1e-9), floor(log(high, power) + 1e-9)
        if first < last:
            return [float(power**exponent) for exponent in range(first, last + 1)]
    return [low, high]


def _relative(positions: Mapping[float, float], logarithmic: bool) -> Mapper:
    """Return where a value stands between the first and the last one."""
    scaled = {value: log10(at) if logarithmic else at for value, at in positions.items()}
    low, high = min(scaled.values()), max(scaled.values())
    return lambda value: (scaled[value] - low) / ((high - low) or 1)


def _mark_break(axes: Any, zero: float, following: float) -> None:  # noqa: ANN401
    """Draw the two strokes that say that the axis jumps to 0."""
    transform = axes.get_xaxis_transform()
    for shift in (0.45, 0.52):
        place = zero * (following / zero) ** shift
        width = (following / zero) ** 0.03
        axes.plot(
            [place / width, place * width],
            [-0.02, 0.02],
            transform=transform,
            color="black",
            linewidth=0.7,
            clip_on=False,
        )
