"""What simple_switch does around a program, as Python source.

After docs/simple_switch.md and targets/simple_switch of p4lang/behavioral-model: it sets the
standard metadata, and after ingress it resubmits, replicates, drops or sends, in this order.
A copy starts egress from what ingress left, so what egress changes is set back before each.
Copies do not inherit a call to recirculate or truncate. A resubmitted or recirculated packet
has lost all metadata, also its ingress port, but for what a list of fields names. Its passes
follow each other here, while BMv2 may take other packets in between.
"""

from collections.abc import Set

from innet.emulator.bmv2_json.context import DROP_PORT, Context
from innet.emulator.bmv2_json.layout import pack_source
from innet.emulator.bmv2_json.program import Header
from innet.emulator.bmv2_json.terms import Field
from innet.errors import ConfigurationError

FUNCTION = "run"
NORMAL, RECIRCULATED, REPLICATED, RESUBMITTED = 0, 4, 5, 6
"""What a packet is, in the metadata field instance_type."""

SPEC = "egress_spec"
GROUP = "intrinsic_metadata.mcast_grp"
INSTANCE = "intrinsic_metadata.egress_rid"
INGRESS_TIME = "intrinsic_metadata.ingress_global_timestamp"
EGRESS_TIMES = ("intrinsic_metadata.egress_global_timestamp", "queueing_metadata.enq_timestamp")
_ALL_BYTES = "longest = 1 << 20"


def write_first(context: Context) -> None:
    """Write how the variables start. To be called after all other parts are written."""
    writer = context.writer
    zeros = list(context.used)
    for start in range(0, len(zeros), 8):
        writer(" = ".join([*zeros[start : start + 8], "0"]))
    for name in context.vectors:
        writer(f"{context.vector(name)} = {context.thing('zeros', name)}")
    writer("offset = parser_error = checksum_error = 0")
    writer("size = length = len(frame)")
    if "truncate" in context.features:
        writer(_ALL_BYTES)
    for feature in ("resubmit", "recirculate"):
        if feature in context.features:
            writer(f"{feature}_list = 0")
            _write_preserved(context)
    context.set_standard("packet_length", "size")
    context.set_standard("instance_type", "kind")
    _write_time(context, INGRESS_TIME)
    port = context.standard("ingress_port")
    if port is not None and context.is_used(port):
        with writer.block(f"if kind == {NORMAL}:"):
            writer(f"{context.variable(port)} = port")


def _write_preserved(context: Context) -> None:
    for number, fields in context.program.field_lists.items():
        if fields:
            with context.writer.block(f"if preserved and preserved[0] == {number}:"):
                context.writer(f"{_listed(context, fields)} = preserved[1]")


def _listed(context: Context, fields: tuple[Field, ...]) -> str:
    return "".join(f"{context.variable(field)}, " for field in fields).strip()


def _write_time(context: Context, name: str) -> None:
    field = context.standard(name)
    if field is not None:
        context.set_standard(name, f"microseconds() & {(1 << field.width) - 1:#x}")


# --- After ingress ------------------------------------------------------------------------


def write_after_ingress(context: Context, changed: Set[str]) -> None:
    """Write where the packet goes, and the head of the loop over its copies.

    `changed` are the variables that egress and the checksums after it write.
    """
    writer = context.writer
    if "resubmit" in context.features:
        with writer.block("if resubmit_list:"):
            _write_again(context, "frame", RESUBMITTED, "resubmit_list", "return ")
    group = context.standard(GROUP)
    if group is None:
        _write_one_copy(context)
    else:
        with writer.block(f"if {context.variable(group)}:"):
            _write_replicas(context, context.variable(group))
        with writer.block("else:"):
            _write_one_copy(context)
    for header in _deparsed(context):
        if not _depends_on(context, header) & changed:
            writer(f"{_packed(context, header)} = {_pack(context, header)}")
    writer("sent = []")
    names = "".join(f"{name}, " for name in sorted(changed))
    if names:
        writer(f"saved = ({names})")
    writer("for egress_port, instance in copies:")
    if names:
        writer(f"    {names.strip()} = saved")


def _write_replicas(context: Context, group: str) -> None:
    context.writer(f"copies = groups_get({group}, ())")
    context.set_standard("instance_type", str(REPLICATED))
    if "recirculate" in context.features:
        context.writer("recirculate_list = 0")
    if "truncate" in context.features:
        context.writer(_ALL_BYTES)


def _write_one_copy(context: Context) -> None:
    spec = context.standard(SPEC)
    if spec is None:
        raise ConfigurationError("the program has no standard metadata of v1model")
    instance = context.standard(INSTANCE)
    with context.writer.block(f"if {context.variable(spec)} == {DROP_PORT}:"):
        context.writer("return []")
    number = "0" if instance is None else context.variable(instance)
    context.writer(f"copies = (({context.variable(spec)}, {number}),)")
    context.set_standard("instance_type", str(NORMAL))


def write_before_egress(context: Context) -> None:
    """Write the standard metadata of a copy."""
    context.set_standard(INSTANCE, "instance")
    context.set_standard("egress_port", "egress_port")
    # BMv2 sets one more than the port of dropped packets, which is 0 in 9 bits.
    context.set_standard(SPEC, "0")
    context.set_standard("packet_length", "length & 0xffffffff")
    for name in EGRESS_TIMES:
        _write_time(context, name)


# --- After egress -------------------------------------------------------------------------


def write_end(context: Context, changed: Set[str], updates: list[str]) -> None:
    """Write what becomes of a copy after egress: `updates` of checksums, deparser, sending."""
    writer = context.writer
    spec = context.standard(SPEC)
    if spec is not None:
        with writer.block(f"if {context.variable(spec)} == {DROP_PORT}:"):
            writer("continue")
    writer.lines += updates
    parts = [
        _pack(context, header)
        if _depends_on(context, header) & changed
        else _packed(context, header)
        for header in _deparsed(context)
    ]
    writer(f"data = b''.join(({', '.join([*parts, 'frame[offset:]'])},))")
    if "truncate" in context.features:
        writer("data = data[:longest]")
    if "recirculate" in context.features:
        with writer.block("if recirculate_list:"):
            _write_again(context, "data", RECIRCULATED, "recirculate_list", "sent += ")
            writer("continue")
    writer("sent.append((egress_port, data))")


def _write_again(context: Context, frame: str, kind: int, number: str, result: str) -> None:
    """Write the call that takes the packet through the program again."""
    writer = context.writer
    writer("preserved = None")
    for known, fields in context.program.field_lists.items():
        if fields:
            with writer.block(f"if {number} == {known}:"):
                writer(f"preserved = ({known}, ({_listed(context, fields)}))")
    writer(f"{result}{FUNCTION}(port, {frame}, {kind}, preserved, one_more(passes))")


def _deparsed(context: Context) -> list[Header]:
    return [context.program.headers[name] for name in context.program.deparser]


def _depends_on(context: Context, header: Header) -> set[str]:
    return {*context.variables_of(header), context.valid(header.name)}


def _packed(context: Context, header: Header) -> str:
    """The variable of a header's bytes where egress does not change them."""
    return f"{context.thing('bytes', header.name)}"


def _pack(context: Context, header: Header) -> str:
    if header.name in context.vectors:
        wire_type = context.thing("wire_type", header.name)
        vector = context.vector(header.name)
        text = f"{vector}.astype({wire_type}, copy=False).tobytes()"
    elif header.fields:
        arguments = pack_source(header, context.variable)
        text = f"{context.thing('pack', header.name)}({arguments})"
    else:
        text = "b''"
    return f"{text} if {context.valid(header.name)} else b''"
