"""Hosts and the switch of an in-network all-reduce: protocol machines on simulated links."""

import itertools

import numpy as np
import numpy.typing as npt

from innet.collectives.schedule import block_bounds
from innet.engine.reference.run import Run, Timer
from innet.plan.plan import Plan
from innet.protocol.endpoint import TO_ALL, AggregationPacket, CollectiveDone
from innet.protocol.switch import AggregationSwitch
from innet.protocol.worker import AggregationWorker, Timeout
from innet.tensors.blocks import VectorBlocks, blocks_of, result_of
from innet.trace.records import RankRecord, SwitchRecord

Vector = npt.NDArray[np.generic]


class AggregationRun(Run):
    """One in-network all-reduce."""

    def __init__(self, plan: Plan, tensors: list[Vector] | None) -> None:
        super().__init__(plan)
        assert plan.aggregation is not None
        self._format = plan.aggregation
        rto = plan.rto
        self._timeout = Timeout(rto.adaptive, rto.initial_ps, rto.minimum_ps, rto.maximum_ps)
        self._switch = AggregationSwitch(
            plan.workers, plan.aggregation.slots, plan.aggregation.guard
        )
        self._machines = [self._machines_of(worker) for worker in range(plan.workers)]
        self._blocks = [self._blocks_of(worker, tensors) for worker in range(plan.workers)]
        self._left = [len(machines) for machines in self._machines]
        self._sent = [0] * plan.workers
        self._received = [0] * plan.workers
        self.finish = [-1] * plan.workers
        self._timers = [
            [
                Timer(
                    self, plan.hosts[worker].node, machine.first_slot, self._handler(worker, core)
                )
                for core, machine in enumerate(machines)
            ]
            for worker, machines in enumerate(self._machines)
        ]
        self._total = max(1, sum(self._chunks()))

    def _bounds(self, worker: int) -> tuple[int, ...]:
        return block_bounds(self.plan.elements, self.plan.hosts[worker].cores)

    def _machines_of(self, worker: int) -> list[AggregationWorker]:
        share = block_bounds(self._format.slots, self.plan.hosts[worker].cores)
        return [
            AggregationWorker(
                worker,
                end - start,
                self._timeout,
                guard=self._format.guard,
                first_slot=start,
                first_number=self._format.first_number,
            )
            for start, end in itertools.pairwise(share)
        ]

    def _blocks_of(self, worker: int, tensors: list[Vector] | None) -> list[VectorBlocks] | None:
        if tensors is None:
            return None
        k, cores = self._format.elements_per_packet, self.plan.hosts[worker].cores
        return blocks_of(tensors[worker], self.plan.dtype, k, cores, self.plan.workers)

    def _chunks(self) -> list[int]:
        k, bounds = self._format.elements_per_packet, self._bounds(0)
        parts = itertools.pairwise(bounds)
        return [-(-(end - start) // k) * self.plan.workers for start, end in parts]

    def _handler(self, worker: int, core: int):  # type: ignore[no-untyped-def] # noqa: ANN202
        def due(now: int) -> None:
            self._machines[worker][core].handle_timeout(now)
            self._flush(worker, core, now)

        return due

    def start(self, rank: int, now: int) -> None:
        """Start a worker on all its cores."""
        bounds, k = self._bounds(rank), self._format.elements_per_packet
        for core, machine in enumerate(self._machines[rank]):
            elements = bounds[core + 1] - bounds[core]
            blocks = self._blocks[rank]
            source = None if blocks is None else blocks[core]
            machine.all_reduce(
                elements, -(-elements // k), now, source, self._format.exponent_round
            )
            self._flush(rank, core, now)

    def _flush(self, worker: int, core: int, now: int) -> None:
        machine = self._machines[worker][core]
        link = self.links[self.plan.graph.links_out[self.plan.hosts[worker].node][0]]
        for _, packet in machine.packets_to_send():
            self._sent[worker] += 1
            link.send(packet, self._format.packet_bytes, now)
        while (event := machine.next_event()) is not None:
            if isinstance(event, CollectiveDone):
                self._left[worker] -= 1
                if self._left[worker] == 0:
                    self.finish[worker] = now
        self._timers[worker][core].arm(machine.next_deadline())

    def deliver(self, node: int, packet: AggregationPacket) -> None:
        """A packet is whole at a node."""
        now = self.now
        if node == self._format.switch:
            self._at_switch(packet, now)
            return
        worker = self.rank_of_node[node]
        self._received[worker] += 1
        machines = self._machines[worker]
        core = 0
        while packet.slot >= machines[core].first_slot + machines[core].slots:
            core += 1
        machines[core].receive(packet, now)
        self.progress_made += 1
        self._flush(worker, core, now)

    def _at_switch(self, packet: AggregationPacket, now: int) -> None:
        self._switch.receive(packet, now)
        leaves = now + self.plan.graph.nodes[self._format.switch].latency_ps
        for destination, answer in self._switch.packets_to_send():
            size = self._format.packet_bytes if answer.kind != "help" else self._format.help_bytes
            all_workers = range(self.plan.workers)
            for worker in all_workers if destination == TO_ALL else (destination,):
                self.links[self.plan.routes[self._format.switch][worker]].send(answer, size, leaves)

    def fraction_done(self) -> float:
        """The share of the results that are there."""
        return min(1.0, sum(self._received) / self._total)

    def waiting(self) -> list[str]:
        """Who waits for which slot, and whom the switch has not heard."""
        lines = []
        for worker, machines in enumerate(self._machines):
            outstanding = [place for machine in machines for place in machine.waiting()][:1]
            for slot, in_set, number, tries in outstanding:
                missing = self._switch.missing(slot, in_set, number)
                who = ", ".join(f"worker {other}" for other in missing[:8]) or "nobody"
                lines.append(
                    f"worker {worker} waits for slot {slot} (chunk number {number}, {tries} "
                    f"timeouts); the switch lacks the contribution of {who}"
                )
        return lines

    def ranks(self) -> tuple[RankRecord, ...]:
        """What every worker counted."""
        return tuple(
            RankRecord(
                worker,
                self.plan.hosts[worker].start_ps,
                self.finish[worker],
                self._sent[worker],
                self._received[worker],
                sum(machine.retransmissions for machine in machines),
                sum(machine.timeouts for machine in machines),
                sum(machine.stale for machine in machines),
                sum(machine.helps_answered for machine in machines),
                0,
                0,
            )
            for worker, machines in enumerate(self._machines)
        )

    def switches(self) -> tuple[SwitchRecord, ...]:
        """What the switch counted."""
        switch = self._switch
        return (
            SwitchRecord(
                self._format.switch,
                switch.completed,
                switch.unicasts,
                switch.repeats_dropped,
                switch.stale_dropped,
                switch.helps_sent,
            ),
        )

    def results(self) -> tuple[Vector, ...] | None:
        """Every worker's vector, None when timing only."""
        vectors: list[Vector] = []
        for blocks in self._blocks:
            if blocks is None:
                return None
            vectors.append(result_of(blocks, self.plan.dtype))
        return tuple(vectors)
