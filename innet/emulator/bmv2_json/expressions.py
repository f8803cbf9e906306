"""From expressions to Python source.

The format computes with integers of any size, as Python does, so an operator becomes the same
operator of Python. Beside the source goes the range that its value must lie in: an assignment
masks only where the value might not fit. Booleans are Python's, integers are never booleans.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from innet.emulator.bmv2_json.program import Header
from innet.emulator.bmv2_json.refuse import unsupported
from innet.emulator.bmv2_json.terms import (
    Constant,
    ElementField,
    Expression,
    Field,
    HeaderName,
    LastField,
    Lookahead,
    Operation,
    Parameter,
    StackCount,
    Truth,
    Valid,
)

MOST_ELEMENTS = 1 << 16
"""More elements than any stack has."""

LONGEST_SHIFT = 1 << 12
"""Shifts to the left that may be farther than this are checked: they leave nothing of what
any field can hold, and Python would fill the memory."""

Range = tuple[int, int] | None
"""The least and the greatest value; None if they are not known."""


class Code(NamedTuple):
    """Source of a value: an atom or in parentheses. `range` is None for booleans too."""

    text: str
    range: Range


def field_range(width: int, signed: bool) -> tuple[int, int]:
    """What a field can hold."""
    if signed:
        return -(1 << (width - 1)), (1 << (width - 1)) - 1
    return 0, (1 << width) - 1


def fit(code: Code, width: int, signed: bool = False) -> str:
    """Source that wraps a value to `width` bits, as an assignment does."""
    low, high = field_range(width, signed)
    if code.range and low <= code.range[0] and code.range[1] <= high:
        return code.text
    if signed:
        return f"({code.text} + {-low} & {(1 << width) - 1}) - {-low}"
    return f"{code.text} & {high:#x}"


class ExpressionSource:
    """Makes source of expressions, given the names of local variables.

    `variables` gives the variable of a field, `valid` that of a header's validity;
    `stack_counts` has those that count the elements of stacks.
    """

    def __init__(
        self,
        headers: Mapping[str, Header],
        variables: Callable[[Field], str],
        valid: Callable[[str], str],
        stack_counts: Mapping[str, str],
    ) -> None:
        self._headers = headers
        self._variable = variables
        self._valid = valid
        self._stack_counts = stack_counts

    def value(self, expression: Expression) -> Code:
        """Source of an expression of any type."""
        match expression:
            case Constant(value):
                return Code(f"({value})" if value < 0 else f"{value:#x}", (value, value))
            case Truth(truth):
                return Code(str(truth), None)
            case LastField(stack, fields):
                return self._element(f"{self._stack_counts[stack]} - 1", stack, fields)
            case ElementField(stack, fields, index):
                return self._element(self.value(index).text, stack, fields)
            case Operation(op, operands):
                return self._operation(op, operands)
        return self._leaf(expression)

    def _leaf(self, expression: Expression) -> Code:
        match expression:
            case Field():
                ends = field_range(expression.width, expression.signed)
                return Code(self._variable(expression), ends)
            case Parameter(index, width):
                return Code(f"p{index}", (0, (1 << width) - 1))
            case Valid(header):
                return Code(self._valid(header), (0, 1))
            case StackCount(stack):
                return Code(self._stack_counts[stack], (0, MOST_ELEMENTS))
            case Lookahead(offset, width):
                return Code(f"look_ahead(frame, offset, {offset}, {width})", (0, (1 << width) - 1))
        raise unsupported("a whole header as a value", str(expression))

    def _element(self, index: str, stack: str, fields: tuple[Field, ...]) -> Code:
        """Source of a field of the element at `index`."""
        choices = [f"{self._variable(f)} if {index} == {i}" for i, f in enumerate(fields)]
        text = " else ".join([*choices, f"past_stack({stack!r})"])
        return Code(f"({text})", field_range(fields[0].width, fields[0].signed))

    def _operation(self, op: str, operands: tuple[Expression, ...]) -> Code:
        if op == "valid" and isinstance(operands[0], HeaderName):
            return Code(f"({self._valid(operands[0].name)} != 0)", None)
        if op in ("==", "!=") and isinstance(operands[0], HeaderName):
            return self._compare_headers(op, operands)
        codes = [self.value(operand) for operand in operands]
        if op in _CASTS:
            return _cast(op, codes[0], operands[1])
        simple = _simplified(op, codes)
        if simple is not None:
            return simple
        texts = [code.text for code in codes]
        return Code(_TEMPLATES[op].format(*texts), _range_of(op, [code.range for code in codes]))

    def _compare_headers(self, op: str, operands: tuple[Expression, ...]) -> Code:
        names = [each.name for each in operands if isinstance(each, HeaderName)]
        left, right = (self._headers[name] for name in names)
        parts = [self._valid(left.name), self._valid(right.name)]
        for one, other in zip(left.fields, right.fields, strict=True):
            parts.append(f"{self._variable(one)} == {self._variable(other)}")
        equal = f"bool({' and '.join(parts)})"
        return Code(f"({'not ' if op == '!=' else ''}{equal})", None)


_CASTS = ("two_comp_mod", "sat_cast", "usat_cast")
_SAME = ("+", "-", "*", "&", "|", "^", "<", "<=", ">", ">=", "==", "!=", "and", "or")
_TEMPLATES: Mapping[str, str] = {
    **{op: f"({{0}} {op} {{1}})" for op in _SAME},
    "<<": "shift_left({0}, {1})",
    ">>": "({0} >> {1})",
    "/": "({0} // {1})",
    "%": "({0} % {1})",
    "~": "(~{0})",
    "not": "(not {0})",
    "d2b": "({0} != 0)",
    "b2d": "(+{0})",
    "?": "({1} if {0} else {2})",
}


def _simplified(op: str, codes: list[Code]) -> Code | None:
    """A result that is an operand itself, or a shift by a known number of bits."""
    if len(codes) != 2:
        return None
    for value, other in (codes, codes[::-1]):
        if other.range is None or value.range is None or other.range[0] != other.range[1]:
            continue
        constant = other.range[0]
        if op == "&" and _is_mask(constant) and 0 <= value.range[0] <= value.range[1] <= constant:
            return value
        if op == "|" and constant == 0:
            return value
    left, right = codes
    if op == "<<" and right.range is not None and 0 <= right.range[1] <= LONGEST_SHIFT:
        return Code(f"({left.text} << {right.text})", _range_of(op, [left.range, right.range]))
    return None


def _is_mask(value: int) -> bool:
    return value >= 0 and value & (value + 1) == 0


def _cast(op: str, value: Code, width: Expression) -> Code:
    if not isinstance(width, Constant):
        raise unsupported("a cast to a computed width", op)
    low, high = field_range(width.value, signed=op != "usat_cast")
    if op == "two_comp_mod":
        return Code(f"({fit(value, width.value, signed=True)})", (low, high))
    return Code(f"max({low}, min({value.text}, {high}))", (low, high))


def _range_of(op: str, ranges: list[Range]) -> Range:
    """The range of a result, where the ranges of the operands tell."""
    if op == "b2d":
        return 0, 1
    if op == "?":
        ranges = ranges[1:]
    if any(each is None for each in ranges):
        return _range_of_masked(ranges) if op == "&" else None
    known = [each for each in ranges if each is not None]
    if op == "?":
        return min(low for low, _ in known), max(high for _, high in known)
    if op == "~":
        return ~known[0][1], ~known[0][0]
    if op in _RANGES:
        return _RANGES[op](known[0], known[1])
    return None


def _range_of_masked(ranges: list[Range]) -> Range:
    """A number that is not negative bounds what is left of any other after `&`."""
    highs = [each[1] for each in ranges if each is not None and each[0] >= 0]
    return (0, min(highs)) if highs else None


def _corners(op: Callable[[int, int], int]) -> Callable[..., Range]:
    def result(left: tuple[int, int], right: tuple[int, int]) -> Range:
        values = [op(a, b) for a in left for b in right]
        return min(values), max(values)

    return result


def _bits(left: tuple[int, int], right: tuple[int, int]) -> Range:
    """Of `|` and `^` on numbers that are not negative."""
    if left[0] < 0 or right[0] < 0:
        return None
    return 0, (1 << max(left[1], right[1]).bit_length()) - 1


def _shifted_left(left: tuple[int, int], right: tuple[int, int]) -> Range:
    if left[0] < 0 or right[0] != right[1] or right[0] > LONGEST_SHIFT:
        return None
    return left[0] << right[0], left[1] << right[1]


def _shifted_right(left: tuple[int, int], right: tuple[int, int]) -> Range:
    if left[0] < 0:
        return None
    return 0, left[1] >> right[0]


_RANGES: Mapping[str, Callable[..., Range]] = {
    "+": _corners(lambda a, b: a + b),
    "-": _corners(lambda a, b: a - b),
    "*": _corners(lambda a, b: a * b),
    "&": lambda left, right: _range_of_masked([left, right]),
    "|": _bits,
    "^": _bits,
    "<<": _shifted_left,
    ">>": _shifted_right,
    "%": lambda left, right: (0, right[1] - 1) if left[0] >= 0 and right[0] >= 0 else None,
}
