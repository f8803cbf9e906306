"""Hosts and the switch of an in-network all-reduce: protocol machines on simulated links."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from innet.collectives.schedule import block_bounds
from innet.engine.reference.clock import Timer
from innet.engine.reference.core import Core
from innet.engine.reference.link import Deliver, LinkDirection
from innet.engine.reference.run import Run
from innet.plan.plan import Plan
from innet.protocol.endpoint import HELP, TO_ALL, AggregationPacket, CollectiveDone
from innet.protocol.machine import Timeout
from innet.protocol.switch import AggregationSwitch
from innet.protocol.worker import AggregationWorker
from innet.tensors.blocks import FloatBlocks, IntegerBlocks, blocks_of
from innet.trace.records import RankRecord, SwitchRecord
from innet.wire.dtypes import narrow

Vector = npt.NDArray[np.generic]
Send = Callable[[AggregationPacket, int, int], None]  # packet, medium bytes, time


class Shard:
    """One core of one worker: its share of the slots and of the tensor, and its machine."""

    def __init__(self, run: "AggregationRun", worker: int, core: int) -> None:
        plan, format_ = run.plan, run.format
        self._run, self._worker, self._plan = run, worker, plan
        self._packet_bytes = format_.packet_bytes
        slots = block_bounds(format_.slots, plan.hosts[worker].cores)
        self.first_slot, self.last_slot = slots[core], slots[core + 1] - 1
        elements = block_bounds(plan.elements, plan.hosts[worker].cores)
        self.elements = elements[core + 1] - elements[core]
        self.chunks = -(-self.elements // format_.elements_per_packet)
        self.machines: list[AggregationWorker] = []
        self.machine = self._new_machine()
        self.blocks: IntegerBlocks | FloatBlocks | None = None
        self.core: Core | None = None
        self.link: LinkDirection
        self._send: Send
        self.sent = self.received = 0
        node = plan.hosts[worker].node
        gate = run.gate(node)
        self._timer = Timer(run.env, node, self.first_slot, lambda now: gate(self._timeout, now))

    def _new_machine(self) -> AggregationWorker:
        rto, format_ = self._plan.rto, self._run.format
        machine = AggregationWorker(
            self._worker,
            self.last_slot - self.first_slot + 1,
            Timeout(rto.adaptive, rto.initial_ps, rto.minimum_ps, rto.maximum_ps),
            guard=format_.guard,
            first_slot=self.first_slot,
            first_number=format_.first_number,
        )
        self.machines.append(machine)
        return machine

    def start(self, now: int) -> None:
        """Begin the tensor; the worker's second start is with a new machine."""
        exponents = self._run.format.exponent_round
        self.machine.all_reduce(self.elements, self.chunks, now, self.blocks, exponents)
        self._flush(now)

    def reset(self, now: int) -> None:
        """Lose all state."""
        self.machine = self._new_machine()
        if self.core is not None:
            self.core.reset(now)

    def connect(self, link: LinkDirection, core: Core | None) -> None:
        """Send to `link`, through the core if packets cost it time."""
        self.link, self.core = link, core
        self._send = link.send if core is None else core.sender(link)

    def arrive(self, packet: AggregationPacket, _: int, now: int) -> None:
        """A packet has arrived at the host."""
        if self.core is not None:
            self.core.receive(packet, now, self._take)
            return
        self.received += 1
        self.machine.receive(packet, now)
        self._flush(now)

    def _take(self, packet: AggregationPacket, now: int) -> None:
        self.received += 1
        self.machine.receive(packet, now)
        self._flush(now)

    def _timeout(self, now: int) -> None:
        self.machine.handle_timeout(now)
        self._flush(now)

    def _flush(self, now: int) -> None:
        machine = self.machine
        for _, packet in machine.packets_to_send():
            self.sent += 1
            self._send(packet, self._packet_bytes, now)
        while (event := machine.next_event()) is not None:
            if isinstance(event, CollectiveDone):
                self._run.shard_done(self._worker, now)
        deadline = machine.next_deadline()
        if deadline is not None and deadline < self._timer.at:
            self._timer.arm(deadline)


