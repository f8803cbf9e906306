"""How an operation becomes flat arrays: its shape, with all indices as if it were the only one."""

from typing import Any, NamedTuple

import numpy as np

from innet.collectives.progress import steps_of
from innet.collectives.schedule import Schedule, block_bounds
from innet.engine.compiled.messages.state import (
    MEMBER,
    MESSAGE,
    OPERATION,
    STEP_MEMBER,
    STEP_MESSAGE,
    STREAM_STATE,
)
from innet.engine.compiled.state import Ints, Records
from innet.errors import ConfigurationError
from innet.plan.operation import Operation
from innet.plan.plan import Fabric, Rto, Stream
from innet.protocol.machine import NEVER
from innet.wire.dtypes import ITEMSIZE


class Shape(NamedTuple):
    """What state.py and `collectives/progress.py` keep of an operation, before anybody begins."""

    operation: Records
    members: Records
    streams: Records
    path: Ints
    messages: Records
    step_messages: Records
    step_members: Records
    user_first: Ints
    users: Ints
    own_first: Ints
    own: Ints
    agenda: int


def shape_of(fabric: Fabric, operation: Operation) -> Shape:
    """Return the shape of a point-to-point operation; its members are its places."""
    stream, schedule = operation.stream, operation.schedule
    assert stream is not None
    assert schedule is not None
    steps = steps_of(schedule)
    source, target = _ints(steps.messages.source), _ints(steps.messages.target)
    ends = source * schedule.ranks + target
    pairs = np.unique(ends)
    streams, path = _streams(fabric, operation, schedule, pairs)
    return Shape(
        _settings(stream, operation.rto, schedule.in_turn, operation.kind == "send"),
        _members(operation, streams["source"]),
        streams,
        path,
        _messages(operation, schedule, stream, np.searchsorted(pairs, ends)),
        _rows(STEP_MESSAGE, steps.messages),
        _rows(STEP_MEMBER, steps.members),
        _ints(steps.user_first),
        _ints(steps.users),
        _ints(steps.own_first),
        _ints(steps.own),
        len(steps.agenda),
    )


def _settings(stream: Stream, rto: Rto, in_turn: bool, ends_sent: bool) -> Records:
    operations = np.zeros(1, OPERATION)
    row = operations[0]
    row["window"], row["payload_bytes"] = stream.window, stream.payload_bytes
    row["overhead_bytes"], row["ack_bytes"] = stream.overhead_bytes, stream.ack_bytes
    row["in_turn"], row["go_back_n"] = in_turn, stream.recovery == "go_back_n"
    row["ends_sent"], row["adaptive"], row["initial_ps"] = ends_sent, rto.adaptive, rto.initial_ps
    row["minimum_ps"], row["maximum_ps"] = rto.minimum_ps, rto.maximum_ps
    return operations


def _members(operation: Operation, sources: Ints) -> Records:
    places = np.arange(len(operation.group))
    members = np.zeros(len(places), MEMBER)
    members["host"], members["place"], members["worker"] = operation.group, places, -1
    members["first_stream"] = np.searchsorted(sources, places)
    members["end_stream"] = np.searchsorted(sources, places, "right")
    members["earliest"], members["full_since"], members["finish"] = NEVER, NEVER, -1
    members["next_to_begin"], members["next_timed"], members["start_ps"] = -1, -1, -1
    return members


def _streams(
    fabric: Fabric, operation: Operation, schedule: Schedule, pairs: Ints
) -> tuple[Records, Ints]:
    """Return the streams of `pairs`, source * ranks + target each, ascending, and their paths."""
    rows = np.zeros(len(pairs), STREAM_STATE)
    source, target = np.divmod(pairs, schedule.ranks)
    rows["source"], rows["target"] = source, target
    rows["queue"] = np.searchsorted(source, source) if schedule.in_turn else np.arange(len(pairs))
    rows["sending"], rows["waiting"], rows["last"] = -1, -1, -1
    rows["deadlines"] = NEVER
    group, path = operation.group, list[int]()
    for row in rows:
        source_rank, target_rank = group[int(row["source"])], group[int(row["target"])]
        row["way"] = len(path)
        path.extend(_path(fabric, source_rank, target_rank))
        row["way_back"] = len(path)
        path.extend(_path(fabric, target_rank, source_rank))
    return rows, _ints(path)


def _path(fabric: Fabric, source: int, target: int) -> tuple[int, ...]:
    path = fabric.routes.path(source, target)
    if not path:
        ends = [fabric.graph.nodes[fabric.hosts[rank].node].name for rank in (source, target)]
        raise ConfigurationError(f"no path leads from {ends[0]} to {ends[1]}")
    return path


def _messages(operation: Operation, schedule: Schedule, stream: Stream, stream_of: Ints) -> Records:
    bounds = _ints(block_bounds(operation.elements, schedule.blocks))
    first = _ints([message.first for message in schedule.messages])
    count = _ints([message.count for message in schedule.messages])
    messages = np.zeros(len(first), MESSAGE)
    messages["stream"], messages["next"] = stream_of, -1
    messages["bytes"] = (bounds[first + count] - bounds[first]) * ITEMSIZE[operation.dtype]
    messages["packets"] = messages["missing"] = -(-messages["bytes"] // stream.payload_bytes)
    return messages


def _rows(kind: Any, columns: Any) -> Records:  # noqa: ANN401
    rows = np.zeros(len(columns[0]), kind)
    for name, column in zip(columns._fields, columns, strict=True):
        rows[name] = column
    return rows


def _ints(values: Any) -> Ints:  # noqa: ANN401
    return np.array(values, np.int64)
