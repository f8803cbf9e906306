"""Find what a program does alike to every field of a header, to do it to all at once.

P4 has no arrays, so a program that adds a packet's values to registers says so for one value
after the other: the i-th field of a header, the i-th of many register arrays. Such a run of
primitives is the same as its first repetition on vectors, if the repetitions differ in nothing
else and only use operators whose low bits depend on low bits alone, as NumPy's unsigned
arithmetic wraps. The header's fields and the registers then are the lanes of vectors, on
condition that nothing else in the program refers to one of them alone.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace

from innet.emulator.bmv2_json.program import (
    JUMPS,
    Argument,
    Extract,
    Header,
    Primitive,
    Program,
    Reference,
)
from innet.emulator.bmv2_json.state import LANE_TYPES
from innet.emulator.bmv2_json.terms import Constant, Expression, Field, HeaderName, Operation

FEWEST_LANES = 8
LONGEST_REPETITION = 4
LANE_OPERATORS = ("+", "-", "*", "&", "|", "^", "~")
_WHOLE_HEADER = ("add_header", "remove_header")


@dataclass(frozen=True, slots=True)
class Run:
    """Primitives start .. start + length - 1 of an action, as `template` on vectors."""

    start: int
    length: int
    template: tuple[Primitive, ...]
    registers: tuple[str, ...]
    temporaries: frozenset[Field]


@dataclass(frozen=True, slots=True)
class Vector:
    """A header whose fields are lanes, the registers that go with it, and the runs by action."""

    header: Header
    registers: tuple[str, ...]
    runs: Mapping[int, tuple[Run, ...]]

    @property
    def width(self) -> int:
        """Bits of a lane."""
        return self.header.fields[0].width


def find_vectors(program: Program) -> dict[str, Vector]:
    """The vectors of a program by header."""
    in_stacks = {name for stack in program.stacks.values() for name in stack.headers}
    found: dict[str, Vector] = {}
    for header in program.headers.values():
        if header.name not in in_stacks and _is_uniform(header):
            vector = _vector(program, header)
            if vector is not None:
                found[header.name] = vector
    return found


def _is_uniform(header: Header) -> bool:
    shapes = {(field.width, field.signed) for field in header.fields}
    if header.metadata or len(shapes) != 1 or len(header.fields) < FEWEST_LANES:
        return False
    width, signed = shapes.pop()
    return width in LANE_TYPES and not signed


def _vector(program: Program, header: Header) -> Vector | None:
    runs: dict[int, tuple[Run, ...]] = {}
    for number, action in program.actions.items():
        found = tuple(_runs(program, header, action.primitives))
        if found:
            runs[number] = found
    all_runs = [run for each in runs.values() for run in each]
    registers = {run.registers for run in all_runs}
    if len(registers) != 1 or not _all_inside(program, header, runs, all_runs):
        return None
    return Vector(header, registers.pop(), runs)


def _runs(program: Program, header: Header, primitives: Sequence[Primitive]) -> Iterator[Run]:
    targets = {each.arguments[-1] for each in primitives if each.op in JUMPS}
    start = 0
    while start < len(primitives):
        run = next(
            (
                run
                for period in range(1, LONGEST_REPETITION + 1)
                if (run := _run_at(program, header, primitives, start, period)) is not None
            ),
            None,
        )
        if run is None or any(Constant(start + place) in targets for place in range(1, run.length)):
            start += 1
        else:
            yield run
            start += run.length


def _run_at(
    program: Program, header: Header, primitives: Sequence[Primitive], start: int, period: int
) -> Run | None:
    lanes = len(header.fields)
    length = period * lanes
    if start + length > len(primitives):
        return None
    template = _repetition(primitives[start : start + period], header.fields[0])
    registers = []
    for lane, field in enumerate(header.fields):
        begin = start + lane * period
        repetition = _repetition(primitives[begin : begin + period], field)
        if repetition is None or template is None or repetition[0] != template[0]:
            return None
        registers.append(repetition[1])
    assert template is not None
    temporaries = _temporaries(template[0], header.fields[0].width)
    if temporaries is None or not _are_alike(program, registers, header.fields[0].width):
        return None
    return Run(start, length, template[0], tuple(registers), temporaries)


LANE = "*"
"""The name of a field that stands for the fields of all lanes in turn."""

_LANE_REGISTER = Reference("register_array", "")


def _repetition(
    primitives: Sequence[Primitive], field: Field
) -> tuple[tuple[Primitive, ...], str] | None:
    """The primitives with one lane's field and register array made anonymous."""
    arrays = {
        node.name
        for node in walk(primitives)
        if isinstance(node, Reference) and node.kind == "register_array"
    }
    if len(arrays) != 1:
        return None
    lane = replace(field, name=LANE)
    renamed = []
    for primitive in primitives:
        arguments: list[Argument] = []
        for argument in primitive.arguments:
            if isinstance(argument, Reference):
                arguments.append(_LANE_REGISTER)
            elif isinstance(argument, Field | Constant | Operation):
                arguments.append(_rename(argument, field, lane))
            else:
                return None
        renamed.append(Primitive(primitive.op, tuple(arguments), ""))
    if not any(node == lane for node in walk(renamed)):
        return None
    return tuple(renamed), arrays.pop()


