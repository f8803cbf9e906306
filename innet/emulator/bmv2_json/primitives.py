"""From the primitives of actions to Python source."""

from collections.abc import Callable, Mapping

from innet.emulator.bmv2_json.calculations import calculation_source
from innet.emulator.bmv2_json.context import DROP_PORT, STANDARD, Context
from innet.emulator.bmv2_json.expressions import Code, fit
from innet.emulator.bmv2_json.program import JUMPS, Argument, Primitive, Reference, Text, Values
from innet.emulator.bmv2_json.refuse import unsupported
from innet.emulator.bmv2_json.terms import Constant, ElementField, Expression, Field, HeaderName

Write = Callable[[Context, Primitive], None]


def write_primitive(context: Context, primitive: Primitive) -> None:
    """Write the source of a primitive that is no jump.

    ConfigurationError for one that is not implemented, or not with these arguments.
    """
    _WRITERS[primitive.op](context, primitive)


def require_known(primitive: Primitive) -> None:
    """Raise ConfigurationError if a primitive is not implemented."""
    if primitive.op not in _WRITERS and primitive.op not in JUMPS:
        raise unsupported(f"the primitive {primitive.op!r}", primitive.where)


def _expression(primitive: Primitive, place: int) -> Expression:
    argument: Argument = primitive.arguments[place]
    if isinstance(argument, Reference | Text | Values):
        what = f"{type(argument).__name__.lower()} as argument {place + 1} of {primitive.op!r}"
        raise unsupported(what, primitive.where)
    return argument


def _code(context: Context, primitive: Primitive, place: int) -> Code:
    return context.code(_expression(primitive, place))


def _reference(primitive: Primitive, place: int) -> str:
    argument = primitive.arguments[place]
    if isinstance(argument, Reference):
        return argument.name
    raise unsupported(f"argument {place + 1} of {primitive.op!r}", primitive.where)


def _header(primitive: Primitive, place: int) -> str:
    argument = primitive.arguments[place]
    if isinstance(argument, HeaderName):
        return argument.name
    raise unsupported(f"a computed header in {primitive.op!r}", primitive.where)


def _constant(primitive: Primitive, place: int) -> int:
    argument = primitive.arguments[place]
    if isinstance(argument, Constant):
        return argument.value
    raise unsupported(f"a computed number in {primitive.op!r}", primitive.where)


def store(context: Context, target: Expression, code: Code, where: str) -> None:
    """Write an assignment of a value to a field, of a header or of a computed element."""
    if isinstance(target, Field):
        context.assign(target, code)
        return
    if not isinstance(target, ElementField):
        raise unsupported(f"assignment to a {type(target).__name__}", where)
    context.writer(f"element = {context.code(target.index).text}")
    for place, field in enumerate(target.fields):
        with context.writer.block(f"{'elif' if place else 'if'} element == {place}:"):
            context.assign(field, code)
    with context.writer.block("else:"):
        context.writer(f"past_stack({target.stack!r})")


def _assign(context: Context, primitive: Primitive) -> None:
    code = _code(context, primitive, 1)
    store(context, _expression(primitive, 0), code, primitive.where)


# --- Headers ------------------------------------------------------------------------------


def _add_header(context: Context, primitive: Primitive) -> None:
    header = context.program.headers[_header(primitive, 0)]
    valid = context.valid(header.name)
    with context.writer.block(f"if not {valid}:"):
        context.set(valid, "1")
        context.set("length", f"length + {header.bytes}")
        if header.name in context.vectors:
            context.set(context.vector(header.name), context.thing("zeros", header.name))
        else:
            for field in header.fields:
                context.set(context.variable(field), "0")


def _remove_header(context: Context, primitive: Primitive) -> None:
    header = context.program.headers[_header(primitive, 0)]
    valid = context.valid(header.name)
    with context.writer.block(f"if {valid}:"):
        context.set(valid, "0")
        context.set("length", f"length - {header.bytes}")


def _copy(context: Context, target: str, source: str) -> None:
    headers = context.program.headers
    with context.writer.block(f"if {context.valid(source)}:"):
        for to, origin in zip(headers[target].fields, headers[source].fields, strict=True):
            context.set(context.variable(to), context.variable(origin))
        if not headers[target].metadata:
            context.set(context.valid(target), "1")
    if not headers[target].metadata and not headers[source].metadata:
        with context.writer.block("else:"):
            context.set(context.valid(target), "0")


def _assign_header(context: Context, primitive: Primitive) -> None:
    _copy(context, _header(primitive, 0), _header(primitive, 1))


def _assign_header_stack(context: Context, primitive: Primitive) -> None:
    target, source = (context.program.stacks[_reference(primitive, place)] for place in (0, 1))
    counts = context.stack_counts
    context.set(counts[target.name], counts[source.name])
    for to, origin in zip(target.headers, source.headers, strict=True):
        _copy(context, to, origin)


def _push(context: Context, primitive: Primitive) -> None:
    stack = context.program.stacks[_reference(primitive, 0)]
    by, size = _constant(primitive, 1), len(stack.headers)
    count = context.stack_counts[stack.name]
    context.set(count, f"min({size}, {count} + {by})")
    for place in reversed(range(by, size)):
        _copy(context, stack.headers[place], stack.headers[place - by])
    for name in stack.headers[:by]:
        context.set(context.valid(name), "0")


