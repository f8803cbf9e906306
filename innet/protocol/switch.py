"""The aggregating switch as a machine: registers, the transition function, packets out.

It is the simulator's switch, the soft switch, and what the P4 program is compared with. It
must not know about links, ports or time. Who sent a packet is the driver's business: on a
real network a table from port and address fills `AggregationPacket.worker`.
"""

from collections.abc import Callable

import numpy as np

from innet.protocol.endpoint import (
    HELP,
    RESULT,
    TO_ALL,
    UPDATE,
    AggregationPacket,
    Event,
    StaleDropped,
    Values,
)
from innet.protocol.machine import Machine, new_packet
from innet.protocol.transitions import (
    ADD,
    CALL_HELP,
    COMPLETE,
    REPEAT,
    STORE,
    UNICAST,
    switch_receive,
    words_per_set,
)


class AggregationSwitch(Machine[AggregationPacket, Event]):
    """One job's share of a switch: `slots` slots of two sets, for `workers` workers.

    With `guard`, sets are told apart by sequence number and calls for help are passed on;
    without, it is the published switch. Sums wrap modulo 2**32.
    """

    _transition: Callable[..., int] = staticmethod(switch_receive)

    def __init__(self, workers: int, slots: int, guard: bool = True, job: int = 0) -> None:
        super().__init__()
        self.workers = workers
        self.slots = slots
        self.guard = guard
        self.job = job
        self.completed = 0
        self.unicasts = 0
        self.repeats_dropped = 0
        self.stale_dropped = 0
        self.helps_sent = 0
        self.foreign_dropped = 0
        self._words = words_per_set(workers)
        self.wipe()

    def wipe(self) -> None:
        """Lose all registers, as a restart does; the job's table entries stay."""
        sets = 2 * self.slots
        self._bitmap = [0] * (sets * self._words)
        self._count = [0] * sets
        self._numbers = [0] * sets
        self._asked = [0] * (sets * self._words)
        self._values: list[Values | None] = [None] * sets
        self._exponents = [0] * sets

    def receive(self, packet: AggregationPacket, now: int) -> None:
        """Take an update. Anything that is not this job's, or out of range, is dropped."""
        kind, job, worker, slot, in_set, number, asks_help, exponent, values = packet
        if kind != UPDATE or job != self.job or not 0 <= slot < self.slots:
            self.foreign_dropped += 1
            return
        here = in_set * self.slots + slot
        other = (1 - in_set) * self.slots + slot
        flags = self._transition(
            self._bitmap,
            self._count,
            self._numbers,
            self._asked,
            self.workers,
            self._words,
            here,
            other,
            worker,
            number,
            self.guard,
            asks_help,
        )
        if flags & STORE:
            self._exponents[here] = exponent
            self._values[here] = None if values is None else values.copy()
        elif flags & ADD:
            if exponent > self._exponents[here]:
                self._exponents[here] = exponent
            total = self._values[here]
            if total is not None and values is not None:
                np.add(total, values, out=total)
        else:
            self._repeated(packet, here, flags)
        if flags & COMPLETE:
            self.completed += 1
            self._complete(packet, here)

    def _complete(self, packet: AggregationPacket, here: int) -> None:
        self._answer(packet, here, TO_ALL)

    def _answer(self, packet: AggregationPacket, here: int, destination: int) -> None:
        values = self._values[here]
        fields = (
            RESULT,
            packet.job,
            packet.worker,
            packet.slot,
            packet.set,
            packet.number,
            False,
            self._exponents[here],
            None if values is None else values.copy(),
        )
        result = new_packet(AggregationPacket, fields)
        self._outbox.append((destination, result))

    def _repeated(self, packet: AggregationPacket, here: int, flags: int) -> None:
        if flags & UNICAST:
            self.unicasts += 1
            self._answer(packet, here, packet.worker)
        elif flags & CALL_HELP:
            self.helps_sent += 1
            call = packet._replace(kind=HELP, asks_help=False, exponent=0, values=None)
            self._outbox.append((TO_ALL, call))
        elif flags & REPEAT:
            self.repeats_dropped += 1
        else:  # stale
            self.stale_dropped += 1
            self._events.append(StaleDropped(packet.slot, packet.number))

    def handle_timeout(self, now: int) -> None:
        """Do nothing: a switch has no timers."""

    def missing(self, slot: int, in_set: int, number: int) -> list[int]:
        """The workers whose contribution under `number` to this set is not there."""
        here = in_set * self.slots + slot
        if self._count[here] == 0 or self._numbers[here] != number:
            return list(range(self.workers))
        return [
            worker
            for worker in range(self.workers)
            if not self._bitmap[here * self._words + worker // 32] >> worker % 32 & 1
        ]
