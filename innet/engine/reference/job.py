"""One aggregation job: workers and a tree of switches that run its operations one after another."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from innet.engine.ledger import Ledger
from innet.engine.reference.aggregator import Aggregator, places_below
from innet.engine.reference.clock import START, call_at, priority
from innet.engine.reference.contents import IN_NETWORK, Contents, contribution
from innet.engine.reference.hardware import Hardware
from innet.engine.reference.link import Deliver
from innet.engine.reference.program import Vector
from innet.engine.reference.shard import Shard, Share, shares_of
from innet.plan.operation import Operation
from innet.protocol.endpoint import AggregationPacket
from innet.tensors.blocks import FloatBlocks, IntegerBlocks, blocks_of
from innet.trace.records import RankRecord
from innet.wire.dtypes import narrow

Blocks = list[IntegerBlocks | FloatBlocks]


class _Task(NamedTuple):
    """The job's operation number `turn`; `parts[place]`: each core's blocks, if values travel."""

    number: int
    turn: int
    operation: Operation
    shares: list[Share]
    tensors: Sequence[Vector] | None
    parts: dict[int, Blocks]


class _Worker:
    """A member of the group: a shard a core, what it does, and what it has to do next."""

    def __init__(self, shards: list[Shard], node: int, start_ps: int) -> None:
        self.shards, self.node, self.start_ps = shards, node, start_ps
        self.last: _Task | None = None
        self.entered = 0  # how many operations of the job
        self.left = 0
        self.waiting: list[_Task] = []

    def receiver(self) -> Deliver:
        """What takes the packets that arrive at the host: the shard that has their slot."""
        shards = self.shards
        if len(shards) == 1:
            return shards[0].arrive

        def receive(packet: AggregationPacket, medium_bytes: int, now: int) -> None:
            for shard in shards:
                if packet.slot <= shard.last_slot:
                    shard.arrive(packet, medium_bytes, now)
                    return

        return receive


class AggregationJob:
    """Its operations have the group, the format and the timeout of the first."""

    def __init__(self, hardware: Hardware, ledger: Ledger, operation: Operation) -> None:
        assert operation.aggregation is not None
        self.format, self._first = operation.aggregation, operation
        self._hardware, self._ledger = hardware, ledger
        self._tasks: dict[int, _Task] = {}
        nodes = hardware.fabric.graph.nodes
        self._tree = [
            Aggregator(self.format, index, operation.job, nodes[entry.node].latency_ps)
            for index, entry in enumerate(self.format.tree)
        ]
        hosts = [hardware.fabric.hosts[rank] for rank in operation.group]
        self._contents = Contents(self.format, hosts[0].cores)
        self._workers = [
            _Worker(self._shards(place), host.node, host.start_ps)
            for place, host in enumerate(hosts)
        ]
        for index in range(len(self._tree)):
            self._connect(index)
        self._chunks = 0

    # --- building ------------------------------------------------------------------------

    def _shards(self, place: int) -> list[Shard]:
        rank = self._first.group[place]
        child = next(
            entry.workers.index(place) for entry in self.format.tree if place in entry.workers
        )

        def done(now: int) -> None:
            self._shard_done(place, now)

        cores = self._hardware.fabric.hosts[rank].cores
        return [
            Shard(self._hardware, self._first, rank, child, core, done) for core in range(cores)
        ]

    def _connect(self, index: int) -> None:
        """Make the paths between a switch and its children."""
        entry, switch, path = self.format.tree[index], self._tree[index], self._hardware.path
        for place in entry.workers:
            worker = self._workers[place]
            for shard in worker.shards:
                shard.connect(path(worker.node, switch.node, switch.receive))
            switch.down.append(path(switch.node, worker.node, worker.receiver()))
        for below in entry.switches:
            lower = self._tree[below]
            lower.up = path(lower.node, switch.node, switch.receive)
            switch.down.append(path(switch.node, lower.node, lower.receive))

    def add(self, number: int, operation: Operation, tensors: Sequence[Vector] | None) -> None:
        """Take the job's next operation; ValueError if it is not like the others."""
        if operation.kind not in IN_NETWORK:
            raise ValueError(f"no switch can carry out {operation.kind}")
        first = self._first
        if (operation.group, operation.aggregation) != (first.group, first.aggregation):
            raise ValueError(f"job {operation.job} has another group or aggregation")
        shares = shares_of(operation, self.format, len(self._workers[0].shards))
        self._tasks[number] = _Task(number, len(self._tasks), operation, shares, tensors, {})
        self._contents.add(operation, [share.chunks for share in shares])
        self._chunks += sum(share.chunks for share in shares) * len(self._workers)
        if not self._contents.always_full:
            self._limit_contents()

    def _limit_contents(self) -> None:
        for place, worker in enumerate(self._workers):
            for shard in worker.shards:
                shard.contents = self._contents.of([place])
        for entry, switch in zip(self.format.tree, self._tree, strict=True):
            below = [places_below(self.format, lower) for lower in entry.switches]
            switch.limit_contents(self._contents, [*((p,) for p in entry.workers), *below])

    # --- operations ----------------------------------------------------------------------

    def start(self, operation: int, place: int, now: int) -> None:
        """A worker enters an operation; it begins it after those that it entered before."""
        worker, task = self._workers[place], self._tasks[operation]
        if task.turn != worker.entered:
            raise ValueError(f"operation {operation} is not the next of job {self._first.job}")
        worker.entered += 1
        if worker.left or worker.waiting:
            worker.waiting.append(task)
        else:
            self._begin(task, place, now)

    def _begin(self, task: _Task, place: int, now: int) -> None:
        """Begin an operation on all cores."""
        worker = self._workers[place]
        worker.last, worker.left = task, len(worker.shards)
        parts: Sequence[IntegerBlocks | FloatBlocks | None] = [None] * len(worker.shards)
        if task.tensors is not None:
            parts = task.parts[place] = self._parts(task, place)
        for shard, share, part in zip(worker.shards, task.shares, parts, strict=True):
            shard.start(share, part, now)

    def _parts(self, task: _Task, place: int) -> Blocks:
        assert task.tensors is not None
        operation, workers = task.operation, len(self._workers)
        vector = contribution(operation, place, task.tensors[place])
        k, cores = self.format.elements_per_packet, len(self._workers[place].shards)
        return blocks_of(vector, operation.dtype, k, cores, workers)

    def _shard_done(self, place: int, now: int) -> None:
        worker = self._workers[place]
        worker.left -= 1
        if worker.left:
            return
        assert worker.last is not None
        self._ledger.complete(worker.last.number, place, now)
        if worker.waiting:
            self._begin_next(place, worker.waiting[0], now)

    def _begin_next(self, place: int, task: _Task, now: int) -> None:
        """Begin what a worker has entered, as if it had entered it now."""
        worker = self._workers[place]
        gate = self._hardware.gate(worker.node)

        def begin(at: int) -> None:
            if worker.waiting and worker.waiting[0] is task and not worker.left:
                self._begin(worker.waiting.pop(0), place, at)

        order = priority(START, worker.node, task.number)
        call_at(self._hardware.env, now, order, lambda then: gate(begin, then))

    # --- faults --------------------------------------------------------------------------

    def lose_state(self, node: int, now: int) -> None:
        """Wipe a switch's registers, or put a worker back to the beginning of its tensor."""
        for switch in self._tree:
            if switch.node == node:
                switch.machine.wipe()
        for place, worker in enumerate(self._workers):
            if worker.node == node:
                self._reset(place, worker)

    def _reset(self, place: int, worker: _Worker) -> None:
        last = worker.last
        again = last is not None and self._ledger.is_open(last.number)
        for shard in worker.shards:
            shard.reset(again)
        if again and last is not None and worker.left == 0:
            self._ledger.reopen(last.number, place)
        worker.entered = 0 if last is None else last.turn + (not again)
        worker.left = 0
        worker.waiting.clear()

    # --- what there is to say ------------------------------------------------------------

    def progress_made(self) -> int:
        """The chunks of which workers have the sum; a call for help is no progress."""
        return sum(shard.machine.completed for worker in self._workers for shard in worker.shards)

    def fraction_done(self) -> float:
        """The share of the results that are there."""
        return min(1.0, self.progress_made() / max(1, self._chunks))

    def waiting(self) -> list[str]:
        """Who waits for which slot, and whom the switches have not heard."""
        lines = []
        for place, worker in enumerate(self._workers):
            outstanding = [each for shard in worker.shards for each in shard.machine.waiting()][:1]
            for slot, in_set, number, tries in outstanding:
                who = ", ".join(self._missing(0, slot, in_set, number)[:8]) or "nobody"
                lines.append(
                    f"worker {self._first.group[place]} waits for slot {slot} (chunk number "
                    f"{number}, {tries} timeouts); the switch lacks the contribution of {who}"
                )
        return lines

    def _missing(self, index: int, slot: int, in_set: int, number: int) -> list[str]:
        """The workers of a subtree that have not contributed, and switches that are not heard."""
        entry, names = self.format.tree[index], []
        for child in self._tree[index].machine.missing(slot, in_set, number):
            if child < len(entry.workers):
                names.append(f"worker {self._first.group[entry.workers[child]]}")
                continue
            below = entry.switches[child - len(entry.workers)]
            node = self._hardware.fabric.graph.nodes[self._tree[below].node]
            names += self._missing(below, slot, in_set, number) or [f"switch {node.name}"]
        return names

    def counters(self) -> list[tuple[int, ...]]:
        """What every switch of the tree has counted: its node, then a record's counters."""
        return [switch.counters() for switch in self._tree]

    def record(self, place: int, finish_ps: int) -> RankRecord:
        """What a worker counted."""
        worker = self._workers[place]
        shards = worker.shards
        machines = [machine for shard in shards for machine in shard.machines]
        return RankRecord(
            self._first.group[place],
            worker.start_ps,
            finish_ps,
            sum(shard.sent for shard in shards),
            sum(shard.received for shard in shards),
            sum(machine.retransmissions for machine in machines),
            sum(machine.timeouts for machine in machines),
            sum(machine.stale for machine in machines),
            sum(machine.helps_answered for machine in machines),
            shards[0].link.idle_ps,
            sum(shard.core.busy_ps for shard in shards if shard.core is not None),
        )

    def results(self, operation: int) -> tuple[Vector, ...] | None:
        """Every worker's vector, None when timing only."""
        task = self._tasks[operation]
        if task.tensors is None:
            return None
        return tuple(self._result(task, place) for place in range(len(self._workers)))

    def _result(self, task: _Task, place: int) -> Vector:
        whole: npt.NDArray[Any] = np.concatenate([part.result for part in task.parts[place]])
        dtype = task.operation.dtype
        return whole if dtype == "int32" else narrow(whole, dtype)
