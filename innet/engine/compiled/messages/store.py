"""Where operations have their places in the flat arrays of a network, which grow.

An operation that is over, with nothing of it under way, leaves its places to the next one of the
same shape. So a long run needs room for what goes on at once.
"""

from collections import deque
from typing import Any

import numpy as np

from innet.collectives.progress import Steps
from innet.engine.compiled.jobs.store import JobStore
from innet.engine.compiled.messages.shapes import Shape, shape_of
from innet.engine.compiled.messages.state import NEED, PLACE, State, Streams
from innet.plan.operation import Operation
from innet.plan.plan import Fabric
from innet.protocol.stream_transitions import room_of
from innet.protocol.transitions import NEW_TIMER, TIMER_STATE

_TIMER = np.array(NEW_TIMER, np.int64)


class _Column:
    """An array with room to spare, of which `used` rows are taken."""

    def __init__(self, rows: Any) -> None:  # noqa: ANN401
        self.rows, self.used = rows, len(rows)

    def take(self, count: int) -> int:
        """Take some rows; return the first."""
        first, self.used = self.used, self.used + count
        if self.used > len(self.rows):
            rows = np.zeros(max(2 * len(self.rows), self.used), self.rows.dtype)
            rows[:first] = self.rows[:first]
            self.rows = rows
        return first


class Slot:
    """The places of an operation: where its members, streams and messages begin, and others."""

    def __init__(self, shape: Shape, firsts: dict[str, int]) -> None:
        self.shape, self.firsts = shape, firsts

    def rows(self, name: str, count: int) -> slice:
        """The places of `count` rows of a column."""
        first = self.firsts[name]
        return slice(first, first + count)