def _pop(context: Context, primitive: Primitive) -> None:
    stack = context.program.stacks[_reference(primitive, 0)]
    by, size = _constant(primitive, 1), len(stack.headers)
    count = context.stack_counts[stack.name]
    context.set(count, f"max(0, {count} - {by})")
    for place in range(size - by):
        _copy(context, stack.headers[place], stack.headers[place + by])
    for name in stack.headers[max(0, size - by) :]:
        context.set(context.valid(name), "0")


# --- Registers and counters ---------------------------------------------------------------


def write_cell(context: Context, index: Code, kind: str, name: str, size: int) -> str:
    """Write the check that an index is inside an array, and return the index's source."""
    inside = index.range is not None and index.range[0] >= 0 and index.range[1] < size
    if inside:
        return index.text
    text = index.text
    if not text.isidentifier():
        context.writer(f"cell = {text}")
        text = "cell"
    negative = index.range is None or index.range[0] < 0
    test = f"not 0 <= {text} < {size}" if negative else f"{text} >= {size}"
    with context.writer.block(f"if {test}:"):
        context.writer(f"past_end({kind!r}, {name!r}, {size}, {text})")
    return text


def _register_read(context: Context, primitive: Primitive) -> None:
    array = context.program.registers[_reference(primitive, 1)]
    index = _code(context, primitive, 2)
    cell = write_cell(context, index, "register array", array.name, array.size)
    text = f"{context.thing('register', array.name)}[{cell}]"
    value = Code(text, (0, (1 << array.width) - 1))
    store(context, _expression(primitive, 0), value, primitive.where)


def _register_write(context: Context, primitive: Primitive) -> None:
    array = context.program.registers[_reference(primitive, 0)]
    index = _code(context, primitive, 1)
    cell = write_cell(context, index, "register array", array.name, array.size)
    value = fit(_code(context, primitive, 2), array.width)
    context.writer(f"{context.thing('register', array.name)}[{cell}] = {value}")


def _count(context: Context, primitive: Primitive) -> None:
    array = context.program.counters[_reference(primitive, 0)]
    index = _code(context, primitive, 1)
    cell = write_cell(context, index, "counter", array.name, array.size)
    name = context.thing("counter", array.name)
    context.writer(f"{name}_packets[{cell}] += 1")
    context.writer(f"{name}_bytes[{cell}] += size")


# --- The rest -----------------------------------------------------------------------------


def _mark_to_drop(context: Context, primitive: Primitive) -> None:
    if _header(primitive, 0) != STANDARD:
        raise unsupported("mark_to_drop of another header", primitive.where)
    for name, value in (("egress_spec", DROP_PORT), ("intrinsic_metadata.mcast_grp", 0)):
        field = context.standard(name)
        if field is not None:
            context.set(context.variable(field), str(value))


def _random(context: Context, primitive: Primitive) -> None:
    """The result is left as it is if the least number is above the greatest."""
    low, high = (_code(context, primitive, place) for place in (1, 2))
    context.writer(f"low, high = {low.text}, {high.text}")
    with context.writer.block("if low <= high:"):
        store(context, _expression(primitive, 0), Code("random(low, high)", None), primitive.where)


def _hash(context: Context, primitive: Primitive) -> None:
    base, limit = _code(context, primitive, 1), _code(context, primitive, 3)
    calculation = context.program.calculations[_reference(primitive, 2)]
    lines, result = calculation_source(calculation, context.variable, context.valid)
    for line in lines:
        context.writer(line)
    value = Code(f"({result} % ({limit.text} or 1) + {base.text})", None)
    store(context, _expression(primitive, 0), value, primitive.where)


def _truncate(context: Context, primitive: Primitive) -> None:
    context.features.add("truncate")
    context.set("longest", f"min(longest, {_code(context, primitive, 0).text})")


def _resubmit(context: Context, primitive: Primitive) -> None:
    context.features.add("resubmit")
    context.set("resubmit_list", f"{_code(context, primitive, 0).text} & 0xffff")


def _recirculate(context: Context, primitive: Primitive) -> None:
    context.features.add("recirculate")
    context.set("recirculate_list", f"{_code(context, primitive, 0).text} & 0xffff")


def _exit(context: Context, primitive: Primitive) -> None:
    context.writer("leaving = True")


def _no_op(context: Context, primitive: Primitive) -> None:
    context.writer("pass")


def _log(context: Context, primitive: Primitive) -> None:
    form, values = primitive.arguments
    if not isinstance(form, Text) or not isinstance(values, Values):
        raise unsupported("log_msg without a fixed format", primitive.where)
    texts = [context.code(value).text for value in values.values]
    context.writer(f"log({form.value!r}, ({''.join(text + ', ' for text in texts)}))")


def _assert(context: Context, primitive: Primitive) -> None:
    with context.writer.block(f"if not {_code(context, primitive, 0).text}:"):
        context.writer(f"broken({primitive.op!r}, {primitive.where!r})")


_WRITERS: Mapping[str, Write] = {
    "assign": _assign,
    "add_header": _add_header,
    "remove_header": _remove_header,
    "assign_header": _assign_header,
    "assign_header_stack": _assign_header_stack,
    "push": _push,
    "pop": _pop,
    "register_read": _register_read,
    "register_write": _register_write,
    "count": _count,
    "mark_to_drop": _mark_to_drop,
    "modify_field_rng_uniform": _random,
    "modify_field_with_hash_based_offset": _hash,
    "truncate": _truncate,
    "resubmit": _resubmit,
    "recirculate": _recirculate,
    "exit": _exit,
    "no_op": _no_op,
    "log_msg": _log,
    "assert": _assert,
    "assume": _assert,
}
