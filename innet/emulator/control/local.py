"""The control plane of the P4 program in Python: no network between them."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from innet.emulator.bmv2_json.pipeline import Pipeline
from innet.emulator.control.build import find_build
from innet.emulator.control.entries import (
    DEFAULT_HOST,
    HOSTS,
    Action,
    Contents,
    Key,
    Rows,
    action,
    key,
)
from innet.emulator.control.plane import Change, GroupChange, RowChange, TablePlane

POOL_REGISTER = "marks_of_slot"
"""The program's register array with a cell for every slot."""


class LocalSwitch:
    """The P4 program for packets of `elements` values: a DataPlane that a TablePlane can fill."""

    def __init__(self, elements: int) -> None:
        self.elements = elements
        self.pipeline = Pipeline.load(find_build(elements).json)
        self.slots = len(self.pipeline.read_register(POOL_REGISTER))
        self.process = self.pipeline.process

    def load(self) -> None:
        """Be as new: tables, registers and counters."""
        self.pipeline.reset()

    def wipe(self) -> None:
        """Lose all registers; the tables stay."""
        self.pipeline.reset_registers()

    @contextmanager
    def session(self) -> Iterator["LocalSwitch"]:
        """Nothing to connect to."""
        yield self

    def read(self) -> Contents:
        """All entries and multicast groups."""
        rows: Rows = {}
        for table in self.pipeline.tables.values():
            if not table.table.keys:
                continue
            name = short_name(table.name)
            for match, action_name, data, _ in table.entries():
                rows[key(name, **match)] = action(short_name(action_name), data)
        rows[DEFAULT_HOST] = self._default()
        groups = {
            number: frozenset((each.port, each.instance) for each in replicas)
            for number, replicas in self.pipeline.groups.items()
        }
        return Contents(rows, groups)

    def _default(self) -> Action:
        name, data = self.pipeline.table(HOSTS).default_action()
        return action(short_name(name), data)

    def write(self, changes: Sequence[Change]) -> None:
        """Make changes, in order."""
        for change in changes:
            if isinstance(change, RowChange):
                self._write_row(change.verb, change.key, change.action)
            else:
                self._write_group(change)

    def _write_row(self, verb: str, place: Key, done: Action) -> None:
        table = self.pipeline.table(place.table)
        match = dict(place.match)
        if not match:
            table.set_default(done.name, dict(done.data))
        elif verb == "insert":
            table.insert(match, done.name, dict(done.data))
        elif verb == "modify":
            table.modify(match, done.name, dict(done.data))
        else:
            table.delete(match)

    def _write_group(self, change: GroupChange) -> None:
        if change.verb == "delete":
            self.pipeline.delete_group(change.number)
        else:
            self.pipeline.set_group(change.number, change.replicas)

    def counters(self) -> Mapping[str, int]:
        """Packets by the last part of the counter's name, summed over its cells."""
        names = self.pipeline.program.counters
        return {short_name(name): sum(self.pipeline.counter(name).packets) for name in names}


class P4Switch(TablePlane):
    """Control plane and data plane of the P4 program in Python, in one."""

    def __init__(self, elements: int) -> None:
        self.switch = LocalSwitch(elements)
        self.process = self.switch.process
        self.wipe = self.switch.wipe
        super().__init__(self.switch)


def short_name(name: str) -> str:
    """The last part of a name; P4Runtime's aliases may have more, where it is not unique."""
    return name.rsplit(".", 1)[-1]
