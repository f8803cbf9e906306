"""The network of the compiled engine, for any number of operations."""

from collections.abc import Callable
from typing import Any

import numpy as np

from innet.collectives.progress import next_receipt
from innet.engine.compiled.conditions import ENGINE
from innet.engine.compiled.jit import announced
from innet.engine.compiled.jobs.outcome import switch_records, waiting_in_jobs
from innet.engine.compiled.kernel import FULL, MORE, QUIET
from innet.engine.compiled.messages.conditions import network_refusal, operation_refusal
from innet.engine.compiled.messages.kernel import FOUND, run_windows
from innet.engine.compiled.messages.lower import grown, lower
from innet.engine.compiled.messages.outcome import link_record
from innet.engine.compiled.messages.state import APART, HOSTS_TOGETHER, TOGETHER, State
from innet.engine.compiled.messages.store import Slot, Store
from innet.engine.compiled.watch import QuietError, Watch
from innet.engine.ledger import Ledger
from innet.engine.network import Completion
from innet.engine.refused import RefusedError
from innet.plan.operation import Operation
from innet.plan.plan import Fabric
from innet.protocol.machine import NEVER
from innet.trace.records import LinkRecord, SwitchRecord
from innet.units import serialisation_ps

# Between slices, of some tens of milliseconds, Ctrl-C is noticed.
_EVENTS_A_SLICE = 500_000