class AggregationRun(Run):
    """One in-network all-reduce."""

    def __init__(self, plan: Plan, tensors: list[Vector] | None) -> None:
        assert plan.aggregation is not None
        self.format = plan.aggregation
        super().__init__(plan)
        self._switch = AggregationSwitch(plan.workers, self.format.slots, self.format.guard)
        self._shards = [
            [Shard(self, worker, core) for core in range(plan.hosts[worker].cores)]
            for worker in range(plan.workers)
        ]
        self._left = [len(shards) for shards in self._shards]
        self._tensors = tensors
        self.links = self.build_links()
        for worker in range(plan.workers):
            self._connect(worker)
        routes = plan.routes
        downs = [routes.path_between(self.format.switch, host.node)[0] for host in plan.hosts]
        self._down = [self.links[link] for link in downs[: plan.workers]]
        chunks = sum(shard.chunks for shard in self._shards[0])
        self._total = max(1, chunks * plan.workers)

    def _connect(self, worker: int) -> None:
        uplink = self.links[self.plan.graph.links_out[self.plan.hosts[worker].node][0]]
        cores = self.cores_of(worker)
        for place, shard in enumerate(self._shards[worker]):
            shard.connect(uplink, None if cores is None else cores[place])
        self._load(worker)

    def _load(self, worker: int) -> None:
        """Give a worker's shards their parts of its tensor."""
        if self._tensors is None:
            return
        k, cores = self.format.elements_per_packet, self.plan.hosts[worker].cores
        parts = blocks_of(self._tensors[worker], self.plan.dtype, k, cores, self.plan.workers)
        for shard, part in zip(self._shards[worker], parts, strict=True):
            shard.blocks = part

    def receiver(self, node: int) -> Deliver:
        """The switch, or a worker's shard by slot."""
        if node == self.format.switch:
            return self._at_switch
        shards = self._shards[self.rank_of_node[node]]

        def receive(packet: AggregationPacket, medium_bytes: int, now: int) -> None:
            for shard in shards:
                if packet.slot <= shard.last_slot:
                    shard.arrive(packet, medium_bytes, now)
                    return

        return receive if len(shards) > 1 else shards[0].arrive

    def _at_switch(self, packet: AggregationPacket, _: int, now: int) -> None:
        switch = self._switch
        switch.receive(packet, now)
        answers = switch.packets_to_send()
        if not answers:
            return
        leaves = now + self.plan.graph.nodes[self.format.switch].latency_ps
        for destination, answer in answers:
            size = self.format.help_bytes if answer.kind == HELP else self.format.packet_bytes
            for link in self._down if destination == TO_ALL else (self._down[destination],):
                link.send(answer, size, leaves)

    def start(self, rank: int, now: int) -> None:
        """Start a worker on all its cores."""
        for shard in self._shards[rank]:
            shard.start(now)

    def lose_state(self, node: int, now: int) -> None:
        """Wipe the switch's registers, or put a worker back to its first chunk."""
        if all(time >= 0 for time in self.finish):
            return
        if node == self.format.switch:
            self._switch.wipe()
            return
        worker = self.rank_of_node[node]
        for shard in self._shards[worker]:
            shard.reset(now)
        self._load(worker)
        self._left[worker] = len(self._shards[worker])
        self.finish[worker] = -1

    def shard_done(self, worker: int, now: int) -> None:
        """A shard has its whole result."""
        self._left[worker] -= 1
        if self._left[worker] == 0:
            self.finish[worker] = now

    def progress_made(self) -> int:
        """The chunks of which workers have the sum; a call for help is no progress."""
        machines = (shard.machine for shards in self._shards for shard in shards)
        return sum(machine.completed for machine in machines)

    def fraction_done(self) -> float:
        """The share of the results that are there."""
        return min(1.0, self.progress_made() / self._total)

    def waiting(self) -> list[str]:
        """Who waits for which slot, and whom the switch has not heard."""
        lines = []
        for worker, shards in enumerate(self._shards):
            outstanding = [place for shard in shards for place in shard.machine.waiting()][:1]
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
        return tuple(self._record(worker) for worker in range(self.plan.workers))

    def _record(self, worker: int) -> RankRecord:
        shards = self._shards[worker]
        machines = [machine for shard in shards for machine in shard.machines]
        return RankRecord(
            worker,
            self.plan.hosts[worker].start_ps,
            self.finish[worker],
            sum(shard.sent for shard in shards),
            sum(shard.received for shard in shards),
            sum(machine.retransmissions for machine in machines),
            sum(machine.timeouts for machine in machines),
            sum(machine.stale for machine in machines),
            sum(machine.helps_answered for machine in machines),
            shards[0].link.idle_ps,
            sum(shard.core.busy_ps for shard in shards if shard.core is not None),
        )

    def switches(self) -> tuple[SwitchRecord, ...]:
        """What the switch counted."""
        switch = self._switch
        return (
            SwitchRecord(
                self.format.switch,
                switch.completed,
                switch.unicasts,
                switch.repeats_dropped,
                switch.stale_dropped,
                switch.helps_sent,
            ),
        )

    def results(self) -> tuple[Vector, ...] | None:
        """Every worker's vector, None when timing only."""
        if self._tensors is None:
            return None
        return tuple(self._result(worker) for worker in range(self.plan.workers))

    def _result(self, worker: int) -> Vector:
        parts = [shard.blocks.result for shard in self._shards[worker] if shard.blocks is not None]
        whole: npt.NDArray[Any] = np.concatenate(parts)
        return whole if self.plan.dtype == "int32" else narrow(whole, self.plan.dtype)
