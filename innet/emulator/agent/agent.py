"""The host agent: one worker of a plan on real sockets.

It drives the protocol's worker machines, one a core, by a monotonic clock, and does to their
packets what the plan's links and faults do. It knows neither who started it nor when the
others are done: its driver (`loop`) calls it, and keeps calling it after it has finished,
since the others may need its help.
"""

import heapq
import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from innet.collectives.schedule import block_bounds
from innet.emulator.agent.lane import Lane
from innet.emulator.agent.paths import Path
from innet.plan.plan import NodeFault, Plan
from innet.protocol.endpoint import HELP, AggregationPacket, CollectiveDone
from innet.protocol.machine import Timeout
from innet.protocol.worker import AggregationWorker
from innet.tensors.blocks import blocks_of
from innet.trace.records import LinkRecord, RankRecord
from innet.wire.dtypes import narrow
from innet.wire.frames import WIRE_INTEGER

Vector = npt.NDArray[Any]
State = Literal["running", "paused", "gone"]

_MS = 10**9
_LEAST_INITIAL_PS, _LEAST_MINIMUM_PS, _LEAST_MAXIMUM_PS = 200 * _MS, 10 * _MS, 500 * _MS
_PACKET_PS = 50 * 10**6
"""About what a switch in software takes for a packet."""
_UNFINISHED = -1
_RESTS_A_ROUND_TRIP = 8
_SHORTEST_REST_PS, _LONGEST_REST_PS = _MS // 10, 2 * _MS