class CompiledNetwork:
    """A fabric on which operations run; innet.engine.network says what may be asked of it.

    RefusedError for a fabric or an operation that it does not simulate. `note` is told when the
    engine must be compiled first, `report` after every slice of a run, how far that has come
    in ps.
    """

    def __init__(
        self,
        fabric: Fabric,
        note: Callable[[str], None] | None = None,
        report: Callable[[int], None] | None = None,
    ) -> None:
        _refuse(network_refusal(fabric))
        self.fabric = fabric
        self.ledger = Ledger()
        self._note, self._report = note, report
        self._store = Store(fabric, lower(fabric))
        self._slots: dict[int, Slot] = {}
        self._first_member: list[int] = []
        self._limit = NEVER
        self._watch = Watch(fabric, self)

    @property
    def state(self) -> State:
        """What compiled code runs on."""
        return self._store.state

    # --- operations ----------------------------------------------------------------------

    def add(self, operation: Operation) -> int:
        """Prepare an operation."""
        _refuse(operation_refusal(self.fabric, operation))
        number = self.ledger.add(operation)
        if operation.aggregation is None:
            slot = self._slots[number] = self._store.add(number, operation)
            self._first_member.append(slot.firsts["member"])
        else:
            self._first_member.append(self._store.add_to_job(number, operation))
        self._set_order(operation)
        return number

    def _set_order(self, operation: Operation) -> None:
        """Simulate in windows, and nodes in an order, that are right for all operations so far."""
        settings, schedule = self.state.settings, operation.schedule
        lookahead_ps = _lookahead_ps(self.fabric, _least_bytes(operation))
        lookahead_ps = min(settings.lookahead_ps, lookahead_ps)
        strict = schedule is not None and schedule.sending == "rendezvous"
        order = HOSTS_TOGETHER if strict else APART
        order = TOGETHER if lookahead_ps == 0 else max(order, settings.order)
        self._store.state = self.state._replace(
            settings=settings._replace(lookahead_ps=lookahead_ps, order=order)
        )

    def begin(self, operation: int, place: int, now: int) -> None:
        """Let a rank enter an operation at `now`, once; ValueError for a time that is over."""
        state = self.state
        number = self._first_member[operation] + place
        host = state.hosts[self.ledger.operations[operation].group[place]]
        reached = max(int(host["reached"]), self.now_ps)
        if now < reached:
            raise ValueError(f"{now} ps is over; the network has simulated {reached} ps")
        self.ledger.begin(operation, place, now)
        members = state.members
        before, following = -1, int(host["begin"])
        while following >= 0 and _begin_of(members[following]) < (now, operation):
            before, following = following, int(members[following]["next_to_begin"])
        members[number]["start_ps"], members[number]["next_to_begin"] = now, following
        if before < 0:
            host["begin"] = number
        else:
            members[before]["next_to_begin"] = number
        due = state.net.due
        due[host["node"]] = min(due[host["node"]], now)
        self._watch.arm(reached)

    @property
    def now_ps(self) -> int:
        """The simulated time that all have reached."""
        return int(self.state.net.pool[0]["window_ps"])

    # --- time ----------------------------------------------------------------------------

    def advance(self, limit: int) -> tuple[Completion, ...]:
        """Simulate what happens before `limit`, or until a rank has completed something."""
        self._limit = limit
        if limit == NEVER:
            self._watch.arm(self.now_ps)
        with announced(self._note):
            while True:
                look_at = self._watch.at_ps
                quiet = self._run_to(min(limit - 1, look_at))
                if self.ledger.found or limit <= look_at:
                    return self.ledger.take()
                try:
                    self._watch.look(quiet)
                except QuietError:
                    if limit == NEVER:
                        return ()

    def _run_to(self, last: int) -> bool:
        """Handle all events up to `last`, or until a rank is done; whether none are left."""
        while True:
            status = run_windows(self.state, last, _EVENTS_A_SLICE)
            if status == FULL:
                self._store.state = grown(self.state)
            elif status == MORE:
                if self._report is not None:
                    self._report(self.now_ps)
            else:
                if status == FOUND:
                    self._note_finished()
                return bool(status == QUIET)

    def _note_finished(self) -> None:
        state = self.state
        pool = state.net.pool[0]
        for number in state.finished[: pool["finished"]]:
            member = state.members[number]
            state.hosts[member["host"]]["stopped_at"] = NEVER
            self.ledger.complete(int(member["number"]), int(member["place"]), int(member["finish"]))
        pool["finished"] = 0

    # --- what the watch looks at ---------------------------------------------------------

    def all_done(self) -> bool:
        """Whether all that was begun is complete."""
        return not self.ledger.open

    def hopeless(self) -> bool:
        """Whether nobody waits for a rank that may still begin an operation."""
        return self._limit == NEVER or not self.ledger.open or self.ledger.entered_by_all()

    def progress_made(self) -> int:
        """A number that grows as long as something is moving."""
        return self.ledger.moves + self.through()

    def through(self) -> int:
        """The packets of messages, each counted once at either end, and chunks come through."""
        rows, jobs = self.state.streams.rows, self.state.jobs
        through = self._store.retired + int(rows["base"].sum() + rows["expected"].sum())
        if jobs is not None:
            through += int(jobs.shards["completed"].sum())
        return through

    def waiting(self) -> list[str]:
        """Who waits for what."""
        operations = sorted({operation for operation, _ in self.ledger.open} & self._slots.keys())
        lines = [line for operation in operations for line in self._waiting_in(operation)]
        return lines + waiting_in_jobs(self.fabric, self.state)

    def _waiting_in(self, operation: int) -> list[str]:
        asked, slot, lines = self.ledger.operations[operation], self._slots[operation], []
        group, schedule = asked.group, asked.schedule
        assert schedule is not None
        # Plain Python reads records by attribute as compiled code does.
        records: Any = self.state.steps.messages
        steps = self.state.steps._replace(messages=records.view(np.recarray))
        for place in range(schedule.ranks):
            message = next_receipt(steps, slot.firsts["member"] + place)
            if message is not None:
                move = schedule.messages[message - slot.firsts["message"]]
                lines.append(
                    f"rank {group[place]} waits for the message of step {move.step} "
                    f"(block {move.first}) from rank {group[move.source]}"
                )
        return lines

    # --- counters ------------------------------------------------------------------------

    def links(self) -> tuple[LinkRecord, ...]:
        """What every link direction has counted so far."""
        return tuple(link_record(index, link) for index, link in enumerate(self.state.net.links))

    def switches(self) -> tuple[SwitchRecord, ...]:
        """What every switch that aggregates has counted so far, over all jobs, by node."""
        return switch_records(self.state.jobs)


def _refuse(why: str | None) -> None:
    if why is not None:
        raise RefusedError(ENGINE, why)


def _begin_of(member: np.void) -> tuple[int, int]:
    """When a member begins, and its place among those that begin then."""
    return int(member["start_ps"]), int(member["number"])


def _least_bytes(operation: Operation) -> int:
    """The medium bytes of an operation's smallest packet."""
    format_, stream = operation.aggregation, operation.stream
    if format_ is not None:
        return min(format_.packet_bytes, format_.help_bytes)
    assert stream is not None
    return min(stream.ack_bytes, stream.overhead_bytes + 1)


def _lookahead_ps(fabric: Fabric, least_bytes: int) -> int:
    """The shortest time from an event at a node to the arrival of what it sends."""
    nodes = fabric.graph.nodes
    return min(
        nodes[link.source].latency_ps + serialisation_ps(least_bytes, link.rate_bps) + link.delay_ps
        for link in fabric.graph.links
    )
