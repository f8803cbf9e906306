"""Values of a training step's expressions, and exact arithmetic on them.

A value is an exact fraction and a dimension: plain, bytes or picoseconds. Plain numbers and bytes
mix freely, since a size may be written without its unit; a duration mixes with neither. `/` is
exact, `//` and `%` round down as in Python.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Literal, NamedTuple

Dimension = Literal["plain", "bytes", "time"]

_MOST_BITS = 256


class ExpressionError(ValueError):
    """What is wrong with an expression, without its place."""


class Value(NamedTuple):
    """An exact number of plain units, bytes or picoseconds."""

    number: Fraction
    dimension: Dimension = "plain"


def bounded(value: Value) -> Value:
    """Return a value that is not too large to go on with; ExpressionError otherwise."""
    number = value.number
    if max(number.numerator.bit_length(), number.denominator.bit_length()) > _MOST_BITS:
        raise ExpressionError("a value has become too large")
    return value


def truth(holds: bool) -> Value:
    """Return 1 or 0."""
    return Value(Fraction(holds))


def told(value: Value) -> str:
    """Write a value with its unit."""
    unit = {"plain": "", "bytes": " B", "time": " ps"}[value.dimension]
    return f"{value.number}{unit}"


def _common(one: Value, other: Value) -> Dimension:
    """Return the dimension of a sum of two values."""
    if one.dimension == other.dimension:
        return one.dimension
    if "time" in (one.dimension, other.dimension):
        raise ExpressionError(f"{told(one)} and {told(other)} are of different dimensions")
    return "bytes"


def _product(one: Value, other: Value) -> Value:
    if "plain" not in (one.dimension, other.dimension):
        raise ExpressionError(f"{told(one)} times {told(other)} is no quantity")
    dimension = other.dimension if one.dimension == "plain" else one.dimension
    return Value(one.number * other.number, dimension)


def _quotient(one: Value, other: Value, floor: bool) -> Value:
    _refuse_zero(other)
    if other.dimension not in ("plain", one.dimension):
        raise ExpressionError(f"{told(one)} over {told(other)} is no quantity")
    dimension: Dimension = one.dimension if other.dimension == "plain" else "plain"
    exact = one.number / other.number
    return Value(Fraction(exact.numerator // exact.denominator) if floor else exact, dimension)


def _refuse_zero(value: Value) -> None:
    if value.number == 0:
        raise ExpressionError("a division by 0")


def _remainder(one: Value, other: Value) -> Value:
    _refuse_zero(other)
    return Value(one.number % other.number, _common(one, other))


def _power(one: Value, other: Value) -> Value:
    if one.dimension != "plain" or other.dimension != "plain":
        raise ExpressionError("a power is of plain numbers")
    if other.number.denominator != 1 or not 0 <= other.number <= _MOST_BITS:
        raise ExpressionError(f"an exponent is a whole number from 0 to {_MOST_BITS}")
    return Value(Fraction(bounded(one).number ** other.number.numerator))


def _compared(holds: Callable[[Fraction, Fraction], bool]) -> Callable[[Value, Value], Value]:
    def compare(one: Value, other: Value) -> Value:
        _common(one, other)
        return truth(holds(one.number, other.number))

    return compare


OPERATIONS: Mapping[str, Callable[[Value, Value], Value]] = {
    "+": lambda one, other: Value(one.number + other.number, _common(one, other)),
    "-": lambda one, other: Value(one.number - other.number, _common(one, other)),
    "*": _product,
    "/": lambda one, other: _quotient(one, other, floor=False),
    "//": lambda one, other: _quotient(one, other, floor=True),
    "%": _remainder,
    "**": _power,
    "<": _compared(lambda one, other: one < other),
    "<=": _compared(lambda one, other: one <= other),
    ">": _compared(lambda one, other: one > other),
    ">=": _compared(lambda one, other: one >= other),
    "==": _compared(lambda one, other: one == other),
    "!=": _compared(lambda one, other: one != other),
}


def _extreme(pick: Callable[[list[Fraction]], Fraction]) -> Callable[..., Value]:
    def of(first: Value, *others: Value) -> Value:
        dimension = first.dimension
        for other in others:
            dimension = _common(Value(first.number, dimension), other)
        return Value(pick([first.number, *(other.number for other in others)]), dimension)

    return of


def _ceil(value: Value) -> Value:
    return value._replace(number=Fraction(-(-value.number.numerator // value.number.denominator)))


def _log2(value: Value) -> Value:
    """Return how many doublings of 1 reach the value, rounded up."""
    if value.dimension != "plain" or value.number < 1:
        raise ExpressionError(f"log2 takes a plain number from 1, not {told(value)}")
    return Value(Fraction((_ceil(value).number.numerator - 1).bit_length()))


FUNCTIONS: Mapping[str, tuple[int, int, Callable[..., Value]]] = {
    "min": (1, 20, _extreme(min)),
    "max": (1, 20, _extreme(max)),
    "ceil": (1, 1, _ceil),
    "log2": (1, 1, _log2),
}
