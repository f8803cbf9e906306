"""One core of one worker of a job: its share of the slots and of each tensor, and its machine."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from innet.collectives.schedule import block_bounds
from innet.engine.reference.clock import Timer
from innet.engine.reference.contents import View
from innet.engine.reference.core import Core
from innet.engine.reference.hardware import Hardware, Path
from innet.plan.operation import Operation
from innet.plan.plan import Aggregation
from innet.protocol.endpoint import AggregationPacket, CollectiveDone
from innet.protocol.machine import Timeout
from innet.protocol.worker import AggregationWorker
from innet.tensors.blocks import FloatBlocks, IntegerBlocks


@dataclass(frozen=True, slots=True)
class Share:
    """What a shard does of an operation: elements, and how many blocks they are."""

    elements: int
    chunks: int


def shares_of(operation: Operation, format_: Aggregation, cores: int) -> list[Share]:
    """Return the share of every core; a tensor is split evenly over them."""
    bounds = block_bounds(operation.elements, cores)
    counts = [end - start for start, end in pairwise(bounds)]
    return [Share(count, -(-count // format_.elements_per_packet)) for count in counts]


class Shard:
    """`child` is the worker's number at its switch; `contents` is None while all packets are full.

    `done(now)` is called when the shard has its whole result.
    """

    def __init__(
        self,
        hardware: Hardware,
        operation: Operation,
        rank: int,
        child: int,
        core: int,
        done: Callable[[int], None],
    ) -> None:
        assert operation.aggregation is not None
        self._format = format_ = operation.aggregation
        host = hardware.fabric.hosts[rank]
        slots = block_bounds(format_.slots, host.cores)
        self.first_slot, self.last_slot = slots[core], slots[core + 1] - 1
        self.blocks: IntegerBlocks | FloatBlocks | None = None
        self.contents: View | None = None
        self.sent = self.received = 0
        self._done = done
        self.machines: list[AggregationWorker] = []
        self._use(self._first_machine(operation, child))
        self._keeps = hardware.has_faults(host.node)
        self._at_start = self.machine
        cores = hardware.cores_of(rank)
        self.core: Core | None = None if cores is None else cores[core]
        gate = hardware.gate(host.node)
        timer = hardware.timer_places(host.node, self.last_slot - self.first_slot + 1)
        self._timer = Timer(hardware.env, host.node, timer, lambda now: gate(self._timeout, now))

    def _first_machine(self, operation: Operation, child: int) -> AggregationWorker:
        rto = operation.rto
        return AggregationWorker(
            child,
            self.last_slot - self.first_slot + 1,
            Timeout(rto.adaptive, rto.initial_ps, rto.minimum_ps, rto.maximum_ps),
            guard=self._format.guard,
            job=operation.job,
            first_slot=self.first_slot,
            first_number=self._format.first_number,
        )

    def _use(self, machine: AggregationWorker) -> None:
        self.machine = machine
        self.machines.append(machine)

    def connect(self, path: Path) -> None:
        """Send on this path, through the core if packets cost it time."""
        self.link, self._deliver = path
        self._send = self.link.send if self.core is None else self.core.sender(self.link)

    def start(self, share: Share, blocks: IntegerBlocks | FloatBlocks | None, now: int) -> None:
        """Begin a tensor."""
        self.blocks = blocks
        if self._keeps:
            self._at_start = self.machine.successor()
        exponents = self._format.exponent_round
        self.machine.all_reduce(share.elements, share.chunks, now, blocks, exponents)
        self._flush(now)

    def reset(self, again: bool) -> None:
        """Lose all state; `again` says that the last tensor is to be begun once more."""
        self._use((self._at_start if again else self.machine).successor())

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
        machine, size = self.machine, self._format.packet_bytes
        for _, packet in machine.packets_to_send():
            self.sent += 1
            if self.contents is not None:
                size = self.contents.up_bytes(packet.slot, packet.number)
            self._send(packet, size, now, self._deliver)
        while (event := machine.next_event()) is not None:
            if isinstance(event, CollectiveDone):
                self._done(now)
        deadline = machine.next_deadline()
        if deadline is not None and deadline < self._timer.at:
            self._timer.arm(deadline)
