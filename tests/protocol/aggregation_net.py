"""Aggregation machines joined by links on which a test moves every packet itself.

Time passes only when a test lets a timer run out, so a conversation is what the test says and
nothing else. Links keep packets in order of sending; whoever takes one from another place than
the front reorders them.
"""

from collections import defaultdict
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from innet.protocol.endpoint import (
    TO_ALL,
    AggregationPacket,
    CollectiveDone,
    Event,
    Values,
)
from innet.protocol.machine import Timeout
from innet.protocol.switch import AggregationSwitch
from innet.protocol.worker import AggregationWorker
from innet.wire.fixed_point import block_exponent, decode, encode

Vector = npt.NDArray[Any]

FIXED_TIMEOUT = Timeout(False, 10, 1, 80)


class IntegerTensor:
    """A flat int32 tensor in blocks of `k` values, the last filled up with `filler`."""

    exponent_round = False

    def __init__(self, vector: Vector, k: int, workers: int, filler: int = 0) -> None:
        self.vector = vector
        self.result = np.zeros_like(vector)
        self.stored: list[int] = []
        self.k = k
        self.filler = filler

    @property
    def blocks(self) -> int:
        return -(-self.vector.size // self.k)

    def _place(self, block: int) -> slice:
        return slice(block * self.k, (block + 1) * self.k)

    def _filled(self, values: Values) -> Values:
        whole = np.full(self.k, self.filler, dtype=np.int32)
        whole[: values.size] = values
        return whole

    def exponent(self, block: int) -> int:
        return 0

    def values(self, block: int, exponent: int) -> Values:
        return self._filled(self.vector[self._place(block)])

    def store(self, block: int, values: Values, exponent: int) -> None:
        self.stored.append(block)
        part = self.result[self._place(block)]
        part[:] = values[: part.size]


class FloatTensor(IntegerTensor):
    """The same for float32, in block floating point."""

    exponent_round = True

    def __init__(self, vector: Vector, k: int, workers: int, filler: int = 0) -> None:
        super().__init__(vector, k, workers, filler)
        self.workers = workers

    def exponent(self, block: int) -> int:
        return block_exponent(self.vector[self._place(block)])

    def values(self, block: int, exponent: int) -> Values:
        return self._filled(encode(self.vector[self._place(block)], exponent, self.workers))

    def store(self, block: int, values: Values, exponent: int) -> None:
        super().store(block, decode(values, exponent, self.workers), exponent)


def tensor_of(vector: Vector, k: int, workers: int, filler: int = 0) -> IntegerTensor:
    """`vector` as a tensor of the kind that its dtype asks for."""
    kind = FloatTensor if vector.dtype == np.float32 else IntegerTensor
    return kind(vector, k, workers, filler)


class AggregationNet:
    """A switch and the workers of one job, each worker with `cores` machines."""

    def __init__(
        self,
        workers: int,
        slots: int,
        *,
        guard: bool = True,
        cores: int = 1,
        job: int = 0,
        first_number: int = 0,
        timeout: Timeout = FIXED_TIMEOUT,
    ) -> None:
        self.workers = workers
        self.slots = slots
        self.guard = guard
        self.cores = cores
        self.job = job
        self.timeout = timeout
        self.now = 0
        self.switch = AggregationSwitch(workers, slots, guard, job)
        self.machines = [self.new_machines(worker, first_number) for worker in range(workers)]
        self.names = [(str(worker), "S") for worker in range(workers)]  # the ends of each cable
        self.up: list[list[AggregationPacket]] = [[] for _ in range(workers)]
        self.down: list[list[AggregationPacket]] = [[] for _ in range(workers)]
        self.events: list[tuple[int, Event]] = []
        self.done = [0] * workers  # machines of the worker that hold their whole result
        self._newest: dict[tuple[int, int, int], int] = {}

    def new_machines(self, worker: int, first_number: int = 0) -> list[AggregationWorker]:
        """A worker that remembers nothing, with the slots shared evenly among its cores."""
        share = [core * self.slots // self.cores for core in range(self.cores + 1)]
        return [
            AggregationWorker(
                worker,
                end - start,
                self.timeout,
                guard=self.guard,
                job=self.job,
                first_slot=start,
                first_number=first_number,
            )
            for start, end in pairwise(share)
        ]

    def all_reduce(self, worker: int, tensors: list[IntegerTensor]) -> None:
        """Start a worker's next tensor, of which core c has the part `tensors[c]`."""
        self.done[worker] = 0
        for machine, part in zip(self.machines[worker], tensors, strict=True):
            machine.all_reduce(part.vector.size, part.blocks, self.now, part, part.exponent_round)
        self.flush(worker)

    def flush(self, worker: int) -> list[AggregationPacket]:
        """Put what a worker sends on its link, its events on the list; return what it sends."""
        sent = []
        for machine in self.machines[worker]:
            for _, packet in machine.packets_to_send():
                self._check_turn(packet)
                sent.append(packet)
            while (event := machine.next_event()) is not None:
                self.events.append((worker, event))
                self.done[worker] += isinstance(event, CollectiveDone)
        self.up[worker] += sent
        return sent

    def _check_turn(self, packet: AggregationPacket) -> None:
        """No worker may use a set again while another waits for what the set held before."""
        place = (packet.worker, packet.slot, packet.set)
        before = self._newest.get(place)
        if packet.number == before or (before is not None and _older(packet.number, before)):
            return
        self._newest[place] = packet.number
        for machines in self.machines:
            for machine in machines:
                for slot, in_set, number, _ in machine.waiting():
                    assert (slot, in_set) != place[1:] or not _older(number, packet.number)

    def to_switch(self, worker: int, index: int = 0) -> list[tuple[int, AggregationPacket]]:
        """Deliver a packet of a worker's link to the switch; return what the switch sends."""
        self.switch.receive(self.up[worker].pop(index), self.now)
        sent = self.switch.packets_to_send()
        for destination, packet in sent:
            targets = range(self.workers) if destination == TO_ALL else (destination,)
            for target in targets:
                self.down[target].append(packet)
        return sent

    def to_worker(self, worker: int, index: int = 0) -> list[AggregationPacket]:
        """Deliver a packet of the link to a worker; return what the worker sends."""
        packet = self.down[worker].pop(index)
        for machine in self.machines[worker]:
            if machine.first_slot <= packet.slot < machine.first_slot + machine.slots:
                machine.receive(packet, self.now)
        return self.flush(worker)

    def run_out(self, worker: int) -> list[AggregationPacket]:
        """Let time pass until a timer of the worker has run out; return what it sends."""
        waiting = [machine for machine in self.machines[worker] if machine.waiting()]
        machine = min(waiting, key=lambda machine: machine.next_deadline() or 0)
        sent: list[AggregationPacket] = []
        while not sent:
            deadline = machine.next_deadline()
            assert deadline is not None, "a packet is outstanding, but no timer is set"
            self.now = max(self.now, deadline)
            machine.handle_timeout(self.now)
            sent = self.flush(worker)
        return sent

    def settle(self) -> None:
        """Deliver everything, in order, until no packet is on its way."""
        while any(self.up) or any(self.down):
            self.settle_one_round()

    def settle_one_round(self) -> None:
        """Deliver what is on its way up, then everything on its way down."""
        for cable in range(len(self.up)):
            while self.up[cable]:
                self.to_switch(cable)
        for cable in range(len(self.down)):
            while self.down[cable]:
                self.to_worker(cable)

    def wipe(self, choice: int = 0) -> None:
        """Let the switch lose its registers; with several, `choice` says which one."""
        self.switch.wipe()

    def waiting(self, worker: int) -> list[tuple[int, int, int, int]]:
        """What a worker has outstanding on all its cores."""
        return [place for machine in self.machines[worker] for place in machine.waiting()]

    def counted(self, name: str) -> int:
        """A counter of the workers, summed."""
        return sum(getattr(machine, name) for each in self.machines for machine in each)

    def events_of(self, kind: type) -> dict[int, list[Event]]:
        """The events of one kind, by worker."""
        found = defaultdict(list)
        for worker, event in self.events:
            if isinstance(event, kind):
                found[worker].append(event)
        return found


def _older(number: int, than: int) -> bool:
    return 0 < (than - number) % 2**32 < 2**31


def start(
    net: AggregationNet, *vectors: Vector, k: int = 1, filler: int = 0
) -> list[list[IntegerTensor]]:
    """Let every worker begin its vector; return the tensors, a part a core."""
    tensors = []
    for worker, vector in enumerate(vectors):
        parts = [
            tensor_of(part, k, net.workers, filler) for part in np.array_split(vector, net.cores)
        ]
        net.all_reduce(worker, parts)
        tensors.append(parts)
    return tensors


def results(tensors: list[list[IntegerTensor]]) -> list[list[Any]]:
    """The workers' results as plain lists."""
    return [np.concatenate([part.result for part in parts]).tolist() for parts in tensors]


def integers(*values: int) -> Values:
    """An int32 vector."""
    return np.array(values, dtype=np.int32)


def floats(*values: float) -> Vector:
    """A float32 vector."""
    return np.array(values, dtype=np.float32)
