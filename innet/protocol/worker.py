"""A worker of an aggregation job as a machine: one tensor after another over a pool of slots.

A tensor of `blocks` blocks is sent as `chunks` chunks. Integers: chunk c carries block c.
Floats (an *exponent round* first): each chunk carries the exponent of the block that follows
it on its slot, so that the first chunk of every slot carries no values and chunk c carries
block c - window. At most `window` = min(slots, blocks) chunks are outstanding, one a slot, and
the result of one sends the next on the same slot in its other set.

Slots are used in turn from one tensor to the next and keep their sets: a tensor that began
again at set 0 of slot 0 could be answered with the sum of an earlier one. Numbers count the
chunks of the whole life of the job.
"""

from typing import Protocol

from innet.protocol.endpoint import (
    HELP,
    UPDATE,
    AggregationPacket,
    CollectiveDone,
    Event,
    HelpGiven,
    Retransmitted,
    StaleDropped,
    Values,
)
from innet.protocol.machine import NEVER, Machine, Timeout, new_packet
from innet.protocol.transitions import (
    IDLE,
    NEW_TIMER,
    NUMBER_MASK,
    SMOOTHED,
    TIMED,
    rto_answered,
    rto_answered_again,
    rto_first_sample,
    worker_helps,
    worker_result,
    worker_send,
    worker_timeout,
)

SWITCH = 0  # the only destination of a worker's packets
TRIES_BEFORE_HELP = 2  # from the third sending on, a repeat asks for help


class Blocks(Protocol):
    """The worker's side of a tensor, in blocks of one packet's values."""

    def exponent(self, block: int) -> int:
        """The exponent of this worker's values of a block."""

    def values(self, block: int, exponent: int) -> Values:
        """This worker's contribution, scaled for the largest exponent of all workers."""

    def store(self, block: int, values: Values, exponent: int) -> None:
        """Keep the sum of a block; values beyond the tensor's end have no meaning."""


class _Tensor:
    """Where a tensor stands: its blocks, its first number and slot, what is left."""

    def __init__(
        self, blocks: int, source: Blocks | None, slots: int, exponent_round: bool
    ) -> None:
        self.source = source
        self.blocks = blocks
        self.window = min(slots, blocks)
        self.lead = self.window if exponent_round else 0
        self.chunks = blocks + self.lead
        self.left = self.chunks
        self.exponents = [0] * blocks if exponent_round and source is not None else []

    def contribution(self, chunk: int) -> tuple[int, Values | None]:
        """The exponent and the values that `chunk` carries."""
        if self.source is None:
            return 0, None
        exponent = self.source.exponent(chunk) if self.lead and chunk < self.blocks else 0
        block = chunk - self.lead
        if block < 0:
            return exponent, None
        scaled_for = self.exponents[block] if self.lead else 0
        return exponent, self.source.values(block, scaled_for)

    def take(self, chunk: int, packet: AggregationPacket, source: Blocks) -> None:
        """Keep what the result of `chunk` brings."""
        if self.lead and chunk < self.blocks:
            self.exponents[chunk] = packet.exponent
        block = chunk - self.lead
        if block >= 0 and packet.values is not None:
            source.store(block, packet.values, self.exponents[block] if self.lead else 0)


