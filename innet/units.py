"""Exact quantities as int: rates in bit/s, durations in picoseconds, sizes in bytes, and rates
of work in floating-point operations a second.

A quantity is written as a number and a unit (`10 Gbps`, `1.5 us`, `25 MiB`). Nothing passes
through binary floating point, and a value that is not a whole number of the base unit is
refused instead of rounded. Prefixes of rates and of KB, MB, GB, TB are powers of ten, those of
KiB, MiB, GiB, TiB powers of two.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

PS_PER_SECOND = 10**12

RATE_UNITS: Mapping[str, int] = {
    "bps": 1,
    "Kbps": 10**3,
    "Mbps": 10**6,
    "Gbps": 10**9,
    "Tbps": 10**12,
}
DURATION_UNITS: Mapping[str, int] = {
    "ps": 1,
    "ns": 10**3,
    "us": 10**6,
    "ms": 10**9,
    "s": 10**12,
}
SIZE_UNITS: Mapping[str, int] = {
    "B": 1,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
    "TiB": 2**40,
}

WORK_RATE_UNITS: Mapping[str, int] = {
    "FLOPS": 1,
    "MFLOPS": 10**6,
    "GFLOPS": 10**9,
    "TFLOPS": 10**12,
    "PFLOPS": 10**15,
}

# Above 10 Tbps a byte takes less than a picosecond, the resolution of simulated time.
MAXIMUM_RATE_BPS = 10 * 10**12
MAXIMUM_DURATION_PS = 24 * 3600 * PS_PER_SECOND
MAXIMUM_SIZE_BYTES = 10**15
MAXIMUM_WORK_RATE = 10**18

NUMBER_PATTERN = r"[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,2})?"
_QUANTITY = re.compile(rf"\s*({NUMBER_PATTERN})\s*([A-Za-z]+)\s*")
_NUMBER = re.compile(rf"\s*[+-]?({NUMBER_PATTERN}|[.]?(nan|inf|infinity))\s*", re.IGNORECASE)
_LONGEST_TEXT = 64


@dataclass(frozen=True, slots=True)
class _Quantity:
    """What one kind of quantity is called, its units, an example and its largest value."""

    noun: str
    units: Mapping[str, int]
    example: str
    maximum: int
    maximum_text: str

    @property
    def base(self) -> str:
        return next(iter(self.units))

    @property
    def allowed(self) -> str:
        return (
            f"write a number from 0 to {self.maximum_text} and one of {', '.join(self.units)}, "
            f"for example '{self.example}'"
        )


_RATE = _Quantity("rate", RATE_UNITS, "10 Gbps", MAXIMUM_RATE_BPS, "10 Tbps")
_DURATION = _Quantity("duration", DURATION_UNITS, "1 us", MAXIMUM_DURATION_PS, "86400 s")
_SIZE = _Quantity("size", SIZE_UNITS, "25 MiB", MAXIMUM_SIZE_BYTES, "1000 TB")
_WORK_RATE = _Quantity(
    "rate of work", WORK_RATE_UNITS, "100 TFLOPS", MAXIMUM_WORK_RATE, "1000 PFLOPS"
)


def parse_rate(value: object) -> int:
    """Return the bit/s of a text such as `10 Gbps`; ValueError says what is allowed."""
    return _parse(value, _RATE)


def parse_duration(value: object) -> int:
    """Return the picoseconds of a text such as `1.5 us`; ValueError says what is allowed."""
    return _parse(value, _DURATION)


def parse_size(value: object) -> int:
    """Return the bytes of a text such as `25 MiB`; ValueError says what is allowed."""
    return _parse(value, _SIZE)


def parse_work_rate(value: object) -> int:
    """Return the floating-point operations a second of a text such as `100 TFLOPS`.

    ValueError says what is allowed.
    """
    return _parse(value, _WORK_RATE)


def parse_probability(value: object) -> float:
    """Return a probability, a plain number from 0 to 1; ValueError says what is allowed."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ValueError(
            f"{_shown(value)} is not a probability; write a number from 0 to 1, for example 1e-4"
        )
    return float(value)


def format_rate(rate_bps: int, digits: int | None = None) -> str:
    """Write bit/s in the largest unit that keeps it at 1 or more; exact unless `digits`.

    `digits` rounds to that many significant digits, half to even.
    """
    return _format_decimal(rate_bps, RATE_UNITS, digits)


