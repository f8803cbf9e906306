"""A network of operations that the recurrence runs one by one, where none disturbs another.

An operation has its links from when its first member enters it until its last packet has come.
As long as no other one begins on a link meanwhile, each runs as on an idle network, and all are
exact. RefusedError otherwise, as soon as that is known: another engine has to run the step.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from heapq import heappop, heappush

from innet.engine.network import Completion
from innet.engine.recurrence.conditions import ENGINE
from innet.engine.recurrence.run import run_recurrence
from innet.engine.refused import RefusedError
from innet.plan.operation import Operation
from innet.plan.plan import Fabric, Plan, Rto
from innet.plan.ways import tree_edges
from innet.topology.routes import Routes, shortest_routes
from innet.trace.records import LinkRecord, SwitchRecord, Trace

_SUMMED_BY_TREES = ("all_reduce",)
_SENT_ROUND_RINGS = ("all_reduce", "reduce_scatter", "all_gather")


@dataclass(slots=True)
class _Task:
    """An operation with when its members entered it, and when it is over, None if unknown."""

    operation: Operation
    begun: dict[int, int]
    over_ps: int | None = None


class RecurrenceNetwork:
    """A fabric on which operations run; innet.engine.network says what may be asked of it.

    What cannot be run is refused by `advance`, whatever has asked for it.
    """

    def __init__(self, fabric: Fabric) -> None:
        self._fabric = fabric
        self._tasks: list[_Task] = []
        self._holder: dict[int, _Task] = {}
        self._fresh: list[tuple[int, int]] = []
        self._due: list[Completion] = []
        self._routes: dict[tuple[int, ...], Routes] = {}
        self._used: dict[int, frozenset[int]] = {}
        self._traces: dict[tuple[object, ...], Trace] = {}
        self._links: dict[int, LinkRecord] = {}
        self._switches: dict[int, SwitchRecord] = {}

    def add(self, operation: Operation) -> int:
        """Prepare an operation."""
        self._tasks.append(_Task(operation, {}))
        return len(self._tasks) - 1

    def begin(self, operation: int, place: int, now: int) -> None:
        """Let a rank enter an operation at `now`."""
        self._tasks[operation].begun[place] = now
        self._fresh.append((operation, now))

    def advance(self, limit: int) -> tuple[Completion, ...]:
        """Return the next completions before `limit`, those of one instant.

        Raises RefusedError where operations disturb each other or cannot be run alone.
        """
        for number, now in self._fresh:
            self._entered(number, now)
        self._fresh.clear()
        if not self._due or self._due[0].at_ps >= limit:
            return ()
        return tuple(self._taken())

    def _taken(self) -> Iterator[Completion]:
        first = self._due[0].at_ps
        while self._due and self._due[0].at_ps == first:
            yield heappop(self._due)

    # --- operations ----------------------------------------------------------------------

    def _entered(self, number: int, now: int) -> None:
        task = self._tasks[number]
        for resource in self._resources(task.operation):
            holder = self._holder.get(resource, task)
            if holder is not task and (holder.over_ps is None or holder.over_ps > now):
                raise RefusedError(ENGINE, "operations share links at the same time")
            self._holder[resource] = task
        if len(task.begun) == len(task.operation.group) and task.over_ps is None:
            self._run(number, task)

    def _run(self, number: int, task: _Task) -> None:
        first = min(task.begun.values())
        starts = tuple(task.begun[place] - first for place in range(len(task.operation.group)))
        # Equal operations are one object of a step's plan.
        key = (id(task.operation), starts)
        if key not in self._traces:
            self._traces[key] = run_recurrence(self._plan(task.operation, starts))
        trace = self._traces[key]
        for place, record in enumerate(trace.ranks):
            heappush(self._due, Completion(first + record.finish_ps, number, place))
        task.over_ps = first + max(record.finish_ps for record in trace.ranks)
        if task.over_ps > self._fabric.maximum_time_ps:
            raise RefusedError(ENGINE, "the step is longer than its simulated time limit")
        self._count(trace)

    def _plan(self, operation: Operation, starts: tuple[int, ...]) -> Plan:
        known = _SUMMED_BY_TREES if operation.schedule is None else _SENT_ROUND_RINGS
        if operation.kind not in known:
            raise RefusedError(ENGINE, f"it runs no {operation.kind} of this form")
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

    def _resources(self, operation: Operation) -> frozenset[int]:
        """Return the links that an operation's packets take, and -1 - rank for busy hosts."""
        key = id(operation)
        if key not in self._used:
            self._used[key] = frozenset(self._resources_of(operation))
        return self._used[key]

    def _resources_of(self, operation: Operation) -> Iterator[int]:
        routes, hosts = self._routes_of(operation.group), self._fabric.hosts
        for rank in operation.group:
            if hosts[rank].send_ps or hosts[rank].receive_ps:
                yield -1 - rank
        for one, other in _edges(operation, routes):
            yield from routes.path_between(one, other)
            yield from routes.path_between(other, one)

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


def _shortest(rto: Rto) -> Rto:
    """Return the shortest timeout that an adaptive one may have come to by measuring."""
    shortest = rto.minimum_ps if rto.adaptive else rto.initial_ps
    return Rto(False, shortest, shortest, rto.maximum_ps)


def _edges(operation: Operation, routes: Routes) -> Iterator[tuple[int, int]]:
    """Yield the pairs of nodes between which an operation has packets."""
    if operation.aggregation is not None:
        yield from tree_edges(routes, operation.aggregation.tree)
    elif operation.schedule is not None:
        ends = {(message.source, message.target) for message in operation.schedule.messages}
        for source, target in sorted(ends):
            yield routes.hosts[source], routes.hosts[target]


def _link_sum(one: LinkRecord, other: LinkRecord) -> LinkRecord:
    return replace(
        one,
        packets=one.packets + other.packets,
        bytes=one.bytes + other.bytes,
        busy_ps=one.busy_ps + other.busy_ps,
        queued_ps=max(one.queued_ps, other.queued_ps),
    )
