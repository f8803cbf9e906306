"""Field types of the schema. Each parses a YAML value (ValueError says what is allowed),
describes itself in the JSON Schema, and writes itself back as a scenario file would.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

from innet import units

Parser = Callable[[object], Any]
JsonSchema = Mapping[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Parsed:
    """Annotation of a field: how to parse it, describe it and, if not as it is, write it."""

    parse: Parser
    json_schema: JsonSchema
    write: Callable[[Any], object] = lambda value: value

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Replace pydantic's own validation, which would coerce, by `parse`."""
        return core_schema.no_info_plain_validator_function(
            self.parse,
            serialization=core_schema.plain_serializer_function_ser_schema(
                self.write, when_used="json"
            ),
        )

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Return what an editor shows and checks."""
        return dict(self.json_schema)


def shown(value: object) -> str:
    """Write a YAML value for a message: texts quoted, long ones cut."""
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    text = repr(value)
    return text if len(text) <= 64 else text[:61] + "..."


def whole_number(minimum: int, maximum: int) -> Parsed:
    """Annotate a plain whole number in a closed range."""

    def parse(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not minimum <= value <= maximum:
            raise ValueError(f"{shown(value)} is not a whole number from {minimum} to {maximum}")
        return value

    return Parsed(parse, {"type": "integer", "minimum": minimum, "maximum": maximum})


def one_of(noun: str, *names: str) -> Parsed:
    """Annotate one of several names."""

    def parse(value: object) -> str:
        if not isinstance(value, str) or value not in names:
            raise ValueError(f"{shown(value)} is not {noun}; write one of {', '.join(names)}")
        return value

    return Parsed(parse, {"enum": list(names)})


def is_name(value: object) -> bool:
    """Say whether a value can name a run and its folder."""
    return isinstance(value, str) and re.fullmatch(_NAME, value) is not None


def _parse_name(value: object) -> str:
    if not isinstance(value, str) or not is_name(value):
        raise ValueError(
            f"{shown(value)} cannot name a run's folder; write 1 to 64 letters, digits, '.', '_' "
            "or '-', with a letter or digit at both ends"
        )
    return value


def _parse_switchable(value: object) -> bool:
    """Accept on and off besides true and false: YAML 1.2 reads on and off as texts."""
    known = {"on": True, "off": False, True: True, False: False}
    if isinstance(value, bool | str) and value in known:
        return known[value]
    raise ValueError(f"{shown(value)} is neither on nor off; write on, off, true or false")


def _parse_loss(value: object) -> float:
    loss = units.parse_probability(value)
    if loss == 1:
        raise ValueError("1 loses every packet, so nothing can finish; write a number below 1")
    return loss


def _parse_positive_rate(value: object) -> int:
    return _positive(units.parse_rate(value), value, "rate")


def _parse_positive_size(value: object) -> int:
    return _positive(units.parse_size(value), value, "size")


def _parse_positive_duration(value: object) -> int:
    return _positive(units.parse_duration(value), value, "duration")


def _positive(amount: int, value: object, noun: str) -> int:
    if amount == 0:
        raise ValueError(f"{shown(value)}: this {noun} must be above 0")
    return amount


def _parse_optional_size(value: object) -> int | None:
    return None if value is None else units.parse_size(value)


def _parse_rto(value: object) -> int | Literal["adaptive"]:
    if value == "adaptive":
        return "adaptive"
    try:
        return _parse_positive_duration(value)
    except ValueError as problem:
        raise ValueError(f"{problem}, or 'adaptive'") from None


def _dimensioned(noun: str, known: Mapping[str, int], example: str) -> JsonSchema:
    names = list(known)
    return {
        "type": "string",
        "pattern": f"^ *{units.NUMBER_PATTERN} *({'|'.join(names)}) *$",
        "description": f"A {noun}: a number and one of {', '.join(names)}, such as {example}.",
        "examples": [example],
    }


_NAME = r"[A-Za-z0-9]([A-Za-z0-9._-]{0,62}[A-Za-z0-9_-])?"
_RATE = _dimensioned("rate", units.RATE_UNITS, "10 Gbps")
_DURATION = _dimensioned("duration", units.DURATION_UNITS, "1 us")
_SIZE = _dimensioned("size", units.SIZE_UNITS, "25 MiB")
_PROBABILITY = {"type": "number", "minimum": 0, "maximum": 1}


def _write_optional_size(size: int | None) -> str | None:
    return None if size is None else units.format_size(size)


def _write_rto(rto: int | Literal["adaptive"]) -> str:
    return "adaptive" if rto == "adaptive" else units.format_duration(rto)


Name = Annotated[str, Parsed(_parse_name, {"type": "string", "pattern": f"^{_NAME}$"})]
Rate = Annotated[int, Parsed(_parse_positive_rate, _RATE, units.format_rate)]
Duration = Annotated[int, Parsed(units.parse_duration, _DURATION, units.format_duration)]
PositiveDuration = Annotated[
    int, Parsed(_parse_positive_duration, _DURATION, units.format_duration)
]
Size = Annotated[int, Parsed(units.parse_size, _SIZE, units.format_size)]
PositiveSize = Annotated[int, Parsed(_parse_positive_size, _SIZE, units.format_size)]
OptionalSize = Annotated[
    int | None,
    Parsed(_parse_optional_size, {"anyOf": [_SIZE, {"type": "null"}]}, _write_optional_size),
]
Probability = Annotated[float, Parsed(units.parse_probability, _PROBABILITY)]
Loss = Annotated[
    float, Parsed(_parse_loss, {"type": "number", "minimum": 0, "exclusiveMaximum": 1})
]
RetransmissionTimeout = Annotated[
    int | Literal["adaptive"],
    Parsed(_parse_rto, {"anyOf": [{"const": "adaptive"}, _DURATION]}, _write_rto),
]
Switchable = Annotated[bool, Parsed(_parse_switchable, {"enum": ["on", "off", True, False]})]
