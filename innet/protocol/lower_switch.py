"""A switch below the root of an aggregation tree, as a machine.

Its children are workers or switches; for its parent it is worker `place`. The root is a plain
AggregationSwitch. The driver tells packets of the children from those of the parent by their
kind: only children send updates, only the parent sends results and calls for help.
"""

from innet.protocol.endpoint import (
    RESULT,
    TO_ALL,
    TO_PARENT,
    UPDATE,
    AggregationPacket,
    StaleDropped,
)
from innet.protocol.level_transitions import (
    ANSWERED,
    SEND_UP_AGAIN,
    lower_help,
    lower_receive,
    lower_result,
)
from innet.protocol.switch import AggregationSwitch
from innet.protocol.transitions import CALL_HELP


class LowerSwitch(AggregationSwitch):
    """One job's share of a lower switch: `slots` slots of two sets, for `children` children.

    `completed` counts partial sums; `repeats_passed_up` those sent up once more, and
    `results_passed_down` the results that children got by multicast.
    """

    _transition = staticmethod(lower_receive)

    def __init__(
        self, children: int, slots: int, place: int, guard: bool = True, job: int = 0
    ) -> None:
        super().__init__(children, slots, guard, job)
        self.place = place
        self.repeats_passed_up = 0
        self.results_passed_down = 0

    def receive(self, packet: AggregationPacket, now: int) -> None:
        """Take an update of a child, or a result or call for help of the parent."""
        if packet.kind == UPDATE:
            super().receive(packet, now)
        elif packet.job != self.job or not 0 <= packet.slot < self.slots:
            self.foreign_dropped += 1
        elif packet.kind == RESULT:
            self._result(packet, packet.set * self.slots + packet.slot)
        else:
            self._help(packet, packet.set * self.slots + packet.slot)

    def _complete(self, packet: AggregationPacket, here: int) -> None:
        self._send_up(packet, here)

    def _send_up(self, packet: AggregationPacket, here: int) -> None:
        """Contribute the partial sum; it asks for help if the packet that leads to it does."""
        values = self._values[here]
        up = packet._replace(
            kind=UPDATE,
            worker=self.place,
            exponent=self._exponents[here],
            values=None if values is None else values.copy(),
        )
        self._outbox.append((TO_PARENT, up))

    def _repeated(self, packet: AggregationPacket, here: int, flags: int) -> None:
        if flags & SEND_UP_AGAIN:
            self.repeats_passed_up += 1
            self._send_up(packet._replace(asks_help=flags & CALL_HELP != 0), here)
        else:
            super()._repeated(packet, here, flags)

    def _result(self, packet: AggregationPacket, here: int) -> None:
        if not lower_result(
            self._count, self._numbers, self.workers, here, packet.number, self.guard
        ):
            self.stale_dropped += 1
            self._events.append(StaleDropped(packet.slot, packet.number))
            return
        values = packet.values
        self._exponents[here] = packet.exponent
        self._values[here] = None if values is None else values.copy()
        self.results_passed_down += 1
        self._answer(packet, here, TO_ALL)

    def _help(self, packet: AggregationPacket, here: int) -> None:
        flags = lower_help(
            self._bitmap,
            self._count,
            self._numbers,
            self.workers,
            self._words,
            here,
            packet.number,
        )
        self._repeated(packet, here, flags)

    def missing(self, slot: int, in_set: int, number: int) -> list[int]:
        """The children whose contribution under `number` to this set is not there."""
        here = in_set * self.slots + slot
        if self._count[here] == self.workers + ANSWERED and self._numbers[here] == number:
            return []
        return super().missing(slot, in_set, number)
