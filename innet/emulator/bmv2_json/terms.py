"""What a program computes with: fields, constants, parameters, and operations on them.

Part of a compiled program (see `program`); `expressions` turns them into Python source.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a header instance; `width` in bits."""

    header: str
    name: str
    width: int
    signed: bool = False


@dataclass(frozen=True, slots=True)
class Constant:
    """An integer of any size and sign."""

    value: int


@dataclass(frozen=True, slots=True)
class Truth:
    """A boolean constant."""

    value: bool


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of the action that the expression is in."""

    index: int
    width: int


@dataclass(frozen=True, slots=True)
class Valid:
    """1 while a header is valid, else 0."""

    header: str


@dataclass(frozen=True, slots=True)
class StackCount:
    """How many elements a stack has got from the parser."""

    stack: str


@dataclass(frozen=True, slots=True)
class LastField:
    """A field of the last element that the parser extracted; `fields` has it of each element."""

    stack: str
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class ElementField:
    """A field of the element at a computed index; `fields` has it of each element."""

    stack: str
    fields: tuple[Field, ...]
    index: "Expression"


@dataclass(frozen=True, slots=True)
class Lookahead:
    """`width` bits, `offset` bits ahead of what is parsed."""

    offset: int
    width: int


@dataclass(frozen=True, slots=True)
class HeaderName:
    """A whole header, to compare, copy, add or remove."""

    name: str


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator of the format on its operands; of `?`, the condition comes first."""

    op: str
    operands: tuple["Expression", ...]


OPERATORS: Mapping[str, int] = {
    **dict.fromkeys(("+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^"), 2),
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">=", "and", "or"), 2),
    **dict.fromkeys(("two_comp_mod", "sat_cast", "usat_cast"), 2),
    **dict.fromkeys(("~", "not", "d2b", "b2d", "valid"), 1),
    "?": 3,
}
"""How many operands each operator takes. Those of casts are the value and its new width."""

Expression = (
    Constant
    | Truth
    | Field
    | Parameter
    | Valid
    | StackCount
    | LastField
    | ElementField
    | Lookahead
    | HeaderName
    | Operation
)


def key_width(key: Expression) -> int:
    """Bits of a parser's key. ValueError for an expression that cannot be one."""
    match key:
        case Field() | Lookahead():
            return key.width
        case LastField():
            return key.fields[0].width
        case Valid():
            return 1
    raise ValueError(f"not a parser's key: {key}")