def format_duration(duration_ps: int, digits: int | None = None) -> str:
    """Write picoseconds in the largest unit that keeps it at 1 or more; exact unless `digits`."""
    return _format_decimal(duration_ps, DURATION_UNITS, digits)


def format_work_rate(rate: int) -> str:
    """Write operations a second in the largest unit that keeps it at 1 or more, exactly."""
    return _format_decimal(rate, WORK_RATE_UNITS, None)


def format_size(size_bytes: int) -> str:
    """Write bytes exactly, in the unit that takes the fewest characters (`25 MiB`, `100 MB`)."""
    whole = [
        (size_bytes // scale, unit)
        for unit, scale in SIZE_UNITS.items()
        if size_bytes % scale == 0 and (size_bytes or unit == "B")
    ]
    return "{} {}".format(*min(whole, key=lambda pair: pair[0]))


def serialisation_ps(medium_bytes: int, rate_bps: int) -> int:
    """Return how long `medium_bytes` occupy a link of `rate_bps`, rounded half to even."""
    return divide_half_even(medium_bytes * 8 * PS_PER_SECOND, rate_bps)


def divide_half_even(numerator: int, denominator: int) -> int:
    """Return the quotient of two integers, the second positive, rounded half to even."""
    quotient = numerator // denominator
    twice_rest = 2 * (numerator - quotient * denominator)
    if twice_rest > denominator or (twice_rest == denominator and quotient % 2 == 1):
        return quotient + 1
    return quotient


def _parse(value: object, quantity: _Quantity) -> int:
    if not isinstance(value, str):
        problem = "has no unit" if _is_number(value) else f"is not a {quantity.noun}"
        raise ValueError(f"{_shown(value)} {problem}; {quantity.allowed}")
    match = _QUANTITY.fullmatch(value) if len(value) <= _LONGEST_TEXT else None
    if match is None:
        problem = "has no unit" if _bare(value) else f"is not a {quantity.noun}"
        raise ValueError(f"{_shown(value)} {problem}; {quantity.allowed}")
    number, unit = match.group(1), match.group(4)
    if unit not in quantity.units:
        raise ValueError(f"{_shown(value)}: {_unknown_unit(unit, quantity)}; {quantity.allowed}")
    return _whole(value, Fraction(number) * quantity.units[unit], quantity)


def _whole(value: str, exact: Fraction, quantity: _Quantity) -> int:
    if exact > quantity.maximum:
        raise ValueError(f"{_shown(value)} is too large; {quantity.allowed}")
    if exact.denominator != 1:
        raise ValueError(
            f"{_shown(value)} is not a whole number of {quantity.base}, the finest step of a "
            f"{quantity.noun}"
        )
    return exact.numerator


def _unknown_unit(unit: str, quantity: _Quantity) -> str:
    same = [known for known in quantity.units if known.lower() == unit.lower()]
    hint = f" (did you mean '{same[0]}'?)" if same else ""
    return f"unknown unit '{unit}' for a {quantity.noun}{hint}"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _bare(text: str) -> bool:
    return len(text) <= _LONGEST_TEXT and _NUMBER.fullmatch(text) is not None


def _shown(value: object) -> str:
    """Write a value as YAML has it, cut where it is long."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 3] + "..."


def _format_decimal(value: int, units: Mapping[str, int], digits: int | None) -> str:
    if digits is not None:
        value = _round_significant(value, digits)
    unit, scale = next(iter(units.items()))
    for candidate, candidate_scale in units.items():
        if abs(value) >= candidate_scale:
            unit, scale = candidate, candidate_scale
    sign = "-" if value < 0 else ""
    whole, rest = divmod(abs(value), scale)
    decimals = str(rest).rjust(len(str(scale)) - 1, "0").rstrip("0")
    return f"{sign}{whole}{'.' if decimals else ''}{decimals} {unit}"


def _round_significant(value: int, digits: int) -> int:
    surplus = len(str(abs(value))) - digits
    return value if surplus <= 0 else divide_half_even(value, 10**surplus) * 10**surplus


def noun_for(number: int, one: str, several: str | None = None) -> str:
    """Return the noun that goes with a number; `several` is `one` and an s by default."""
    return one if number == 1 else several or f"{one}s"
