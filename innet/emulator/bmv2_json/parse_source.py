"""From parse states to Python source.

The generated function keeps the packet in `frame`, its length in `size`, and in `offset` how
much is parsed. An error leaves the parser; what was extracted stays. Where BMv2 would look
at memory behind a packet that ends too early, the packet is too short here.
"""

from innet.emulator.bmv2_json.context import Context
from innet.emulator.bmv2_json.flow import Block, Go, write_graph
from innet.emulator.bmv2_json.lanes import walk
from innet.emulator.bmv2_json.layout import unpack_source
from innet.emulator.bmv2_json.primitives import store, write_primitive
from innet.emulator.bmv2_json.program import (
    JUMPS,
    Advance,
    Extract,
    ExtractNext,
    Header,
    ParserOperation,
    Primitive,
    SetField,
    State,
    Transition,
    Verify,
)
from innet.emulator.bmv2_json.refuse import unsupported
from innet.emulator.bmv2_json.terms import Lookahead, key_width


def write_parser(context: Context) -> None:
    """Write the parser of the program."""
    states = context.program.states
    blocks = {name: _block(context, state) for name, state in states.items()}
    write_graph(context.writer, blocks, context.program.start)


def _block(context: Context, state: State) -> Block:
    def write(go: Go) -> None:
        for operation in state.operations:
            _write_operation(context, operation)
        _require_ahead(context, state.keys)
        _write_transitions(context, state, go)

    targets = [transition.target for transition in state.transitions]
    return Block([*targets, state.otherwise], write)


def _write_transitions(context: Context, state: State, go: Go) -> None:
    keys = [context.code(key).text for key in state.keys]
    word = "if"
    for transition in state.transitions:
        with context.writer.block(f"{word} {_test(state, keys, transition)}:"):
            go(transition.target)
        word = "elif"
    if word == "if":
        go(state.otherwise)
        return
    with context.writer.block("else:"):
        go(state.otherwise)


def _test(state: State, keys: list[str], transition: Transition) -> str:
    parts = []
    for source, key, (value, mask) in zip(state.keys, keys, transition.matches, strict=True):
        whole = mask == (1 << key_width(source)) - 1 and not getattr(source, "signed", False)
        if mask:
            parts.append(f"{key if whole else f'({key} & {mask:#x})'} == {value:#x}")
    return " and ".join(parts) or "True"


def _too_short(context: Context, needed: str) -> None:
    with context.writer.block(f"if size - offset < {needed}:"):
        _fail(context, "PacketTooShort")


def _fail(context: Context, error: str) -> None:
    context.writer(f"parser_error = {context.program.errors.get(error, 0)}  # {error}")
    context.writer("break")


def _require_ahead(context: Context, parts: object) -> None:
    """Write a check that the packet is long enough to look ahead as far as `parts` do."""
    ends = [each.offset + each.width for each in walk(parts) if isinstance(each, Lookahead)]
    if ends:
        _too_short(context, str((max(ends) + 7) // 8))


def _write_operation(context: Context, operation: ParserOperation) -> None:
    match operation:
        case Extract(header):
            _write_extract(context, context.program.headers[header])
        case ExtractNext(stack):
            _write_extract_next(context, stack)
        case SetField(field, value):
            _require_ahead(context, value)
            store(context, field, context.code(value), "parser")
        case Verify(condition, error):
            with context.writer.block(f"if not {context.code(condition).text}:"):
                context.writer(f"parser_error = {context.code(error).text}")
                context.writer("break")
        case Advance(bits):
            _write_advance(context, context.code(bits).text)
        case Primitive():
            if operation.op in JUMPS:
                raise unsupported("a jump in a parser", operation.where)
            write_primitive(context, operation)


def _write_extract(context: Context, header: Header) -> None:
    _too_short(context, str(header.bytes))
    if header.name in context.vectors:
        lanes = len(header.fields)
        wire_type = context.thing("wire_type", header.name)
        value = f"from_buffer(frame, {wire_type}, {lanes}, offset)"
        context.set(context.vector(header.name), value)
    elif header.fields:
        for field in header.fields:
            context.written.add(context.variable(field))
        call = f"{context.thing('unpack', header.name)}(frame, offset)"
        for line in unpack_source(header, context.variable, call):
            context.writer(line)
    context.set(context.valid(header.name), "1")
    context.writer(f"offset += {header.bytes}")


def _write_extract_next(context: Context, name: str) -> None:
    headers = [context.program.headers[each] for each in context.program.stacks[name].headers]
    count = context.stack_counts[name]
    for place, header in enumerate(headers):
        with context.writer.block(f"{'elif' if place else 'if'} {count} == {place}:"):
            _write_extract(context, header)
    with context.writer.block("else:"):
        _fail(context, "StackOutOfBounds")
    context.writer(f"{count} += 1")


def _write_advance(context: Context, bits: str) -> None:
    context.writer(f"ahead = {bits}")
    with context.writer.block("if ahead % 8:"):
        _fail(context, "ParserInvalidArgument")
    _too_short(context, "ahead // 8")
    context.writer("offset += ahead // 8")