def _rename(expression: Expression, field: Field, lane: Field) -> Expression:
    if expression == field:
        return lane
    if isinstance(expression, Operation):
        operands = tuple(_rename(each, field, lane) for each in expression.operands)
        return Operation(expression.op, operands)
    return expression


def _are_alike(program: Program, registers: Sequence[str], width: int) -> bool:
    arrays = [program.registers[name] for name in registers]
    sizes = {array.size for array in arrays}
    return (
        len(set(registers)) == len(registers)
        and sizes == {arrays[0].size}
        and all(array.width == width for array in arrays)
    )


def _temporaries(template: Sequence[Primitive], width: int) -> frozenset[Field] | None:
    """Fields that a repetition writes before it reads them; None if it cannot be on vectors."""
    written: set[Field] = set()
    for primitive in template:
        parts = _parts(primitive)
        if parts is None:
            return None
        target, value, index = parts
        if not all(_is_lane_value(node, written) for node in walk(value)):
            return None
        if any(node.name == LANE or node in written for node in _fields(index)):
            return None
        if target is not None and target.name != LANE:
            if target.width != width or target.signed:
                return None
            written.add(target)
    return frozenset(written)


def _parts(primitive: Primitive) -> tuple[Field | None, object, object] | None:
    """The field that a primitive writes, the value and the index of the register."""
    match primitive.op, primitive.arguments:
        case "register_read", (Field() as target, Reference(), index):
            return target, (), index
        case "register_write", (Reference(), index, value):
            return None, value, index
        case "assign", (Field() as target, value):
            return target, value, ()
    return None


def _is_lane_value(node: object, written: set[Field]) -> bool:
    if isinstance(node, Field):
        return node.name == LANE or node in written
    if isinstance(node, Operation):
        return node.op in LANE_OPERATORS
    return isinstance(node, Constant)


def _fields(node: object) -> Iterator[Field]:
    return (each for each in walk(node) if isinstance(each, Field))


def walk(node: object) -> Iterator[object]:
    """A part of a program and everything in it."""
    if isinstance(node, tuple | list):
        for each in node:
            yield from walk(each)
    elif isinstance(node, Mapping):
        for each in node.values():
            yield from walk(each)
    elif is_dataclass(node):
        yield node
        for each in fields(node):
            yield from walk(getattr(node, each.name))


def _all_inside(
    program: Program, header: Header, runs: Mapping[int, tuple[Run, ...]], all_runs: list[Run]
) -> bool:
    """Whether nothing but the runs refers to the lanes' fields, registers and temporaries."""
    registers = set(all_runs[0].registers)
    temporaries = {field for run in all_runs for field in run.temporaries}
    concerned = Counter[object](
        node for node in _references(program) if _concerns(node, header, registers, temporaries)
    )
    for number, action_runs in runs.items():
        primitives = program.actions[number].primitives
        for run in action_runs:
            inside = primitives[run.start : run.start + run.length]
            concerned.subtract(
                node for node in walk(inside) if _concerns(node, header, registers, temporaries)
            )
    return not any(concerned.values())


def _concerns(node: object, header: Header, registers: set[str], temporaries: set[Field]) -> bool:
    if isinstance(node, Field):
        return node.header == header.name or node in temporaries
    if isinstance(node, HeaderName):
        return node.name == header.name
    return isinstance(node, Reference) and node.name in registers


def _references(program: Program) -> Iterator[object]:
    """Everything in the program that refers to fields, headers or registers."""
    for action in program.actions.values():
        for primitive in action.primitives:
            if primitive.op not in _WHOLE_HEADER:
                yield from walk(primitive)
    for flow in (program.ingress, program.egress):
        yield from walk(flow.nodes)
    for state in program.states.values():
        yield from (each for each in walk(state) if not isinstance(each, Extract))
    for part in (program.checksums, program.calculations, program.field_lists, program.aliases):
        yield from walk(part)
