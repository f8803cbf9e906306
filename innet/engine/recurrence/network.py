"""A network of operations that the recurrence runs one by one, where none disturbs another.

Where the packets of one operation have left every link before those of another can come there,
each runs as on an idle network, and all are exact. RefusedError otherwise, as soon as that is
known: another engine has to run the step.

A member's packets reach a link of a ring no sooner than the way to it allows. A tree has all its
links from when its first member enters until its last packet has come, and so has a member its
host where packets cost time there.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from typing import NamedTuple

from innet.engine.network import Completion
from innet.engine.recurrence.conditions import ENGINE
from innet.engine.recurrence.ring import RingRun
from innet.engine.recurrence.ring_records import trace_of_ring
from innet.engine.recurrence.run import Note, run_recurrence, run_ring
from innet.engine.refused import RefusedError
from innet.plan.operation import Operation
from innet.plan.plan import Fabric, Plan, Rto
from innet.plan.ways import tree_edges, way_of
from innet.topology.routes import Routes, shortest_routes
from innet.trace.records import LinkRecord, SwitchRecord, Trace

_SUMMED_BY_TREES = ("all_reduce",)
_SENT_ROUND_RINGS = ("all_reduce", "reduce_scatter", "all_gather")


class _Use(NamedTuple):
    """A link (or -1 - rank, a host) that packets reach so long after a member's entry."""

    resource: int
    after_ps: int


class _Held(NamedTuple):
    """Who has a resource last, and until when, None if that is not known."""

    task: "_Task"
    until_ps: int | None


class _Result(NamedTuple):
    """What an operation that runs alone leaves; `ends` is when each resource is free again."""

    trace: Trace
    ends: Mapping[int, int]


@dataclass(slots=True)
class _Task:
    """An operation with when its members entered it."""

    operation: Operation
    begun: dict[int, int]


