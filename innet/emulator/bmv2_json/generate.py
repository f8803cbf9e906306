"""From a program to the source of one Python function that takes a packet through it.

Header fields, metadata and validity bits are the function's local variables, so that a step of
the program is a statement of Python. Around ingress and egress, the function does what
simple_switch does (see `surroundings`).
"""

from collections.abc import Callable, Mapping

from innet.emulator.bmv2_json.calculations import calculation_source
from innet.emulator.bmv2_json.context import Context
from innet.emulator.bmv2_json.flow import Writer
from innet.emulator.bmv2_json.flow_source import write_flow
from innet.emulator.bmv2_json.lanes import Vector
from innet.emulator.bmv2_json.parse_source import write_parser
from innet.emulator.bmv2_json.primitives import require_known
from innet.emulator.bmv2_json.program import Checksum, Primitive, Program
from innet.emulator.bmv2_json.surroundings import (
    FUNCTION,
    write_after_ingress,
    write_before_egress,
    write_end,
    write_first,
)


def generate(program: Program, vectors: Mapping[str, Vector]) -> tuple[str, Context]:
    """The source of `run(port, frame, kind, preserved, passes) -> [(port, frame)]`.

    `kind` is the metadata field instance_type, not 0 for packets that go through again, with
    their preserved metadata and how often they have. ConfigurationError for what is not
    implemented.
    """
    _require_known_primitives(program)
    context = Context(program, vectors)
    egress = _part(context, 2, lambda context: write_flow(context, program.egress))
    updates = _part(context, 2, _write_updates)
    changed = frozenset(context.written)
    ingress = _part(context, 1, lambda context: write_flow(context, program.ingress))
    # Only what the program reads is set, so what sets it is written after what reads it.
    parser = _part(context, 1, _write_parser)
    between = _part(context, 1, lambda context: write_after_ingress(context, changed))
    copy = _part(context, 2, write_before_egress)
    end = _part(context, 2, lambda context: write_end(context, changed, updates))
    first = _part(context, 1, write_first)
    head = f"def {FUNCTION}(port, frame, kind, preserved, passes):"
    lines = [head, *first, *parser, *ingress, *between, *copy, *egress, *end, "    return sent"]
    return "\n".join(lines) + "\n", context


def _require_known_primitives(program: Program) -> None:
    for action in program.actions.values():
        for primitive in action.primitives:
            require_known(primitive)
    for state in program.states.values():
        for operation in state.operations:
            if isinstance(operation, Primitive):
                require_known(operation)


def _part(context: Context, depth: int, write: Callable[[Context], None]) -> list[str]:
    context.writer = Writer(depth=depth)
    write(context)
    return context.writer.lines


def _write_parser(context: Context) -> None:
    write_parser(context)
    for checksum in context.program.checksums:
        if checksum.verify:
            _write_verification(context, checksum)
    context.set_standard("checksum_error", "checksum_error")
    context.set_standard("parser_error", "parser_error")


def _write_verification(context: Context, checksum: Checksum) -> None:
    valid = context.valid(checksum.target.header)
    condition = "" if checksum.condition is None else context.code(checksum.condition).text
    with context.writer.block(f"if {valid}{' and ' if condition else ''}{condition}:"):
        result = _write_calculation(context, checksum)
        with context.writer.block(f"if {result} != {context.code(checksum.target).text}:"):
            context.writer("checksum_error = 1")


def _write_updates(context: Context) -> None:
    for checksum in context.program.checksums:
        if not checksum.update:
            continue
        condition = "True" if checksum.condition is None else context.code(checksum.condition).text
        with context.writer.block(f"if {condition}:"):
            result = _write_calculation(context, checksum)
            mask = (1 << checksum.target.width) - 1
            context.set(context.variable(checksum.target), f"{result} & {mask:#x}")


def _write_calculation(context: Context, checksum: Checksum) -> str:
    """Write what collects the input; return the result's source."""
    calculation = context.program.calculations[checksum.calculation]
    lines, result = calculation_source(calculation, context.variable, context.valid)
    for line in lines:
        context.writer(line)
    return result