class Store:
    """The operations of a network. `state` is what compiled code runs on."""

    def __init__(self, fabric: Fabric, state: State) -> None:
        self.state = state
        self.retired = 0
        self._fabric = fabric
        self._jobs = JobStore(fabric)
        self._shapes: dict[int, tuple[Operation, Shape]] = {}
        self._slots: dict[int, deque[Slot]] = {}
        steps, streams = state.steps, state.streams
        self._columns = {
            "operation": _Column(state.operations),
            "member": _Column(state.members),
            "stream": _Column(streams.rows),
            "timer": _Column(streams.timers),
            "place": _Column(streams.places),
            "path": _Column(state.net.path),
            "message": _Column(state.messages),
            "step_message": _Column(steps.messages),
            "step_member": _Column(steps.members),
            "user_first": _Column(np.zeros(1, np.int64)),
            "user": _Column(steps.users),
            "own_first": _Column(np.zeros(1, np.int64)),
            "own": _Column(steps.own),
            "agenda": _Column(steps.agenda),
            "finished": _Column(state.finished),
        }

    def add(self, number: int, operation: Operation) -> Slot:
        """Give an operation its places."""
        shape = self._shape(operation)
        assert operation.stream is not None
        self._make_room(room_of(operation.stream.window))
        slots = self._slots.setdefault(id(operation), deque())
        slot = self._over(slots) or self._taken(shape)
        slots.append(slot)
        self._fill(slot, number)
        self._refresh()
        return slot

    def add_to_job(self, number: int, operation: Operation) -> int:
        """Give an operation of a job its places; return that of its first member."""
        columns, group = self._columns, operation.group
        first, path = columns["member"].used, columns["path"].used
        members, paths, has_timers = self._jobs.add(operation, first, path)
        members["number"] = number
        for name, rows in (("member", members), ("path", paths)):
            at = columns[name].take(len(rows))
            columns[name].rows[at : at + len(rows)] = rows
        # Members have no steps here, but keep their places among those that have.
        columns["step_member"].take(len(group))
        at = columns["own_first"].take(2 * len(group))
        columns["own_first"].rows[at : at + 2 * len(group)] = columns["own"].used
        columns["finished"].take(len(group))
        self._refresh()
        if has_timers:
            for place in range(len(group)):
                self._list_timer(first + place)
        settings = self.state.settings
        need = max(settings.need, NEED * self._jobs.need)
        self.state = self.state._replace(
            settings=settings._replace(words=self._jobs.words, need=need), jobs=self._jobs.jobs
        )
        return first

    def _list_timer(self, member: int) -> None:
        """Put a member behind those of its host that have timers."""
        members = self.state.members
        host = self.state.hosts[members[member]["host"]]
        last, following = -1, int(host["timed"])
        while following >= 0:
            last, following = following, int(members[following]["next_timed"])
        if last < 0:
            host["timed"] = member
        else:
            members[last]["next_timed"] = member

    def _shape(self, operation: Operation) -> Shape:
        """Return an operation's shape; the operation is kept, so that its id stays its own."""
        if id(operation) not in self._shapes:
            self._shapes[id(operation)] = operation, shape_of(self._fabric, operation)
        return self._shapes[id(operation)][1]

    # --- places --------------------------------------------------------------------------

    def _over(self, slots: deque[Slot]) -> Slot | None:
        """Take out the slot that was given first, if its operation is over."""
        if not slots:
            return None
        shape, state = slots[0].shape, self.state
        members = state.members[slots[0].rows("member", len(shape.members))]
        streams = state.streams.rows[slots[0].rows("stream", len(shape.streams))]
        if (members["finish"] < 0).any() or (streams["base"] < streams["end"]).any():
            return None
        if state.operations[slots[0].firsts["operation"]]["under_way"]:
            return None
        self.retired += int(streams["base"].sum() + streams["expected"].sum())
        for member in members:
            if member["has_timer"]:
                self._drop_timer(int(member["host"]), int(member["number"]))
        return slots.popleft()

    def _drop_timer(self, host: int, number: int) -> None:
        """Take the member of an operation away from those of its host that have timers."""
        members, before = self.state.members, None
        current = int(self.state.hosts[host]["timed"])
        while members[current]["number"] != number:
            before, current = current, int(members[current]["next_timed"])
        following = members[current]["next_timed"]
        if before is None:
            self.state.hosts[host]["timed"] = following
        else:
            members[before]["next_timed"] = following

    def _taken(self, shape: Shape) -> Slot:
        """Take new places for an operation of a shape."""
        room, streams = self.state.settings.room, len(shape.streams)
        counts = {
            "operation": 1,
            "member": len(shape.members),
            "stream": streams,
            "timer": streams * TIMER_STATE,
            "place": streams * room,
            "path": len(shape.path),
            "message": len(shape.messages),
            "step_message": len(shape.messages),
            "step_member": len(shape.members),
            "user_first": len(shape.user_first) - 1,
            "user": len(shape.users),
            "own_first": len(shape.own_first) - 1,
            "own": len(shape.own),
            "finished": len(shape.members),
        }
        agenda = self._columns["agenda"]
        agenda.take(max(0, shape.agenda - agenda.used))
        firsts = {name: self._columns[name].take(n) for name, n in counts.items()}
        # Where a group begins is where the one before it ends.
        firsts["user_first"] -= 1
        firsts["own_first"] -= 1
        return Slot(shape, firsts)

    def _make_room(self, room: int) -> None:
        """Let the streams' windows have at least `room` places, which is a power of two."""
        old = self.state.settings.room
        if room <= old:
            return
        self.state = self.state._replace(settings=self.state.settings._replace(room=room))
        column, streams = self._columns["place"], self._columns["stream"]
        rows = streams.rows[: streams.used]
        before = np.tile(column.rows[: column.used].reshape(-1, old), room // old)
        places = np.zeros((streams.used, room), PLACE)
        # A packet's place is its number modulo the room; only those of the window are in use.
        for first, names in (
            ("base", ("state", "sent_at", "repeated", "content")),
            ("expected", ("received",)),
        ):
            in_use = (np.arange(room) - rows[first][:, None]) % room < old
            for name in names:
                places[name] = np.where(in_use, before[name], 0)
        self._columns["place"] = _Column(places.reshape(-1))
        for slots in self._slots.values():
            for slot in slots:
                slot.firsts["place"] *= room // old

    # --- contents ------------------------------------------------------------------------

    def _fill(self, slot: Slot, number: int) -> None:
        """Write an operation into its places, as it is before anybody begins."""
        shape, firsts = slot.shape, slot.firsts
        member, stream, message = firsts["member"], firsts["stream"], firsts["message"]
        members = self._put(slot, "member", shape.members)
        members["number"], members["operation"] = number, firsts["operation"]
        members["first_stream"] += stream
        members["end_stream"] += stream
        streams = self._put(slot, "stream", shape.streams)
        for name, first in (
            *((end, member) for end in ("source", "target")),
            ("queue", stream),
            *((way, firsts["path"]) for way in ("way", "way_back")),
        ):
            streams[name] += first
        self._put(slot, "timer", np.tile(_TIMER, len(shape.streams)))
        self._put(slot, "place", np.zeros(len(shape.streams) * self.state.settings.room, PLACE))
        self._put(slot, "operation", shape.operation)
        self._put(slot, "path", shape.path)
        self._put(slot, "message", shape.messages)["stream"] += stream
        steps = self._put(slot, "step_message", shape.step_messages)
        steps["source"] += member
        steps["target"] += member
        owners = self._put(slot, "step_member", shape.step_members)
        owners["first_receipt"] += firsts["own"]
        self._put(slot, "user_first", shape.user_first + firsts["user"])
        self._put(slot, "own_first", shape.own_first + firsts["own"])
        self._put(slot, "user", shape.users + message)
        self._put(slot, "own", shape.own + message)

    def _put(self, slot: Slot, name: str, rows: Any) -> Any:  # noqa: ANN401
        """Write rows into a column; return them there."""
        there = self._columns[name].rows[slot.rows(name, len(rows))]
        there[:] = rows
        return there

    def _refresh(self) -> None:
        """Let the state have the columns as they are now."""
        rows: dict[str, Any] = {name: column.rows for name, column in self._columns.items()}
        state = self.state
        self.state = state._replace(
            net=state.net._replace(path=rows["path"]),
            members=rows["member"],
            operations=rows["operation"],
            streams=Streams(rows["stream"], rows["timer"], rows["place"]),
            messages=rows["message"],
            steps=Steps(
                rows["step_message"],
                rows["step_member"],
                rows["user_first"],
                rows["user"],
                rows["own_first"],
                rows["own"],
                rows["agenda"],
                state.steps.top,
            ),
            finished=rows["finished"],
        )
