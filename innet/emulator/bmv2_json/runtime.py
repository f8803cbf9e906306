"""What generated functions call: arrays, structs, hashes and errors, by their global names."""

import logging
from collections.abc import Callable, Mapping
from random import Random
from typing import Any, NoReturn

import numpy as np

from innet.emulator.bmv2_json.calculations import ALGORITHMS, checksum
from innet.emulator.bmv2_json.context import Context
from innet.emulator.bmv2_json.expressions import LONGEST_SHIFT
from innet.emulator.bmv2_json.layout import struct_of
from innet.emulator.bmv2_json.refuse import PipelineError
from innet.emulator.bmv2_json.state import LANE_TYPES, State
from innet.emulator.bmv2_json.tables import RuntimeTable

MOST_PASSES = 256
"""How often a packet may be resubmitted or recirculated: a loop must end."""

_LOGGER = logging.getLogger("innet.p4")


def look_ahead(frame: bytes, offset: int, start: int, width: int) -> int:
    """`width` bits that start `start` bits after byte `offset` of a long enough frame."""
    end = start + width
    data = int.from_bytes(frame[offset : offset + (end + 7) // 8], "big")
    return data >> -end % 8 & ((1 << width) - 1)


def shift_left(value: int, by: int) -> int:
    """`value << by`. Far shifts leave nothing of what any field can hold."""
    return value << by if by <= LONGEST_SHIFT else 0


def past_end(kind: str, name: str, size: int, index: int) -> NoReturn:
    """Say that a program used an index that BMv2 does not check."""
    raise PipelineError(f"{kind} {name!r} has {size} cells, the program used index {index}")


def past_stack(name: str) -> NoReturn:
    """Say that a program used an element that a stack does not have."""
    raise PipelineError(f"header stack {name!r} has no element at the index that was used")


def broken(what: str, where: str) -> NoReturn:
    """Say that an assertion of the program does not hold."""
    raise PipelineError(f"{where}: the condition of {what!r} does not hold")


def one_more(passes: int) -> int:
    """Count a pass through the program."""
    if passes >= MOST_PASSES:
        raise PipelineError(f"a packet went through the program {MOST_PASSES} times")
    return passes + 1


def log(form: str, values: tuple[int, ...]) -> None:
    """Log a message of the program."""
    for value in values:
        form = form.replace("{}", str(value), 1)
    _LOGGER.info("%s", form)


def namespace(
    context: Context,
    state: State,
    tables: Mapping[str, RuntimeTable],
    seed: int,
    microseconds: Callable[[], int],
) -> dict[str, Any]:
    """The globals of the generated function. `seed` is that of the program's random numbers."""
    names: dict[str, Any] = {
        **{function.__name__: function for function in (look_ahead, shift_left, past_end, log)},
        **{function.__name__: function for function in (past_stack, broken, one_more, checksum)},
        **{f"hash_{name}": algorithm for name, algorithm in ALGORITHMS.items()},
        "from_buffer": np.frombuffer,
        "groups_get": state.groups.get,
        "microseconds": microseconds,
        "random": Random(seed).randint,
    }
    for header in context.program.headers.values():
        if not header.metadata and header.name not in context.vectors:
            layout = struct_of(header)
            names[context.thing("unpack", header.name)] = layout.unpack_from
            names[context.thing("pack", header.name)] = layout.pack
    for table in tables.values():
        name = context.thing("table", table.name)
        names[f"{name}_get"] = table.exact_rows.get
        names[f"{name}_lookup"] = table.lookup
        names[f"{name}_default"] = table.default
    for array, cells in state.registers.items():
        names[context.thing("register", array)] = cells
    for array, counter in state.counters.items():
        names[f"{context.thing('counter', array)}_packets"] = counter.packets
        names[f"{context.thing('counter', array)}_bytes"] = counter.bytes
    for (header_name, vector), rows in zip(context.vectors.items(), state.vectors, strict=True):
        lane_type = LANE_TYPES[vector.width]
        names[context.thing("rows", header_name)] = rows
        names[context.thing("zeros", header_name)] = np.zeros(rows.shape[1], dtype=lane_type)
        names[context.thing("lane_type", header_name)] = lane_type
        names[context.thing("wire_type", header_name)] = np.dtype(lane_type).newbyteorder(">")
    return names
