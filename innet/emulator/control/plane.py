"""The control plane over any switch whose tables can be read and written.

What a switch holds is read from the switch every time, so that it does not matter who filled
it: a control plane may be a new process, a job may be there already, whole or in part, and the
switch may have lost everything.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Literal, Protocol

from innet.emulator.control.entries import (
    CONTRIBUTORS,
    DEFAULT_HOST,
    DROPPED,
    FLOOD_GROUP,
    FLOODED,
    HOSTS,
    OWN_ADDRESSES,
    Action,
    Contents,
    Groups,
    Installed,
    Key,
    Rows,
    flood_group,
    host_rows,
    installed_jobs,
    job_contents,
    job_group,
    job_rows,
)
from innet.emulator.job_checks import require_apart
from innet.emulator.jobs import Job, Member
from innet.errors import ConfigurationError
from innet.wire.frames import Address

_EPOCHS = 1 << 32
_FORWARDING = (HOSTS, OWN_ADDRESSES)

Verb = Literal["insert", "modify", "delete"]


@dataclass(frozen=True, slots=True)
class RowChange:
    """A change of an entry; a default action can only be modified."""

    verb: Verb
    key: Key
    action: Action


@dataclass(frozen=True, slots=True)
class GroupChange:
    """A change of a multicast group."""

    verb: Verb
    number: int
    replicas: frozenset[tuple[int, int]]


Change = RowChange | GroupChange


class Session(Protocol):
    """A connection to a switch."""

    def read(self) -> Contents:
        """All entries, the default action of the hosts, and all multicast groups."""

    def write(self, changes: Sequence[Change]) -> None:
        """Make changes, in order."""

    def counters(self) -> Mapping[str, int]:
        """Packets by the last part of the counter's name, summed over its cells."""


class Switch(Protocol):
    """A switch that runs the P4 program."""

    elements: int
    """Values a packet that the program takes."""

    slots: int
    """Slots that all jobs share."""

    def load(self) -> None:
        """Put the program on the switch; its tables are empty afterwards."""

    def session(self) -> AbstractContextManager[Session]:
        """Connect."""


