"""Expressions of a training step: exact arithmetic over numbers, sizes and durations.

Values carry a dimension: plain, bytes (`25 MiB`) or time (`4 ms`). Whoever uses a value says
whether it must be whole: sizes and counts must, durations are rounded half to even to a picosecond.

There is no way from here to Python: names are looked up in a mapping, functions in a table.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite

from innet.units import DURATION_UNITS, SIZE_UNITS
from innet.workload.values import (
    FUNCTIONS,
    OPERATIONS,
    ExpressionError,
    Value,
    bounded,
    told,
    truth,
)

MAXIMUM_CHARACTERS = 500
MAXIMUM_DEPTH = 50
_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?(?:[eE][-+]?\d{1,2}(?!\d))?)(?:\s*(?!(?:and|or)\b)(?P<unit>[A-Za-z]+))?"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*)"
    r"|(?P<sign>\*\*|//|<=|>=|==|!=|[-+*/%<>(),]))"
)
_BINDING = {"or": 1, "and": 2, "<": 4, "<=": 4, ">": 4, ">=": 4, "==": 4, "!=": 4}
_BINDING |= {"+": 5, "-": 5, "*": 6, "/": 6, "//": 6, "%": 6, "**": 8}
_NOT, _UNARY = 3, 7

Names = Mapping[str, Value]
_Evaluate = Callable[[Names], Value]


@dataclass(frozen=True, slots=True)
class Expression:
    """A parsed expression with its text."""

    text: str
    evaluate: _Evaluate

    def whole(self, names: Names, what: str) -> int:
        """Return a count: a whole plain number."""
        value = self.evaluate(names)
        if value.dimension != "plain":
            raise ExpressionError(f"{what} {self.text!r} is {told(value)}, not a plain number")
        return self._whole(value, what)

    def size(self, names: Names) -> int:
        """Return bytes, which must be whole and not negative."""
        value = self.evaluate(names)
        if value.dimension == "time":
            raise ExpressionError(f"size {self.text!r} is {told(value)}, not bytes")
        size = self._whole(value, "size")
        if size < 0:
            raise ExpressionError(f"size {self.text!r} is negative: {size}")
        return size

    def duration(self, names: Names) -> int:
        """Return picoseconds, rounded half to even; 0 is the only duration without a unit."""
        value = self.evaluate(names)
        if value.dimension != "time" and value.number != 0:
            raise ExpressionError(
                f"time {self.text!r} is {told(value)}, not a duration; write for example 4 ms"
            )
        if value.number < 0:
            raise ExpressionError(f"time {self.text!r} is negative: {told(value)}")
        return round(value.number)

    def share(self, names: Names, what: str) -> Fraction:
        """Return a plain number above 0 and at most 1."""
        value = self.evaluate(names)
        if value.dimension != "plain" or not 0 < value.number <= 1:
            found = f"{what} {self.text!r} is {told(value)}"
            raise ExpressionError(f"{found}, not above 0 and at most 1")
        return value.number

    def _whole(self, value: Value, what: str) -> int:
        if value.number.denominator != 1:
            raise ExpressionError(
                f"{what} {self.text!r} is {value.number}, not whole; use // or ceil"
            )
        return value.number.numerator


def parse_expression(value: object) -> Expression:
    """Return the expression of a YAML value: a number or a text.

    Raises ExpressionError, which is a ValueError, with what is wrong.
    """
    unfit = isinstance(value, bool) or (isinstance(value, float) and not isfinite(value))
    if unfit or not isinstance(value, int | float | str):
        raise ExpressionError(f"{value!r} is not an expression; write for example 2*b*s or 25 MiB")
    text = str(value)
    if len(text) > MAXIMUM_CHARACTERS:
        raise ExpressionError(f"an expression is longer than {MAXIMUM_CHARACTERS} characters")
    return Expression(text, _Parser(text).whole_text())


class _Parser:
    """Precedence climbing over the tokens of one expression."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = self._split(text)
        self._at = 0
        self._depth = 0

    def _split(self, text: str) -> list[tuple[str, str, str]]:
        tokens, place = [], 0
        while text[place:].strip():
            match = _TOKEN.match(text, place)
            if match is None:
                raise self._error(f"{text[place:].strip()[0]!r} is not allowed")
            kind = match.lastgroup or ""
            kind = "number" if kind == "unit" else kind
            tokens.append((kind, match[kind], match["unit"] or ""))
            place = match.end()
        return tokens

    def _error(self, why: str) -> ExpressionError:
        return ExpressionError(f"{self._text!r} is not an expression: {why}")

    def _peek(self) -> str:
        return self._tokens[self._at][1] if self._at < len(self._tokens) else ""

    def _take(self) -> tuple[str, str, str]:
        if self._at == len(self._tokens):
            raise self._error("something is missing at its end")
        self._at += 1
        return self._tokens[self._at - 1]

    def _expect(self, sign: str) -> None:
        if self._peek() != sign:
            raise self._error(f"{sign!r} is missing")
        self._at += 1

    def whole_text(self) -> _Evaluate:
        found = self._climb(0)
        if self._peek():
            raise self._error(f"{self._peek()!r} is not expected there")
        return found

    def _climb(self, least: int) -> _Evaluate:
        self._depth += 1
        if self._depth > MAXIMUM_DEPTH:
            raise self._error(f"nested deeper than {MAXIMUM_DEPTH} levels")
        left = self._operand()
        while (sign := self._peek()) in _BINDING and _BINDING[sign] >= max(least, 1):
            self._at += 1
            # A power binds to the right, all else to the left.
            right = self._climb(_BINDING[sign] + (sign != "**"))
            left = _binary(sign, left, right)
        self._depth -= 1
        return left

    def _operand(self) -> _Evaluate:
        kind, text, unit = self._take()
        if kind == "number":
            constant = self._number(text, unit)
            return lambda names: constant
        if text == "(":
            inside = self._climb(0)
            self._expect(")")
            return inside
        if text in ("-", "not"):
            inside = self._climb(_UNARY if text == "-" else _NOT)
            if text == "not":
                return lambda names: truth(inside(names).number == 0)
            return lambda names: inside(names)._replace(number=-inside(names).number)
        if kind == "name" and text not in _BINDING:
            return self._call(text) if self._peek() == "(" else _lookup(text)
        raise self._error(f"{text!r} is not expected there")

    def _number(self, text: str, unit: str) -> Value:
        if not unit:
            return bounded(Value(Fraction(text)))
        if unit in SIZE_UNITS:
            return Value(Fraction(text) * SIZE_UNITS[unit], "bytes")
        if unit in DURATION_UNITS:
            return Value(Fraction(text) * DURATION_UNITS[unit], "time")
        known = ", ".join((*SIZE_UNITS, *DURATION_UNITS))
        raise self._error(f"unknown unit {unit!r}; write one of {known}")

    def _call(self, name: str) -> _Evaluate:
        if name not in FUNCTIONS:
            raise self._error(f"unknown function {name!r}; known are {', '.join(FUNCTIONS)}")
        least, most, function = FUNCTIONS[name]
        self._expect("(")
        arguments = [self._climb(0)]
        while self._peek() == ",":
            self._at += 1
            arguments.append(self._climb(0))
        self._expect(")")
        if not least <= len(arguments) <= most:
            raise self._error(f"{name} does not take {len(arguments)} values")
        return lambda names: function(*(argument(names) for argument in arguments))


def _lookup(name: str) -> _Evaluate:
    def look_up(names: Names) -> Value:
        if name not in names:
            raise ExpressionError(f"unknown name {name!r}; known here are {', '.join(names)}")
        return names[name]

    return look_up


def _binary(sign: str, left: _Evaluate, right: _Evaluate) -> _Evaluate:
    if sign == "and":
        return lambda names: truth(left(names).number != 0 and right(names).number != 0)
    if sign == "or":
        return lambda names: truth(left(names).number != 0 or right(names).number != 0)
    operation = OPERATIONS[sign]
    return lambda names: bounded(operation(left(names), right(names)))
