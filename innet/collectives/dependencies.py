"""What each message of a schedule must wait for, in the form an event-driven engine wants.

It follows from the order that `schedule.py` defines: at a rank and block, sends of a step,
then its receipts by source. Only nearest predecessors are kept, so the size is linear in the
number of blocks that messages move.
"""

from dataclasses import dataclass
from itertools import groupby

from innet.collectives.schedule import Message, Schedule

Waits = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Dependencies:
    """Indices into `schedule.messages`, ascending, for every message and every rank.

    Message m may start, which takes a copy of its blocks, once the messages `send_waits[m]`
    are applied at its source. Once it has come in whole, it may be applied at its target when
    the messages `apply_waits[m]` are applied there and the messages `apply_after_sends[m]`,
    which the target sends, have started. `sends[r]` and `receipts[r]` are a rank's messages.
    """

    send_waits: tuple[Waits, ...]
    apply_waits: tuple[Waits, ...]
    apply_after_sends: tuple[Waits, ...]
    sends: tuple[Waits, ...]
    receipts: tuple[Waits, ...]


def dependencies(schedule: Schedule) -> Dependencies:
    """Return what the messages of a well-formed schedule wait for."""
    walk = _Walk(schedule)
    numbered = enumerate(schedule.messages)
    for _, group in groupby(numbered, key=lambda pair: pair[1].step):
        step = tuple(group)
        for index, message in step:
            walk.send(index, message)
        for index, message in step:
            walk.receive(index, message)
    return walk.result()


class _Walk:
    """The last receipt of every block at every rank, and the sends since, in schedule order."""

    def __init__(self, schedule: Schedule) -> None:
        self._blocks = schedule.blocks
        self._applied: dict[int, int] = {}
        self._sent: dict[int, list[int]] = {}
        self._send_waits: list[Waits] = []
        self._apply_waits: list[Waits] = []
        self._apply_after_sends: list[Waits] = []
        self._sends: list[list[int]] = [[] for _ in range(schedule.ranks)]
        self._receipts: list[list[int]] = [[] for _ in range(schedule.ranks)]

    def send(self, index: int, message: Message) -> None:
        waits = set()
        for place in self._places(message, message.source):
            if place in self._applied:
                waits.add(self._applied[place])
            self._sent.setdefault(place, []).append(index)
        self._send_waits.append(_ascending(waits))
        self._sends[message.source].append(index)

    def receive(self, index: int, message: Message) -> None:
        receipts: set[int] = set()
        sends: set[int] = set()
        for place in self._places(message, message.target):
            since = self._sent.pop(place, None)
            if since is not None:
                # These sends wait for the last receipt themselves.
                sends.update(since)
            elif place in self._applied:
                receipts.add(self._applied[place])
            self._applied[place] = index
        self._apply_waits.append(_ascending(receipts))
        self._apply_after_sends.append(_ascending(sends))
        self._receipts[message.target].append(index)

    def result(self) -> Dependencies:
        return Dependencies(
            tuple(self._send_waits),
            tuple(self._apply_waits),
            tuple(self._apply_after_sends),
            tuple(tuple(indices) for indices in self._sends),
            tuple(tuple(indices) for indices in self._receipts),
        )

    def _places(self, message: Message, rank: int) -> range:
        first = rank * self._blocks + message.first
        return range(first, first + message.count)


def _ascending(indices: set[int]) -> Waits:
    return tuple(indices) if len(indices) < 2 else tuple(sorted(indices))
