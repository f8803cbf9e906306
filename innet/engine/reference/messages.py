"""Hosts that run a schedule of messages over reliable streams."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from innet.collectives.progress import Progress
from innet.collectives.schedule import block_bounds
from innet.engine.ledger import Ledger
from innet.engine.reference.hardware import Hardware, Path
from innet.engine.reference.program import Vector, unfinished
from innet.engine.reference.rank import Rank
from innet.plan.operation import Operation
from innet.protocol.stream import MessageArrived
from innet.trace.records import RankRecord
from innet.wire.dtypes import ITEMSIZE, add


class MessageProgram:
    """One point-to-point collective. A message is handed over as soon as what it carries is
    complete; how it then leaves is a property of the schedule. The source of a single message
    is done when it has been sent, all others when they have what they receive.
    """

    def __init__(
        self,
        hardware: Hardware,
        ledger: Ledger,
        number: int,
        operation: Operation,
        tensors: Sequence[Vector] | None,
    ) -> None:
        schedule = operation.schedule
        if schedule is None or operation.stream is None:
            raise ValueError("an operation needs an aggregation, or a stream and a schedule")
        if schedule.ranks != len(operation.group):
            raise ValueError(
                f"a schedule of {schedule.ranks} ranks for a group of {len(operation.group)}"
            )
        self._hardware, self._ledger, self._number = hardware, ledger, number
        self._schedule, self._dtype = schedule, operation.dtype
        self._bounds = block_bounds(operation.elements, schedule.blocks)
        self._packets = sum(
            -(-self._bytes_of(message) // operation.stream.payload_bytes)
            for message in range(len(schedule.messages))
        )
        self._progress = Progress(schedule, self._send, self._apply)
        self._values: dict[int, Any] = {}
        self._vectors = self._copies(tensors)
        self._until_sent = operation.kind == "send"
        self._now = 0
        self._handed_over: set[int] = set()
        self._broken: set[int] = set()
        self._ranks = [
            Rank(
                hardware,
                operation,
                place,
                self._arrived,
                self._sent_by(place) if self._until_sent else None,
                self._paths_from(place),
            )
            for place in range(schedule.ranks)
        ]

    def _copies(self, tensors: Sequence[Vector] | None) -> list[Vector] | None:
        if tensors is None:
            return None
        helpers = self._schedule.ranks - self._schedule.workers
        return [vector.copy() for vector in tensors] + [
            np.zeros_like(tensors[0]) for _ in range(helpers)
        ]

    def _paths_from(self, source: int) -> Callable[[int], Path]:
        def path_to(target: int) -> Path:
            end = self._ranks[target]
            return self._hardware.path(self._ranks[source].host.node, end.host.node, end.arrive)

        return path_to

    def _sent_by(self, place: int) -> Callable[[int], None]:
        return lambda now: self._note_finish(place, now)

    def start(self, operation: int, place: int, now: int) -> None:
        """Send what needs nothing first, and apply what has come before the start."""
        if place in self._broken:
            rank = self._ranks[place].number
            why = f"rank {rank} restarted and lost its streams to the others"
            raise unfinished(why, now, self.waiting())
        self._now = now
        self._progress.wake(place)
        self._go_on(place, now)

    def _arrived(self, event: MessageArrived, now: int) -> None:
        """A message is whole; its target flushes its own packets afterwards."""
        self._now = now
        self._values[event.message] = event.values
        self._progress.arrive(event.message)
        self._go_on(self._schedule.messages[event.message].target, now)

    def _go_on(self, place: int, now: int) -> None:
        """Send the packets of messages just handed over, and note whether the rank is done."""
        while self._handed_over:
            source = min(self._handed_over)
            self._handed_over.discard(source)
            self._ranks[source].flush(now)
            self._note_finish(source, now)
        self._note_finish(place, now)

    def _note_finish(self, place: int, now: int) -> None:
        if (self._number, place) in self._ledger.finish or not self._progress.done(place):
            return
        if not (self._until_sent and self._ranks[place].endpoint.window_full):
            self._ledger.complete(self._number, place, now)

    def _part(self, message: int) -> slice:
        move = self._schedule.messages[message]
        return slice(self._bounds[move.first], self._bounds[move.first + move.count])

    def _bytes_of(self, message: int) -> int:
        part = self._part(message)
        count: int = part.stop - part.start
        return count * ITEMSIZE[self._dtype]

    def _send(self, message: int) -> None:
        move, part = self._schedule.messages[message], self._part(message)
        values = None
        if self._vectors is not None:
            values = self._vectors[move.source][part].copy().view(np.uint8)
        endpoint = self._ranks[move.source].endpoint
        endpoint.send_message(move.target, message, self._bytes_of(message), values, self._now)
        self._handed_over.add(move.source)

    def _apply(self, message: int) -> None:
        values = self._values.pop(message)
        if self._vectors is None or values is None:
            return
        move = self._schedule.messages[message]
        mine = self._vectors[move.target][self._part(message)]
        theirs = values.view(mine.dtype)
        mine[:] = add(mine, theirs, self._dtype) if move.reduce else theirs

    def lose_state(self, node: int, now: int) -> None:
        """Forget ranks' streams; their other ends cannot know, so they cannot go on later."""
        if all((self._number, place) in self._ledger.finish for place in range(len(self._ranks))):
            return
        for place, rank in enumerate(self._ranks):
            if rank.host.node == node:
                self._progress.sleep(place)
                if rank.sent or rank.received:
                    self._broken.add(place)

    def progress_made(self) -> int:
        """The packets that have come through, each counted once at either end."""
        return sum(rank.endpoint.progress for rank in self._ranks)

    def fraction_done(self) -> float:
        """The share of the messages' packets that have come through."""
        return self.progress_made() / max(1, 2 * self._packets)

    def waiting(self) -> list[str]:
        """Who waits for which message."""
        firsts = [self._progress.next_receipt(place) for place in range(len(self._ranks))]
        return [self._waits_for(message) for message in firsts if message is not None]

    def _waits_for(self, message: int) -> str:
        move = self._schedule.messages[message]
        return (
            f"rank {self._ranks[move.target].number} waits for the message of step {move.step} "
            f"(block {move.first}) from rank {self._ranks[move.source].number}"
        )

    def record(self, place: int, finish_ps: int) -> RankRecord:
        """What a rank counted."""
        return self._ranks[place].record(finish_ps)

    def results(self, operation: int) -> tuple[Vector, ...] | None:
        """Every worker's vector, None when timing only."""
        return None if self._vectors is None else tuple(self._vectors[: self._schedule.workers])