class AggregationWorker(Machine[AggregationPacket, Event]):
    """One worker's machine for the slots first_slot .. first_slot + slots - 1 of a job.

    A worker with several cores has one machine a core, each with its share of the slots.
    """

    def __init__(
        self,
        worker: int,
        slots: int,
        timeout: Timeout,
        *,
        guard: bool = True,
        job: int = 0,
        first_slot: int = 0,
        first_number: int = 0,
    ) -> None:
        super().__init__()
        self.worker = worker
        self.slots = slots
        self.guard = guard
        self.job = job
        self.first_slot = first_slot
        self.retransmissions = 0
        self.timeouts = 0
        self.stale = 0
        self.helps_answered = 0
        self.completed = 0
        self._timeout = timeout
        self._next_number = first_number
        self._next_slot = first_number % slots
        self._chunk = [IDLE] * slots
        self._numbers = [0] * slots
        self._sets = [self._set_of(slot, first_number) for slot in range(slots)]
        self._tries = [0] * slots
        self._deadlines = [NEVER] * slots
        self._kept_chunk = [IDLE] * slots
        self._kept_number = [0] * slots
        self._kept_tensor: list[_Tensor | None] = [None] * slots
        self._timer = list(NEW_TIMER)
        self._interval = timeout.interval(self._timer, 0, 0)
        self._tensor = _Tensor(0, None, slots, False)
        self._elements = 0

    def successor(self) -> "AggregationWorker":
        """Return a machine that knows where the job stands, as this one does, and nothing else.

        It goes on with the numbers and sets that this one would use for its next tensor.
        """
        machine = AggregationWorker(
            self.worker,
            self.slots,
            self._timeout,
            guard=self.guard,
            job=self.job,
            first_slot=self.first_slot,
        )
        machine._next_number = self._next_number
        machine._next_slot = self._next_slot
        machine._sets = self._sets.copy()
        return machine

    def _set_of(self, slot: int, first_number: int) -> int:
        """The set that a slot would use next after `first_number` chunks without a pause."""
        turns = first_number // self.slots + (slot < first_number % self.slots)
        return turns % 2

    @property
    def finished(self) -> bool:
        """Whether no chunk of the current tensor is left."""
        return self._tensor.left == 0

    @property
    def round_trip_ps(self) -> int:
        """The smoothed time between a packet and its answer; 0 before it was measured."""
        return self._timer[SMOOTHED]

    def all_reduce(
        self,
        elements: int,
        blocks: int,
        now: int,
        source: Blocks | None = None,
        exponent_round: bool = False,
    ) -> None:
        """Start the next tensor: send its first window. `source` is None for timing only."""
        if not self.finished:
            raise ValueError("the job's last tensor is not finished")
        self._elements = elements
        self._first_number = self._next_number
        self._first_slot_of_tensor = self._next_slot
        self._tensor = tensor = _Tensor(blocks, source, self.slots, exponent_round)
        self._next_number += tensor.chunks
        self._next_slot = (self._next_slot + blocks) % self.slots
        if tensor.chunks == 0:
            self._events.append(CollectiveDone(elements))
        for chunk in range(tensor.window):
            self._send((self._first_slot_of_tensor + chunk) % self.slots, chunk, now)

    def _send(self, slot: int, chunk: int, now: int) -> None:
        number = (self._first_number + chunk) & NUMBER_MASK
        worker_send(
            self._chunk, self._numbers, self._tries, self._timer, 0, slot, chunk, number, now
        )
        deadline = self._deadlines[slot] = now + self._interval
        if deadline < self._earliest:
            self._earliest = deadline
        self._contribute(slot, chunk, number, False)

    def _contribute(self, slot: int, chunk: int, number: int, asks_help: bool) -> None:
        tensor = self._tensor
        exponent, values = (0, None) if tensor.source is None else tensor.contribution(chunk)
        fields = (
            UPDATE,
            self.job,
            self.worker,
            self.first_slot + slot,
            self._sets[slot],
            number,
            asks_help,
            exponent,
            values,
        )
        packet = new_packet(AggregationPacket, fields)
        self._outbox.append((SWITCH, packet))

    def receive(self, packet: AggregationPacket, now: int) -> None:
        """Take a result or a call for help; whatever is not for this job is stale."""
        kind, job, _, slot, in_set, number, _, _, _ = packet
        slot -= self.first_slot
        if job != self.job or not 0 <= slot < self.slots or kind == UPDATE:
            self._drop(packet)
        elif kind == HELP:
            self._help(packet, slot)
        else:
            chunk = worker_result(
                self._chunk,
                self._numbers,
                self._sets,
                self._kept_chunk,
                self._kept_number,
                slot,
                in_set,
                number,
            )
            if chunk == IDLE:
                self._stale_result(packet, slot)
            else:
                self._take(packet, chunk, slot, now)

    def _drop(self, packet: AggregationPacket) -> None:
        self.stale += 1
        self._events.append(StaleDropped(packet.slot, packet.number))

    def _stale_result(self, packet: AggregationPacket, slot: int) -> None:
        self._drop(packet)
        if packet.number == self._kept_number[slot]:
            rto_answered_again(self._timer, 0, slot)
            self._interval = self._timeout.interval(self._timer, 0, 0)

    def _take(self, packet: AggregationPacket, chunk: int, slot: int, now: int) -> None:
        """Keep a sum, and send what the slot carries next."""
        if self._timer[TIMED] == slot:
            self._measure(slot, now)
        tensor = self._tensor
        self._kept_tensor[slot] = tensor
        if tensor.source is not None:
            tensor.take(chunk, packet, tensor.source)
        tensor.left -= 1
        self.completed += 1
        if chunk + tensor.window < tensor.chunks:
            self._send(slot, chunk + tensor.window, now)
        else:
            self._deadlines[slot] = NEVER
            if tensor.left == 0:
                self._events.append(CollectiveDone(self._elements))

    def _measure(self, slot: int, now: int) -> None:
        """Take the answer to the packet whose round trip is measured."""
        timer = self._timer
        first = timer[SMOOTHED] == 0
        if not rto_answered(timer, 0, slot, now):
            return
        self._interval = self._timeout.interval(timer, 0, 0)
        if first and self._timeout.adaptive:
            self._deadlines[slot] = NEVER
            latest = now + self._interval
            self._earliest = rto_first_sample(
                self._tries, self._deadlines, 0, self.slots - 1, latest, NEVER
            )

    def _help(self, packet: AggregationPacket, slot: int) -> None:
        chunk = worker_helps(
            self._kept_chunk, self._kept_number, self._sets, slot, packet.set, packet.number
        )
        tensor = self._kept_tensor[slot]
        if chunk == IDLE or tensor is None:
            return
        self.helps_answered += 1
        exponent, values = tensor.contribution(chunk)
        again = packet._replace(kind=UPDATE, worker=self.worker, exponent=exponent, values=values)
        self._outbox.append((SWITCH, again))
        self._events.append(HelpGiven(packet.slot, packet.number))

    def handle_timeout(self, now: int) -> None:
        """Send again, in order of slot, every packet whose answer is overdue."""
        self._earliest = NEVER
        for slot, deadline in enumerate(self._deadlines):
            if deadline <= now:
                self._repeat(slot, now)
            elif deadline < self._earliest:
                self._earliest = deadline

    def _repeat(self, slot: int, now: int) -> None:
        tries = worker_timeout(self._tries, self._timer, 0, slot)
        self.timeouts += 1
        self.retransmissions += 1
        self._interval = self._timeout.interval(self._timer, 0, 0)
        deadline = self._deadlines[slot] = now + self._timeout.interval(self._timer, 0, tries)
        self._earliest = min(self._earliest, deadline)
        number = self._numbers[slot]
        asks_help = self.guard and tries >= TRIES_BEFORE_HELP
        self._contribute(slot, self._chunk[slot], number, asks_help)
        self._events.append(Retransmitted(self.first_slot + slot, number, tries))

    def waiting(self) -> list[tuple[int, int, int, int]]:
        """What is outstanding: (slot, set, number, timeouts so far), in order of slot."""
        return [
            (self.first_slot + slot, self._sets[slot], self._numbers[slot], self._tries[slot])
            for slot in range(self.slots)
            if self._chunk[slot] != IDLE
        ]
