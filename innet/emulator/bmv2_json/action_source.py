"""From an action to Python source: its primitives, its jumps, and runs on vectors."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from innet.emulator.bmv2_json.context import Context
from innet.emulator.bmv2_json.flow import Block, Go, write_graph
from innet.emulator.bmv2_json.lanes import LANE, Run, Vector, walk
from innet.emulator.bmv2_json.primitives import write_cell, write_primitive
from innet.emulator.bmv2_json.program import JUMPS, Action, Primitive
from innet.emulator.bmv2_json.refuse import unsupported
from innet.emulator.bmv2_json.terms import Constant, Expression, Field, Operation


def write_action(context: Context, number: int) -> None:
    """Write an action's primitives. Its parameters are the variables p0, p1 and so on."""
    action = context.program.actions[number]
    if any(primitive.op in JUMPS for primitive in action.primitives):
        _write_jumping(context, number, action)
    else:
        _write_primitives(context, number, range(len(action.primitives)))


def leaves(action: Action) -> bool:
    """Whether the action may end the pipeline."""
    return any(primitive.op == "exit" for primitive in action.primitives)


def _write_jumping(context: Context, number: int, action: Action) -> None:
    """Cut the action into blocks that begin where a jump leads or after a jump."""
    primitives = action.primitives
    end = len(primitives)
    starts = {0}
    for place, primitive in enumerate(primitives):
        if primitive.op in JUMPS:
            starts |= {place + 1, _target(primitive)}
    bounds = [*sorted(start for start in starts if start < end), end]
    names: Mapping[int, str | None] = {
        **{start: str(start) for start in bounds[:-1]},
        end: None,
    }
    blocks = {
        str(start): _block(context, number, range(start, stop), names)
        for start, stop in pairwise(bounds)
    }
    write_graph(context.writer, blocks, "0")


def _target(primitive: Primitive) -> int:
    target = primitive.arguments[-1]
    if not isinstance(target, Constant):
        raise unsupported("a computed jump", primitive.where)
    return target.value


def _block(context: Context, number: int, places: range, names: Mapping[int, str | None]) -> Block:
    last = context.program.actions[number].primitives[places[-1]]
    following = names[places.stop]
    if last.op not in JUMPS:

        def write(go: Go) -> None:
            _write_primitives(context, number, places)
            go(following)

        return Block([following], write)

    target = names[_target(last)]

    def write_and_jump(go: Go) -> None:
        _write_primitives(context, number, places[:-1])
        if last.op == "_jump":
            go(target)
            return
        with context.writer.block(f"if {_condition(context, last)}:"):
            go(following)
        with context.writer.block("else:"):
            go(target)

    targets = [target] if last.op == "_jump" else [following, target]
    return Block(targets, write_and_jump)


def _condition(context: Context, jump: Primitive) -> str:
    argument = jump.arguments[0]
    if isinstance(argument, Operation) and argument.op == "b2d":
        argument = argument.operands[0]
    return context.code(_plain(argument, jump)).text


def _plain(argument: object, primitive: Primitive) -> Expression:
    if isinstance(argument, Operation | Field | Constant):
        return argument
    raise unsupported(f"a {type(argument).__name__} as argument of a jump", primitive.where)


def _write_primitives(context: Context, number: int, places: range | Sequence[int]) -> None:
    primitives = context.program.actions[number].primitives
    runs = {
        run.start: (vector, run)
        for vector in context.vectors.values()
        for run in vector.runs.get(number, ())
    }
    skip_to = 0
    for place in places:
        if place in runs:
            _write_run(context, *runs[place])
            skip_to = place + runs[place][1].length
        elif place >= skip_to:
            write_primitive(context, primitives[place])


def _write_run(context: Context, vector: Vector, run: Run) -> None:
    """Write the first repetition of a run, on vectors.

    Vectors are never changed in place, but a row of registers is: what is read from it must
    be copied if it is used after the registers are written.
    """
    array = context.program.registers[vector.registers[0]]
    name = context.thing("rows", vector.header.name)
    checked: dict[Expression, str] = {}
    for place, primitive in enumerate(run.template):
        arguments = primitive.arguments
        if primitive.op == "assign":
            target, value = arguments
            context.set(_lane(context, vector, target), _lane_value(context, vector, value))
            continue
        index = arguments[2] if primitive.op == "register_read" else arguments[1]
        expression = _plain(index, primitive)
        if expression not in checked:
            code = context.code(expression)
            checked[expression] = write_cell(
                context, code, "register array", array.name, array.size
            )
        row = f"{name}[{checked[expression]}]"
        if primitive.op == "register_read":
            passing = _is_used_up(run.template[place:], arguments[0])
            context.set(_lane(context, vector, arguments[0]), row if passing else f"{row}.copy()")
        else:
            context.writer(f"{row} = {_lane_value(context, vector, arguments[2])}")


def _is_used_up(template: Sequence[Primitive], target: object) -> bool:
    """Whether what the first primitive reads is not needed once registers are written."""
    later = [place for place, each in enumerate(template) if each.op == "register_write"]
    after = template[later[0] :] if later else template
    if isinstance(target, Field) and target.name == LANE:
        return False
    return bool(later) and target not in walk(after)


def _lane(context: Context, vector: Vector, target: object) -> str:
    assert isinstance(target, Field)
    if target.name == LANE and target.header == vector.header.name:
        return context.vector(vector.header.name)
    return context.variable(target)


def _lane_value(context: Context, vector: Vector, value: object) -> str:
    """Source of a value in lanes: arrays wrap by themselves, so no mask is needed."""
    if isinstance(value, Operation):
        full = (1 << vector.width) - 1
        operands = [each for each in value.operands if each != Constant(full)]
        if value.op == "&" and len(operands) == 1:
            return _lane_value(context, vector, operands[0])
        texts = [_lane_value(context, vector, each) for each in value.operands]
        return f"(~{texts[0]})" if value.op == "~" else f"({texts[0]} {value.op} {texts[1]})"
    if isinstance(value, Constant):
        lane_type = context.thing("lane_type", vector.header.name)
        return f"{lane_type}({value.value & ((1 << vector.width) - 1):#x})"
    return _lane(context, vector, value)
