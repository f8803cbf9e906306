"""From JSON to parse states."""

from innet.emulator.bmv2_json.load_expressions import Json, Names, hexadecimal, load_expression
from innet.emulator.bmv2_json.load_flow import load_primitive
from innet.emulator.bmv2_json.program import (
    Advance,
    Extract,
    ExtractNext,
    ParserOperation,
    SetField,
    State,
    Transition,
    Verify,
)
from innet.emulator.bmv2_json.refuse import unsupported
from innet.emulator.bmv2_json.terms import Constant, Field, LastField, Lookahead, Valid, key_width


def load_state(json: Json, names: Names) -> State:
    """Read one state. ConfigurationError for an operation that is not implemented."""
    where = f"parser state {json['name']!r}"
    keys = tuple(load_expression(key, names, where) for key in json["transition_key"])
    if not all(isinstance(key, Field | Valid | LastField | Lookahead) for key in keys):
        raise unsupported("a computed transition key", where)
    widths = [key_width(key) for key in keys]
    transitions = []
    otherwise = None
    for transition in json["transitions"]:
        if transition["type"] == "default":
            otherwise = transition["next_state"]
        elif transition["type"] == "hexstr":
            matches = _split(transition["value"], transition["mask"], widths)
            transitions.append(Transition(matches, transition["next_state"]))
        else:
            raise unsupported(f"a transition of type {transition['type']!r}", where)
    operations = tuple(_load_operation(each, names, where) for each in json["parser_ops"])
    return State(json["name"], operations, keys, tuple(transitions), otherwise)


def _split(value: str, mask: str | None, widths: list[int]) -> tuple[tuple[int, int], ...]:
    """Cut a value and a mask, whose parts are filled up to whole bytes, into parts."""
    rest = hexadecimal(value)
    rest_mask = -1 if mask is None else hexadecimal(mask)
    parts = []
    for width in reversed(widths):
        padded = (width + 7) // 8 * 8
        low = (1 << padded) - 1
        parts.append((rest & rest_mask & low, rest_mask & ((1 << width) - 1)))
        rest >>= padded
        rest_mask >>= padded
    return tuple(reversed(parts))


def _load_operation(json: Json, names: Names, where: str) -> ParserOperation:
    op, parameters = json["op"], json["parameters"]
    match op:
        case "extract":
            return _load_extract(parameters[0], names, where)
        case "set":
            field = names.plain_field(parameters[0]["value"])
            return SetField(field, load_expression(parameters[1], names, where))
        case "verify":
            condition, error = (load_expression(each, names, where) for each in parameters)
            return Verify(condition, error)
        case "advance":
            return Advance(load_expression(parameters[0], names, where))
        case "shift":
            return Advance(Constant(8 * _plain_integer(parameters[0])))
        case "primitive":
            return load_primitive(parameters[0], names, where, ())
    raise unsupported(f"the parser operation {op!r}", where)


def _plain_integer(parameter: Json | int) -> int:
    return parameter if isinstance(parameter, int) else int(parameter["value"])


def _load_extract(json: Json, names: Names, where: str) -> ParserOperation:
    if json["type"] == "regular":
        return Extract(names.headers[json["value"]].name)
    if json["type"] == "stack":
        return ExtractNext(names.stacks[json["value"]].name)
    raise unsupported(f"extraction to a {json['type']!r}", where)
