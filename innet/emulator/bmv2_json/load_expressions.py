"""From JSON values to fields, expressions and arguments of primitives."""

from collections.abc import Mapping
from typing import Any

from innet.emulator.bmv2_json.program import Argument, Header, Reference, Stack, Text, Values
from innet.emulator.bmv2_json.refuse import unsupported
from innet.emulator.bmv2_json.terms import (
    OPERATORS,
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

Json = Mapping[str, Any]

_REFERENCES = ("header_stack", "register_array", "counter_array", "calculation")


class Names:
    """The program's headers and stacks, by which the JSON refers to fields."""

    def __init__(self, headers: Mapping[str, Header], stacks: Mapping[str, Stack]) -> None:
        self.headers = headers
        self.stacks = stacks
        self._fields = {
            (header.name, field.name): field
            for header in headers.values()
            for field in header.fields
        }

    def field(self, reference: list[str]) -> Field | Valid:
        """The field that [header, name] refers to. KeyError if there is none."""
        header, name = reference
        if name == "$valid$":
            return Valid(self.headers[header].name)
        return self._fields[header, name]

    def plain_field(self, reference: list[str]) -> Field:
        """A field that can be written. KeyError if there is none."""
        return self._fields[reference[0], reference[1]]

    def element_fields(self, stack: str, place: int) -> tuple[Field, ...]:
        """The field at `place` in each element of a stack."""
        return tuple(self.headers[name].fields[place] for name in self.stacks[stack].headers)

    def place(self, stack: str, name: str) -> int:
        """Where a field stands in the elements of a stack."""
        first = self.headers[self.stacks[stack].headers[0]]
        return [field.name for field in first.fields].index(name)


def hexadecimal(text: str) -> int:
    """The value of a hexstr, which may have a minus sign."""
    return int(text, 16)


def load_expression(
    json: Json, names: Names, where: str, widths: tuple[int, ...] = ()
) -> Expression:
    """Read an expression. `widths` are those of the parameters of the action it is in."""
    kind, value = json["type"], json["value"]
    match kind:
        case "expression" if "type" in value:
            return load_expression(value, names, where, widths)
        case "expression":
            return _load_operation(value, names, where, widths)
        case "field":
            return names.field(value)
        case "hexstr":
            return Constant(hexadecimal(value))
        case "bool":
            return Truth(bool(value))
        case "local" | "runtime_data":
            return Parameter(value, widths[value])
        case "header":
            return HeaderName(names.headers[value].name)
        case "lookahead":
            return Lookahead(value[0], value[1])
        case "stack_field":
            stack, name = value
            return LastField(stack, names.element_fields(stack, names.place(stack, name)))
    raise unsupported(f"a value of type {kind!r}", where)


def _load_operation(json: Json, names: Names, where: str, widths: tuple[int, ...]) -> Expression:
    op, left, right = json["op"], json["left"], json["right"]
    if op == "access_field":
        return _load_element_field(left["value"], right, names, where, widths)
    if op in ("last_stack_index", "size_stack"):
        return _load_stack_count(op, right if left is None else left, names)
    if op not in OPERATORS:
        raise unsupported(f"the operator {op!r}", where)
    operands = [right] if left is None else [left, right]
    if op == "?":
        operands.insert(0, json["cond"])
    loaded = [load_expression(operand, names, where, widths) for operand in operands]
    if op in "+-" and len(loaded) == 1:
        loaded.insert(0, Constant(0))
    if len(loaded) != OPERATORS[op]:
        raise unsupported(f"the operator {op!r} with {len(loaded)} operands", where)
    return Operation(op, tuple(loaded))


def _load_element_field(
    element: Json, place: int, names: Names, where: str, widths: tuple[int, ...]
) -> Expression:
    if element.get("op") not in ("dereference_header_stack", "dereference_stack"):
        raise unsupported("access_field of anything but an element of a stack", where)
    stack = element["left"]["value"]
    index = load_expression(element["right"], names, where, widths)
    return ElementField(stack, names.element_fields(stack, place), index)


def _load_stack_count(op: str, stack: Json, names: Names) -> Expression:
    count = StackCount(names.stacks[stack["value"]].name)
    return count if op == "size_stack" else Operation("-", (count, Constant(1)))


def load_argument(json: Json, names: Names, where: str, widths: tuple[int, ...]) -> Argument:
    """Read an argument of a primitive."""
    kind, value = json["type"], json["value"]
    if kind in _REFERENCES:
        return Reference(kind, value)
    if kind == "string":
        return Text(value)
    if kind == "parameters_vector":
        return Values(tuple(load_expression(each, names, where, widths) for each in value))
    return load_expression(json, names, where, widths)