def real_timeout(plan: Plan) -> Timeout:
    """The timeout for a real clock: an adaptive one stays above what the machine needs anyway.

    As in a simulation, a full window of all workers waits behind itself, here for the switch's
    processor. A fixed timeout is what the scenario asks for, and stays as it is.
    """
    rto, aggregation = plan.rto, plan.aggregation
    if not rto.adaptive or aggregation is None:
        return Timeout(rto.adaptive, rto.initial_ps, rto.minimum_ps, rto.maximum_ps)
    blocks = -(-plan.elements // aggregation.elements_per_packet)
    loaded_ps = plan.workers * min(blocks, aggregation.slots) * _PACKET_PS
    initial_ps = max(rto.initial_ps, _LEAST_INITIAL_PS, 3 * loaded_ps)
    minimum_ps = max(rto.minimum_ps, _LEAST_MINIMUM_PS, 2 * loaded_ps)
    maximum_ps = max(rto.maximum_ps, _LEAST_MAXIMUM_PS, 2 * initial_ps)
    return Timeout(True, initial_ps, minimum_ps, maximum_ps)


class Agent:
    """Worker `worker` of `plan` with its flat `vector`, talking as `job` over `path`.

    Times are picoseconds since the start of the job.
    """

    def __init__(self, plan: Plan, worker: int, vector: Vector, path: Path, job: int) -> None:
        assert plan.aggregation is not None
        self.plan = plan
        self.worker = worker
        self.path = path
        self.state: State = "running"
        self.finish_ps = _UNFINISHED
        self.heard_at = 0
        """When the last packet came from the switch."""
        self._job = job
        self._format = plan.aggregation
        self._host = plan.hosts[worker]
        # The order of bytes on the wire: what is sent and stored is then only copied.
        self._vector = vector.astype(WIRE_INTEGER) if plan.dtype == "int32" else vector
        self._share = block_bounds(self._format.slots, self._host.cores)
        self._core_of_slot = [
            core
            for core, (start, end) in enumerate(itertools.pairwise(self._share))
            for _ in range(start, end)
        ]
        up, down = plan.graph.links_out[self._host.node], plan.graph.links_into[self._host.node]
        self._up: Lane[tuple[int, AggregationPacket]] = Lane(plan, up[0], self._transmit)
        self._down: Lane[AggregationPacket] = Lane(plan, down[0], self._deliver)
        self._now = 0
        self._sent = self._received = 0
        self._is_overdue = False
        self._retired: list[AggregationWorker] = []
        self._restart_machines()
        self._schedule: list[tuple[int, int, Callable[[], None]]] = []
        self._ordinals = itertools.count()
        self._at(self._host.start_ps, self._begin)
        for fault in plan.node_faults:
            if fault.node == self._host.node:
                self._schedule_fault(fault)

    # --- what is asked of it ---------------------------------------------------------------

    @property
    def finished(self) -> bool:
        """Whether it holds its whole result."""
        return self.finish_ps != _UNFINISHED

    def result(self) -> Vector:
        """Its vector as far as it is there, of the dtype of the one that it was given."""
        whole = np.concatenate([part.result for part in self._blocks])
        dtype = self.plan.dtype
        if dtype == "int32":
            return whole.astype(np.int32)
        return narrow(whole.astype(np.float32, copy=False), dtype)

    def progress(self) -> tuple[int, int]:
        """How many results have come, and how many there are to come in all."""
        results = sum(machine.completed for machine in (*self._retired, *self._machines))
        return results, self._chunks

    def waiting(self) -> list[tuple[int, int, int, int]]:
        """What is outstanding: (slot, set, number, timeouts so far)."""
        return [place for machine in self._machines for place in machine.waiting()]

    def record(self) -> RankRecord:
        """What the worker counted."""
        machines = [*self._retired, *self._machines]
        return RankRecord(
            self.worker,
            self._host.start_ps,
            self.finish_ps,
            self._sent,
            self._received,
            sum(machine.retransmissions for machine in machines),
            sum(machine.timeouts for machine in machines),
            sum(machine.stale for machine in machines),
            sum(machine.helps_answered for machine in machines),
            0,
            0,
        )

    def links(self) -> tuple[LinkRecord, LinkRecord]:
        """What its uplink and its downlink counted."""
        return self._up.record(), self._down.record()

    def dropped(self) -> Counter[str]:
        """Packets that arrived and were dropped, by reason."""
        machines = [*self._retired, *self._machines]
        stale = sum(machine.stale for machine in machines)
        return self.path.dropped + Counter(stale=stale)

    # --- what drives it ----------------------------------------------------------------------

    def descriptors(self) -> Sequence[int]:
        """What to wait for, for reading: nothing while it is paused."""
        return () if self.state == "paused" else self.path.descriptors()

    def next_time(self) -> int | None:
        """When to call `on_time` at the latest."""
        times = [self._schedule[0][0]] if self._schedule else []
        if self.state == "running":
            found = [self._up.next_time(), self._down.next_time()]
            found += [machine.next_deadline() for machine in self._machines]
            times += [time for time in found if time is not None]
        return min(times) if times else None

    def rest_ps(self) -> int:
        """How long to let packets gather before they are taken: less work for each of them.

        Network cards do so too, as interrupt moderation. The rest is a small part of the round
        trip, so that the switch has most of a window to go on with; 0 where it would be so short
        that the machine cannot keep it.
        """
        round_trip = min(machine.round_trip_ps for machine in self._machines)
        rest = min(round_trip // _RESTS_A_ROUND_TRIP, _LONGEST_REST_PS)
        return rest if rest >= _SHORTEST_REST_PS else 0

    def on_time(self, now: int) -> None:
        """Do what is due at `now`."""
        self._now = now
        while self._schedule and self._schedule[0][0] <= now:
            heapq.heappop(self._schedule)[2]()
        if self.state != "running":
            return
        self._up.due(now)
        self._down.due(now)
        for core, machine in enumerate(self._machines):
            deadline = machine.next_deadline()
            if deadline is not None and deadline <= now:
                machine.handle_timeout(now)
                self._flush(core)

    def on_readable(self, now: int) -> None:
        """Take what has arrived."""
        self._now = now
        packets = self.path.receive()
        if self.state == "gone":
            return
        for packet in packets:
            size = self._format.help_bytes if packet.kind == HELP else self._format.packet_bytes
            self._down.send(packet, packet.kind, packet.number, size, now)

    # --- inside --------------------------------------------------------------------------------

    def _restart_machines(self) -> None:
        timeout, first = real_timeout(self.plan), self._format.first_number
        self._machines = [
            AggregationWorker(
                self.worker,
                end - start,
                timeout,
                guard=self._format.guard,
                job=self._job,
                first_slot=start,
                first_number=first,
            )
            for start, end in itertools.pairwise(self._share)
        ]
        k, cores = self._format.elements_per_packet, self._host.cores
        self._blocks = blocks_of(self._vector, self.plan.dtype, k, cores, self.plan.workers)
        self._left = cores
        self._chunks = sum(
            _chunks(part.result.size, k, machine.slots, self._format.exponent_round)
            for part, machine in zip(self._blocks, self._machines, strict=True)
        )

    def _begin(self) -> None:
        """Start the collective on all cores; a worker that cannot now does so when it is back."""
        if self.state != "running":
            self._is_overdue = True
            return
        self._is_overdue = False
        for core, (machine, part) in enumerate(zip(self._machines, self._blocks, strict=True)):
            elements = part.result.size
            blocks = -(-elements // self._format.elements_per_packet)
            machine.all_reduce(elements, blocks, self._now, part, self._format.exponent_round)
            self._flush(core)

    def _flush(self, core: int) -> None:
        machine, size, now = self._machines[core], self._format.packet_bytes, self._now
        for _, packet in machine.packets_to_send():
            self._sent += 1
            self._up.send((core, packet), packet.kind, packet.number, size, now)
        while (event := machine.next_event()) is not None:
            if isinstance(event, CollectiveDone):
                self._left -= 1
                if self._left == 0:
                    self.finish_ps = now

    def _transmit(self, packet: tuple[int, AggregationPacket]) -> None:
        core, update = packet
        self.path.send(core, update)

    def _deliver(self, packet: AggregationPacket) -> None:
        self._received += 1
        self.heard_at = self._now
        slots = self._core_of_slot
        core = slots[packet.slot] if packet.slot < len(slots) else 0  # which drops what is not its
        self._machines[core].receive(packet, self._now)
        self._flush(core)

    # --- the scenario's faults of this node ------------------------------------------------------

    def _at(self, time: int, action: Callable[[], None]) -> None:
        heapq.heappush(self._schedule, (time, next(self._ordinals), action))

    def _schedule_fault(self, fault: NodeFault) -> None:
        back = fault.at_ps + fault.for_ps
        if fault.verb == "pause":
            self._at(fault.at_ps, lambda: self._become("paused"))
            self._at(back, lambda: self._become("running"))
        else:
            self._at(fault.at_ps, self._vanish)
        if fault.verb == "restart":
            self._at(back, self._come_back)

    def _become(self, state: State) -> None:
        if self.state == "gone":
            return
        self.state = state
        if self._is_overdue:
            self._begin()

    def _vanish(self) -> None:
        self.state = "gone"
        self._up.cut()

    def _come_back(self) -> None:
        """Start the tensor again from its first chunk, with nothing remembered."""
        self.state = "running"
        self._down.cut()
        self.finish_ps = _UNFINISHED
        self._retired += self._machines
        self._restart_machines()
        if self._now >= self._host.start_ps:
            self._begin()


def _chunks(elements: int, k: int, slots: int, exponent_round: bool) -> int:
    blocks = -(-elements // k)
    return blocks + (min(slots, blocks) if exponent_round else 0)