class TablePlane:
    """A ControlPlane over a switch. Errors are those of its Switch, and ConfigurationError."""

    def __init__(self, switch: Switch, *, now_ms: Callable[[], int] | None = None) -> None:
        """`now_ms` is the clock that epochs are taken from: milliseconds that never repeat."""
        self._switch = switch
        self._now_ms = now_ms or (lambda: time.time_ns() // 1_000_000)
        self._last_epoch = 0

    def load(self) -> None:
        """Put the program on the switch; its tables are empty afterwards."""
        self._switch.load()

    def add(self, job: Job) -> None:
        """Install a job, or complete one that is there in part.

        A job that is there already goes on as it is. One of the same number that is different
        is replaced and starts afresh. ConfigurationError if it does not fit beside the others.
        """
        with self._switch.session() as session:
            contents = session.read()
            installed = installed_jobs(contents.rows, self._switch.elements)
            old = installed.pop(job.number, None)
            require_apart(job, list(_whole(installed)), self._switch.elements, self._switch.slots)
            same = old is not None and old.job == job
            epoch = old.epoch if old is not None and same else self._new_epoch(contents)
            self._replace(session, contents, job.number, job, epoch)

    def remove(self, number: int) -> None:
        """Take a job away; one that is not there is no error. Its counts stay."""
        with self._switch.session() as session:
            self._replace(session, session.read(), number, None, 0)

    def connect(self, members: Sequence[Member], switch: Address) -> None:
        """Forward to hosts that may be in no job, also between subnets by way of `switch`."""
        with self._switch.session() as session:
            contents = session.read()
            rows = contents.rows | host_rows(members, switch, routed=True)
            _start_flooding(rows)
            session.write(_changes(contents, _with_flood_group(rows, contents.groups)))

    def jobs(self) -> list[Job]:
        """The jobs on the switch. ConfigurationError if one is there only in part."""
        with self._switch.session() as session:
            return list(_whole(installed_jobs(session.read().rows, self._switch.elements)))

    def counters(self) -> Mapping[str, int]:
        """Packets by counter, as p4/README.md names them, summed over jobs."""
        with self._switch.session() as session:
            return session.counters()

    def _replace(
        self, session: Session, before: Contents, number: int, job: Job | None, epoch: int
    ) -> None:
        """Exchange what a job has on the switch for what `job` needs."""
        rows, groups = dict(before.rows), dict(before.groups)
        old = installed_jobs(rows, self._switch.elements)
        if number in old:
            for place in self._forwarding_of(old, number):
                rows.pop(place, None)
        for place in job_rows(rows, number):
            del rows[place]
        groups.pop(job_group(number), None)
        if job is not None:
            contents = job_contents(job, epoch)
            rows |= contents.rows
            rows |= host_rows(job.members, job.switch)
            groups |= contents.groups
            _start_flooding(rows)
        session.write(_changes(before, _with_flood_group(rows, groups)))

    def _forwarding_of(self, installed: Mapping[int, Installed], number: int) -> set[Key]:
        """The forwarding entries that a job needs and no other one."""
        mine, others = set[Key](), set[Key]()
        for each in installed.values():
            if each.job is not None:
                chosen = mine if each.number == number else others
                chosen.update(host_rows(each.job.members, each.job.switch))
        return mine - others

    def _new_epoch(self, contents: Contents) -> int:
        """A number that no job on this switch had: a time, as there is no way to ask for them."""
        used = {each.epoch for each in installed_jobs(contents.rows, 0).values()}
        epoch = max(self._now_ms(), self._last_epoch + 1)
        while epoch % _EPOCHS in used or epoch % _EPOCHS == 0:
            epoch += 1
        self._last_epoch = epoch
        return epoch % _EPOCHS


def _whole(installed: Mapping[int, Installed]) -> Iterator[Job]:
    for each in installed.values():
        if each.job is None:
            raise ConfigurationError(
                f"job {each.number} is on the switch only in part: remove it or add it again"
            )
        yield each.job


def _start_flooding(rows: Rows) -> None:
    """What is for nobody known goes to all hosts, unless the switch was told otherwise."""
    if rows.get(DEFAULT_HOST, DROPPED) == DROPPED:
        rows[DEFAULT_HOST] = FLOODED


def _with_flood_group(rows: Rows, groups: Groups) -> Contents:
    replicas = flood_group(rows)
    others = {number: each for number, each in groups.items() if number != FLOOD_GROUP}
    return Contents(rows, others | ({FLOOD_GROUP: replicas} if replicas else {}))


def _changes(before: Contents, after: Contents) -> list[Change]:
    """What turns `before` into `after`, in an order that never lets half a job take packets.

    What leaves stops contributing first; what comes contributes last.
    """
    gone = [
        RowChange("delete", place, action)
        for place, action in before.rows.items()
        if place not in after.rows
    ]
    come = [
        RowChange("modify" if place in before.rows else "insert", place, action)
        for place, action in after.rows.items()
        if before.rows.get(place) != action
    ]
    changes: list[Change] = [each for each in gone if each.key.table == CONTRIBUTORS]
    changes += _group_changes(before.groups, after.groups)
    changes += [each for each in come if each.key.table != CONTRIBUTORS]
    changes += [each for each in come if each.key.table == CONTRIBUTORS]
    changes += [each for each in gone if each.key.table != CONTRIBUTORS]
    for number, replicas in before.groups.items():
        if number not in after.groups:
            changes.append(GroupChange("delete", number, replicas))
    return changes


def _group_changes(
    before: Mapping[int, frozenset[tuple[int, int]]],
    after: Mapping[int, frozenset[tuple[int, int]]],
) -> list[Change]:
    return [
        GroupChange("modify" if number in before else "insert", number, replicas)
        for number, replicas in after.items()
        if before.get(number) != replicas
    ]
