"""Where in-network jobs have their places in the flat arrays of a network, which grow.

A job stays from its first operation on: the next one goes on with its slots and numbers.
"""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from innet.collectives.schedule import block_bounds
from innet.engine.compiled.jobs.state import (
    EDGE,
    JOB,
    SHARD,
    SWITCH,
    WORKER,
    Jobs,
    Pool,
    Registers,
)
from innet.engine.compiled.messages.state import MEMBER
from innet.engine.compiled.state import Ints, Records
from innet.errors import ConfigurationError
from innet.plan.operation import Operation
from innet.plan.plan import Aggregation, Fabric, Rto
from innet.protocol.machine import NEVER
from innet.protocol.transitions import IDLE, NEW_TIMER, rto_interval, words_per_set


class _Known(NamedTuple):
    """A job: its first operation, and where its workers begin."""

    first: Operation
    worker: int


class JobStore:
    """The jobs of a network. `jobs` is what compiled code runs on; None as long as there are none.

    `words` is how many words a set of registers has, `need` how many packets one event may send.
    """

    def __init__(self, fabric: Fabric) -> None:
        self.jobs: Jobs | None = None
        self.words, self.need = 1, 0
        self._fabric = fabric
        self._known: dict[int, _Known] = {}

    def add(self, operation: Operation, members: int, path: int) -> tuple[Records, Ints, bool]:
        """Take an operation whose members are to begin at `members`, and its paths at `path`.

        Returns the members, the paths and whether the job is new: then its members have the
        timers of its workers. Raises ValueError for one that is not like the others of its job.
        """
        known = self._known.get(operation.job)
        new = known is None
        paths: Ints = np.zeros(0, np.int64)
        if known is None:
            paths = self._add_job(operation, members, path)
            known = self._known[operation.job]
        first = known.first
        if (operation.group, operation.aggregation) != (first.group, first.aggregation):
            raise ValueError(f"job {operation.job} has another group or aggregation")
        return self._members(operation, known.worker, new), paths, new

    def _members(self, operation: Operation, worker: int, has_timers: bool) -> Records:
        jobs, places = self.jobs, np.arange(len(operation.group))
        assert jobs is not None
        members = np.zeros(len(places), MEMBER)
        members["host"], members["place"] = operation.group, places
        members["worker"], members["has_timer"] = worker + places, has_timers
        members["earliest"], members["full_since"], members["finish"] = NEVER, NEVER, -1
        members["next_to_begin"], members["next_timed"], members["start_ps"] = -1, -1, -1
        blocks = [self._blocks_of(operation, rank) for rank in operation.group]
        counts = np.array([len(each) for each in blocks])
        members["first_blocks"] = len(jobs.blocks) + np.cumsum(counts) - counts
        self.jobs = jobs._replace(blocks=np.concatenate([jobs.blocks, *blocks]))
        return members

    def _blocks_of(self, operation: Operation, rank: int) -> Ints:
        """The blocks that each shard of a rank sends."""
        assert operation.aggregation is not None
        elements = np.diff(block_bounds(operation.elements, self._fabric.hosts[rank].cores))
        blocks: Ints = -(-elements // operation.aggregation.elements_per_packet)
        return blocks.astype(np.int64)

    # --- a new job -----------------------------------------------------------------------

    def _add_job(self, operation: Operation, members: int, path: int) -> Ints:
        format_, jobs = operation.aggregation, self.jobs or _no_jobs()
        assert format_ is not None
        job, worker = len(jobs.jobs), len(jobs.workers)
        switches, edges, paths = self._tree(operation, format_)
        switches["job"], edges["job"] = job, job
        for name in ("first_edge", "end_edge"):
            switches[name] += len(jobs.edges)
        switches["up"][switches["up"] >= 0] += len(jobs.edges)
        switches["first_set"] += len(jobs.registers.counts)
        edges["above"] += len(jobs.switches)
        edges["below"][edges["below"] >= 0] += len(jobs.switches)
        for name in ("way", "way_back"):
            edges[name] += path
        workers, shards = self._workers(operation, format_, edges)
        workers["job"], workers["holder"] = job, members + np.arange(len(workers))
        workers["edge"] += len(jobs.edges)
        for name in ("first_shard", "end_shard"):
            workers[name] += len(jobs.shards)
        edges["worker"][edges["worker"] >= 0] += worker
        pool = _pool(format_, shards)
        shards["worker"] += worker
        shards["place"] += len(jobs.pool.chunk)
        self._known[operation.job] = _Known(operation, worker)
        self._widen(format_, int((switches["end_edge"] - switches["first_edge"]).max()))
        jobs = self.jobs or jobs
        self.jobs = Jobs(
            np.concatenate([jobs.jobs, _job(format_, operation.rto)]),
            np.concatenate([jobs.edges, edges]),
            np.concatenate([jobs.switches, switches]),
            np.concatenate([jobs.workers, workers]),
            np.concatenate([jobs.shards, shards]),
            Pool(*map(np.concatenate, zip(jobs.pool, pool, strict=True))),
            self._registers(jobs.registers, 2 * format_.slots * len(switches)),
            jobs.blocks,
        )
        return paths

    def _widen(self, format_: Aggregation, children: int) -> None:
        """Let sets have words for `children`, and events packets for all of them or all slots."""
        self.need = max(self.need, children, format_.slots)
        old, self.words = self.words, max(self.words, words_per_set(children))
        if self.jobs is None or self.words == old:
            return
        registers = self.jobs.registers
        wide = [_widened(marks, old, self.words) for marks in (registers.bitmap, registers.asked)]
        bitmap, asked = wide
        self.jobs = self.jobs._replace(registers=registers._replace(bitmap=bitmap, asked=asked))

    def _registers(self, registers: Registers, sets: int) -> Registers:
        marks, each = np.zeros(sets * self.words, np.int64), np.zeros(sets, np.int64)
        more = Registers(bitmap=marks, counts=each, numbers=each, asked=marks)
        return Registers(*map(np.concatenate, zip(registers, more, strict=True)))

    def _tree(self, operation: Operation, format_: Aggregation) -> tuple[Records, Records, Ints]:
        """Return the switches, the edges below each of them in order of child, and the paths."""
        tree, hosts = format_.tree, self._fabric.hosts
        path: list[int] = []
        switches = np.zeros(len(tree), SWITCH)
        edges = np.zeros(sum(switch.children for switch in tree), EDGE)
        switches["up"], edges["below"], edges["worker"] = -1, -1, -1
        first = 0
        for place, switch in enumerate(tree):
            row = switches[place]
            row["node"], row["first_set"] = switch.node, 2 * format_.slots * place
            row["first_edge"], row["end_edge"] = first, first + switch.children
            below = [hosts[operation.group[worker]].node for worker in switch.workers]
            below += [tree[lower].node for lower in switch.switches]
            for child, node in enumerate(below):
                edge = edges[first + child]
                edge["above"], edge["child"], edge["way"] = place, child, len(path)
                path += self._path(node, switch.node)
                edge["hops"], edge["way_back"] = len(path) - edge["way"], len(path)
                path += self._path(switch.node, node)
                edge["hops_back"] = len(path) - edge["way_back"]
            lowest = first + len(switch.workers)
            edges["worker"][first:lowest] = switch.workers
            edges["below"][lowest : first + switch.children] = switch.switches
            for edge_up, lower in enumerate(switch.switches, lowest):
                switches[lower]["up"] = edge_up
            first += switch.children
        return switches, edges, np.array(path, np.int64)

    def _path(self, source: int, target: int) -> tuple[int, ...]:
        path = self._fabric.routes.path_between(source, target)
        if not path:
            names = [self._fabric.graph.nodes[node].name for node in (source, target)]
            raise ConfigurationError(f"no path leads from {names[0]} to {names[1]}")
        return path

    def _workers(
        self, operation: Operation, format_: Aggregation, edges: Records
    ) -> tuple[Records, Records]:
        workers = np.zeros(len(operation.group), WORKER)
        workers["host"], workers["member"], workers["waiting"] = operation.group, -1, -1
        own = np.flatnonzero(edges["worker"] >= 0)
        workers["edge"][edges["worker"][own]] = own
        rows: list[tuple[int, int, int]] = []
        for number, rank in enumerate(operation.group):
            workers[number]["first_shard"] = len(rows)
            slots = block_bounds(format_.slots, self._fabric.hosts[rank].cores)
            rows += [(number, low, high - low) for low, high in pairwise(slots)]
            workers[number]["end_shard"] = len(rows)
        shards = np.zeros(len(rows), SHARD)
        shards["worker"], shards["first_slot"], shards["slots"] = np.array(rows).T
        shards["place"] = np.cumsum(shards["slots"]) - shards["slots"]
        shards["next_number"] = format_.first_number
        shards["next_slot"] = format_.first_number % shards["slots"]
        rto = operation.rto
        shards["interval"] = rto_interval(
            NEW_TIMER, 0, rto.adaptive, rto.initial_ps, rto.minimum_ps, rto.maximum_ps, 0
        )
        shards["earliest"] = NEVER
        return workers, shards


def _widened(marks: Ints, old: int, new: int) -> Ints:
    """Return marks of `old` words a set with `new` words a set."""
    wide = np.zeros((len(marks) // old, new), np.int64)
    wide[:, :old] = marks.reshape(-1, old)
    return wide.reshape(-1)


def _job(format_: Aggregation, rto: Rto) -> Records:
    jobs = np.zeros(1, JOB)
    row = jobs[0]
    row["slots"], row["guard"] = format_.slots, format_.guard
    row["packet_bytes"], row["help_bytes"] = format_.packet_bytes, format_.help_bytes
    row["exponents"] = format_.exponent_round
    row["adaptive"], row["initial_ps"] = rto.adaptive, rto.initial_ps
    row["minimum_ps"], row["maximum_ps"] = rto.minimum_ps, rto.maximum_ps
    return jobs


def _pool(format_: Aggregation, shards: Records) -> Pool:
    count = int(shards["slots"].sum())
    sets = [
        (turns + (slot < extra)) % 2
        for slots in shards["slots"].tolist()
        for turns, extra in [divmod(format_.first_number, slots)]
        for slot in range(slots)
    ]
    nothing = np.zeros(count, np.int64)
    return Pool(
        chunk=np.full(count, IDLE),
        numbers=nothing,
        sets=np.array(sets, np.int64),
        tries=nothing,
        deadlines=np.full(count, NEVER),
        kept_chunk=np.full(count, IDLE),
        kept_number=nothing,
        timers=np.tile(np.array(NEW_TIMER, np.int64), len(shards)),
    )


def _no_jobs() -> Jobs:
    none = np.zeros(0, np.int64)
    rows: list[Any] = [np.zeros(0, kind) for kind in (JOB, EDGE, SWITCH, WORKER, SHARD)]
    jobs, edges, switches, workers, shards = rows
    pool: Any = Pool(*[none] * len(Pool._fields))
    return Jobs(jobs, edges, switches, workers, shards, pool, Registers(*[none] * 4), none)
