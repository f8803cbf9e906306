"""How far a schedule has come: which messages may be sent, and which that came may be applied.

It knows nothing of time, packets or values. Its owner says when a rank wakes up and when a
message has come in whole, and is told, through two functions, which message to begin to send
(whose blocks are complete) and which to apply, in an order that depends on nothing else.
"""

from collections.abc import Callable

from innet.collectives.dependencies import dependencies
from innet.collectives.schedule import Schedule

_NO_STEP = 1 << 62


class Progress:
    """`send(message)` and `apply(message)` are called with indices into schedule.messages."""

    def __init__(
        self, schedule: Schedule, send: Callable[[int], None], apply: Callable[[int], None]
    ) -> None:
        self._schedule, self._send, self._apply = schedule, send, apply
        self._waits = dependencies(schedule)
        messages = len(schedule.messages)
        self._sent = [False] * messages
        self._came = [False] * messages
        self._applied = [False] * messages
        self._send_users, self._apply_users = self._users()
        self._awake = [False] * schedule.ranks
        self._left = [
            len(sends) + len(receipts)
            for sends, receipts in zip(self._waits.sends, self._waits.receipts, strict=True)
        ]
        self._first_receipt = [0] * schedule.ranks
        self._step = [self._step_of(rank) for rank in range(schedule.ranks)]
        self.applied = 0

    def _users(self) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
        """For every message, the sends and the receipts that wait for it."""
        sends: dict[int, list[int]] = {}
        receipts: dict[int, list[int]] = {}
        for message, waits in enumerate(self._waits.send_waits):
            for earlier in waits:
                sends.setdefault(earlier, []).append(message)
        for message, waits in enumerate(self._waits.apply_waits):
            for earlier in (*waits, *self._waits.apply_after_sends[message]):
                receipts.setdefault(earlier, []).append(message)
        return sends, receipts

    def wake(self, rank: int) -> None:
        """A rank begins: it sends what needs nothing, and applies what has come before."""
        self._awake[rank] = True
        for message in self._waits.sends[rank]:
            self._try_send(message)
        for message in self._waits.receipts[rank]:
            self._try_apply(message)

    def sleep(self, rank: int) -> None:
        """A rank does nothing from now on until it is woken again."""
        self._awake[rank] = False

    def arrive(self, message: int) -> None:
        """A message is whole at its target."""
        self._came[message] = True
        self._try_apply(message)

    def done(self, rank: int) -> bool:
        """Whether the rank is awake and has nothing more to send or to apply."""
        return self._awake[rank] and self._left[rank] == 0

    def next_receipt(self, rank: int) -> int | None:
        """The first message that the rank has not applied, None if it has all."""
        missing = (message for message in self._waits.receipts[rank] if not self._applied[message])
        return next(missing, None)

    def _try_send(self, message: int) -> None:
        move = self._schedule.messages[message]
        if self._sent[message] or not self._awake[move.source]:
            return
        if not all(self._applied[earlier] for earlier in self._waits.send_waits[message]):
            return
        if self._schedule.sending == "rendezvous" and move.step > self._step[move.target]:
            return
        self._sent[message] = True
        self._left[move.source] -= 1
        self._send(message)
        for receipt in self._apply_users.get(message, ()):
            self._try_apply(receipt)

    def _try_apply(self, message: int) -> None:
        target = self._schedule.messages[message].target
        if not self._came[message] or self._applied[message] or not self._awake[target]:
            return
        if not all(self._applied[earlier] for earlier in self._waits.apply_waits[message]):
            return
        if not all(self._sent[earlier] for earlier in self._waits.apply_after_sends[message]):
            return
        self._applied[message] = True
        self.applied += 1
        self._left[target] -= 1
        self._apply(message)
        for later in self._send_users.get(message, ()):
            self._try_send(later)
        for later in self._apply_users.get(message, ()):
            self._try_apply(later)
        if self._schedule.sending == "rendezvous":
            self._become_ready(target)

    def _step_of(self, rank: int) -> int:
        """The step of the first message that the rank has not applied."""
        receipts, place = self._waits.receipts[rank], self._first_receipt[rank]
        while place < len(receipts) and self._applied[receipts[place]]:
            place += 1
        self._first_receipt[rank] = place
        return self._schedule.messages[receipts[place]].step if place < len(receipts) else _NO_STEP

    def _become_ready(self, rank: int) -> None:
        """Let those messages be sent to a rank whose step it has reached."""
        step = self._step_of(rank)
        if step == self._step[rank]:
            return
        self._step[rank] = step
        for message in self._waits.receipts[rank][self._first_receipt[rank] :]:
            if self._schedule.messages[message].step > step:
                break
            self._try_send(message)
