"""What was swept: which key goes along x, what its values are, and where each of them stands.

A place is the swept keys of one point with their values, as the scenario writes them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from innet.errors import ConfigurationError
from innet.report.numbers import short_parameter
from innet.units import parse_duration, parse_rate, parse_size

Place = Mapping[str, Any]
Quantity = Literal["size", "workers", "loss", "window", "rate", "duration", "number", "category"]

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


@dataclass(frozen=True, slots=True)
class Axis:
    """The swept key along x, None when nothing was swept, and what its values are.

    `followers` are keys whose values that of `key` decides, as in a zipped sweep.
    """

    key: str | None
    quantity: Quantity
    labels: tuple[str, ...] = ()
    followers: tuple[str, ...] = ()


def varied_keys(places: Sequence[Place]) -> list[str]:
    """Return the keys that have several values."""
    keys = dict.fromkeys(key for place in places for key in place)
    return [key for key in keys if len(_values(places, key)) > 1]


def choose_axis(places: Sequence[Place], x: str, varied: Sequence[str]) -> Axis:
    """Return the axis that `x` (`auto`, a short name or a dotted key) means among `varied`.

    Raises ConfigurationError when that key was not swept.
    """
    if x == "auto":
        if not varied:
            return Axis(None, "category")
        known = [key for keys in SHORT_NAMES.values() for key in keys]
        rank = {key: place for place, key in enumerate(known)}
        chosen = max(varied, key=lambda key: (len(_values(places, key)), -rank.get(key, 99)))
        return _described(places, chosen, varied)
    return _described(places, swept_key("--x", x, varied), varied)


def swept_key(option: str, name: str, varied: Sequence[str]) -> str:
    """Return the swept key that an option names; ConfigurationError when it was not swept."""
    for key in SHORT_NAMES.get(name, (name,)):
        if key in varied:
            return key
    swept = ", ".join(varied) or "nothing"
    raise ConfigurationError(f"{option} {name}: was not swept in these runs; what was: {swept}")


def position(place: Place, axis: Axis) -> float:
    """Return where a point stands on the axis."""
    if axis.key is None:
        return 0.0
    value = place.get(axis.key, "-")
    if axis.quantity == "category":
        return float(axis.labels.index(short_parameter(value)))
    return float(_number(value)[0])


def fixed_values(scenario: Mapping[str, Any], keys: set[str]) -> dict[str, Any]:
    """Return what a resolved scenario says of keys that another one swept."""
    found = {}
    for key in keys:
        value: Any = scenario
        for part in key.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        if isinstance(value, str | int | float):
            found[key] = value
    return found


def axis_name(axis: Axis) -> str | None:
    """Return what files call the axis; None when nothing was swept."""
    short = [name for name, keys in SHORT_NAMES.items() if axis.key in keys]
    return short[0] if short else axis.key


def _values(places: Sequence[Place], key: str) -> set[float | str]:
    return {_number(place.get(key, "-"))[0] for place in places}


def _described(places: Sequence[Place], key: str, varied: Sequence[str]) -> Axis:
    given = [place.get(key, "-") for place in places]
    followers = tuple(other for other in varied if other != key and _follows(places, other, key))
    kinds = {_number(value)[1] for value in given}
    if len(kinds) == 1 and kinds != {"category"}:
        return Axis(key, _QUANTITIES.get(key, kinds.pop()), followers=followers)
    labels = tuple(dict.fromkeys(short_parameter(value) for value in given))
    return Axis(key, "category", labels, followers)


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


def _follows(places: Sequence[Place], key: str, x: str) -> bool:
    """Say whether `key` is decided by `x`, as in a zipped sweep: then it needs no panels."""
    seen: dict[float | str, float | str] = {}
    for place in places:
        here = _number(place.get(x, "-"))[0]
        value = _number(place.get(key, "-"))[0]
        if seen.setdefault(here, value) != value:
            return False
    return True