class RecurrenceNetwork:
    """A fabric on which operations run; innet.engine.network says what may be asked of it.

    What cannot be run is refused by `advance`, whatever has asked for it. `note` is told when
    something must be compiled.
    """

    def __init__(self, fabric: Fabric, note: Note | None = None) -> None:
        self._fabric, self._note = fabric, note
        self._tasks: list[_Task] = []
        self._held: dict[int, _Held] = {}
        self._fresh: list[tuple[int, int, int]] = []
        self._due: list[Completion] = []
        self._routes: dict[tuple[int, ...], Routes] = {}
        self._uses: dict[tuple[int, int], tuple[_Use, ...]] = {}
        self._results: dict[tuple[object, ...], _Result] = {}
        self._links: dict[int, LinkRecord] = {}
        self._switches: dict[int, SwitchRecord] = {}

    def add(self, operation: Operation) -> int:
        """Prepare an operation."""
        self._tasks.append(_Task(operation, {}))
        return len(self._tasks) - 1

    def begin(self, operation: int, place: int, now: int) -> None:
        """Let a rank enter an operation at `now`."""
        self._fresh.append((operation, place, now))

    def advance(self, limit: int) -> tuple[Completion, ...]:
        """Return the next completions before `limit`, those of one instant.

        Raises RefusedError where operations disturb each other or cannot be run alone.
        """
        for number, place, now in self._fresh:
            self._entered(number, place, now)
        self._fresh.clear()
        if not self._due or self._due[0].at_ps >= limit:
            return ()
        return tuple(self._taken())

    def _taken(self) -> Iterator[Completion]:
        first = self._due[0].at_ps
        while self._due and self._due[0].at_ps == first:
            yield heappop(self._due)

    # --- operations ----------------------------------------------------------------------

    def _entered(self, number: int, place: int, now: int) -> None:
        task = self._tasks[number]
        _refuse_unknown(task.operation)
        for resource, after_ps in self._used_by(task, place):
            other, until_ps = self._held.get(resource, _Held(task, None))
            if other is not task and (until_ps is None or until_ps > now + after_ps):
                raise RefusedError(ENGINE, "operations share links at the same time")
            self._held[resource] = _Held(task, None)
        task.begun[place] = now
        if len(task.begun) == len(task.operation.group):
            self._run(number, task)

    def _run(self, number: int, task: _Task) -> None:
        first = min(task.begun.values())
        starts = tuple(task.begun[place] - first for place in range(len(task.operation.group)))
        # Equal operations are one object of a step's plan.
        key = (id(task.operation), starts)
        if key not in self._results:
            self._results[key] = self._alone(task.operation, starts)
        trace, ends = self._results[key]
        for place, record in enumerate(trace.ranks):
            if first + record.finish_ps > self._fabric.maximum_time_ps:
                raise RefusedError(ENGINE, "the step is longer than its simulated time limit")
            heappush(self._due, Completion(first + record.finish_ps, number, place))
        for resource, end in ends.items():
            self._held[resource] = _Held(task, first + end)
        self._count(trace)

    def _alone(self, operation: Operation, starts: tuple[int, ...]) -> _Result:
        """Run an operation on an idle network, its members' entries given."""
        plan = self._plan(operation, starts)
        if operation.aggregation is None:
            run = run_ring(plan, note=self._note)
            return _Result(trace_of_ring(run), dict(_ring_ends(run)))
        trace = run_recurrence(plan)
        over = max(record.finish_ps for record in trace.ranks)
        return _Result(
            trace, dict.fromkeys((use.resource for use in self._of_tree(operation)), over)
        )

    def _plan(self, operation: Operation, starts: tuple[int, ...]) -> Plan:
        fabric = self._fabric
        return Plan(
            graph=fabric.graph,
            hosts=tuple(
                replace(fabric.hosts[rank], start_ps=start)
                for rank, start in zip(operation.group, starts, strict=True)
            ),
            routes=self._routes_of(operation.group),
            seed=fabric.seed,
            maximum_time_ps=fabric.maximum_time_ps,
            patience_ps=fabric.patience_ps,
            packet_faults=fabric.packet_faults,
            node_faults=fabric.node_faults,
            name="operation",
            algorithm="in_network" if operation.schedule is None else operation.schedule.algorithm,
            workers=len(operation.group),
            elements=operation.elements,
            dtype=operation.dtype,
            carry_payload=False,
            rto=_shortest(operation.rto),
            aggregation=operation.aggregation,
            stream=operation.stream,
            schedule=operation.schedule,
        )

    def _routes_of(self, group: tuple[int, ...]) -> Routes:
        if group not in self._routes:
            nodes = [self._fabric.hosts[rank].node for rank in group]
            self._routes[group] = shortest_routes(self._fabric.graph, nodes, self._fabric.seed)
        return self._routes[group]

    def _used_by(self, task: _Task, place: int) -> tuple[_Use, ...]:
        """Return what the packets that a member's entry sets off will use."""
        operation = task.operation
        if operation.aggregation is not None and task.begun:
            return ()
        key = (id(operation), -1 if operation.aggregation is not None else place)
        if key not in self._uses:
            known = operation.aggregation is not None
            self._uses[key] = tuple(
                self._of_tree(operation) if known else self._of_ring(operation, place)
            )
        return self._uses[key]

    def _of_tree(self, operation: Operation) -> Iterator[_Use]:
        routes, hosts = self._routes_of(operation.group), self._fabric.hosts
        for rank in operation.group:
            if hosts[rank].send_ps or hosts[rank].receive_ps:
                yield _Use(-1 - rank, 0)
        assert operation.aggregation is not None
        for below, above in tree_edges(routes, operation.aggregation.tree):
            for link in (*routes.path_between(below, above), *routes.path_between(above, below)):
                yield _Use(link, 0)

    def _of_ring(self, operation: Operation, place: int) -> Iterator[_Use]:
        assert operation.schedule is not None
        graph, routes = self._fabric.graph, self._routes_of(operation.group)
        for message in operation.schedule.messages:
            if message.source == place:
                after_ps = 0
                for hop in way_of(graph, routes.path(place, message.target)):
                    yield _Use(hop.link, after_ps)
                    after_ps += hop.onward_ps
                return

    # --- counters ------------------------------------------------------------------------

    def _count(self, trace: Trace) -> None:
        for link in trace.links:
            if link.packets:
                before = self._links.get(link.link)
                self._links[link.link] = link if before is None else _link_sum(before, link)
        for switch in trace.switches:
            earlier = self._switches.get(switch.node)
            completed = switch.completed + (0 if earlier is None else earlier.completed)
            self._switches[switch.node] = replace(switch, completed=completed)

    def links(self) -> tuple[LinkRecord, ...]:
        """What every link direction has counted so far."""
        every = range(len(self._fabric.graph.links))
        return tuple(
            self._links.get(link) or LinkRecord(link, 0, 0, 0, 0, 0, 0, 0, 0) for link in every
        )

    def switches(self) -> tuple[SwitchRecord, ...]:
        """What every switch that aggregates has counted so far, in order of node."""
        return tuple(self._switches[node] for node in sorted(self._switches))


def _refuse_unknown(operation: Operation) -> None:
    """Refuse what this cannot run as soon as one rank enters it: others may wait for that."""
    known = _SUMMED_BY_TREES if operation.schedule is None else _SENT_ROUND_RINGS
    if operation.kind not in known:
        raise RefusedError(ENGINE, f"it runs no {operation.kind} of this form")


def _shortest(rto: Rto) -> Rto:
    """Return the shortest timeout that an adaptive one may have come to by measuring."""
    shortest = rto.minimum_ps if rto.adaptive else rto.initial_ps
    return Rto(False, shortest, shortest, rto.maximum_ps)


def _ring_ends(run: RingRun) -> Iterator[tuple[int, int]]:
    """Yield every link of a ring with when its last packet has left it."""
    for rank, pair in enumerate(run.ring.pairs):
        for place, hop in enumerate(pair.there):
            yield hop.link, int(run.free_ps[rank % len(run.ring.rows), place])


def _link_sum(one: LinkRecord, other: LinkRecord) -> LinkRecord:
    return replace(
        one,
        packets=one.packets + other.packets,
        bytes=one.bytes + other.bytes,
        busy_ps=one.busy_ps + other.busy_ps,
        queued_ps=max(one.queued_ps, other.queued_ps),
    )
