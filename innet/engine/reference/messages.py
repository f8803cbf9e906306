"""Hosts that run a schedule of messages over reliable streams, and a switch that forwards."""

from typing import Any

import numpy as np
import numpy.typing as npt

from innet.collectives.progress import Progress
from innet.collectives.schedule import block_bounds
from innet.engine.reference.link import Deliver
from innet.engine.reference.rank import Rank, endpoint_of
from innet.engine.reference.run import Run
from innet.plan.plan import Plan
from innet.protocol.stream import MessageArrived, StreamPacket
from innet.trace.records import RankRecord
from innet.wire.dtypes import ITEMSIZE, narrow, widen

Vector = npt.NDArray[Any]


class MessageRun(Run):
    """One point-to-point collective. A message is handed over as soon as what it carries is
    complete; how it then leaves is a property of the schedule.
    """

    def __init__(self, plan: Plan, tensors: list[Vector] | None) -> None:
        super().__init__(plan)
        assert plan.stream is not None
        assert plan.schedule is not None
        self._schedule = plan.schedule
        self._bounds = block_bounds(plan.elements, plan.schedule.blocks)
        self._progress = Progress(plan.schedule, self._send, self._apply)
        self._values: dict[int, Any] = {}
        self._vectors = self._copies(tensors)
        self._now = 0
        self._handed_over: set[int] = set()
        self._broken: set[int] = set()
        self._ranks = [
            Rank(
                self,
                plan.stream,
                endpoint_of(plan, plan.stream, rank, plan.schedule.in_turn),
                self._arrived,
            )
            for rank in range(plan.schedule.ranks)
        ]
        self.links = self.build_links()

    def _copies(self, tensors: list[Vector] | None) -> list[Vector] | None:
        if tensors is None:
            return None
        helpers = self._schedule.ranks - self._schedule.workers
        return [vector.copy() for vector in tensors] + [
            np.zeros_like(tensors[0]) for _ in range(helpers)
        ]

    def start(self, rank: int, now: int) -> None:
        """Send what needs nothing first, and apply what has come before the start."""
        if rank in self._broken:
            self.give_up(f"rank {rank} restarted and lost its streams to the others", now)
        self._now = now
        self._progress.wake(rank)
        self._go_on(rank, now)

    def _arrived(self, event: MessageArrived, now: int) -> None:
        """A message is whole; its target flushes its own packets afterwards."""
        self._now = now
        self._values[event.message] = event.values
        self._progress.arrive(event.message)
        self._go_on(self._schedule.messages[event.message].target, now)

    def _go_on(self, rank: int, now: int) -> None:
        """Send the packets of messages just handed over, and note whether the rank is done."""
        while self._handed_over:
            source = min(self._handed_over)
            self._handed_over.discard(source)
            self._ranks[source].flush(now)
            self._note_finish(source, now)
        self._note_finish(rank, now)

    def _note_finish(self, rank: int, now: int) -> None:
        if self.finish[rank] < 0 and self._progress.done(rank):
            self.finish[rank] = now

    def _part(self, message: int) -> slice:
        move = self._schedule.messages[message]
        return slice(self._bounds[move.first], self._bounds[move.first + move.count])

    def _send(self, message: int) -> None:
        move, part = self._schedule.messages[message], self._part(message)
        values = None
        if self._vectors is not None:
            values = self._vectors[move.source][part].copy().view(np.uint8)
        size = (part.stop - part.start) * ITEMSIZE[self.plan.dtype]
        endpoint = self._ranks[move.source].endpoint
        endpoint.send_message(move.target, message, size, values, self._now)
        self._handed_over.add(move.source)

    def _apply(self, message: int) -> None:
        values = self._values.pop(message)
        if self._vectors is None or values is None:
            return
        move = self._schedule.messages[message]
        mine = self._vectors[move.target][self._part(message)]
        theirs = values.view(mine.dtype)
        mine[:] = _added(mine, theirs, self.plan.dtype) if move.reduce else theirs

    def receiver(self, node: int) -> Deliver:
        """A switch that forwards, or a rank's streams."""
        rank = self.rank_of_node.get(node)
        return self._forwarder(node) if rank is None else self._ranks[rank].arrive

    def _forwarder(self, node: int) -> Deliver:
        latency_ps = self.plan.graph.nodes[node].latency_ps
        routes = self.plan.routes.forwarding(node)

        def forward(packet: StreamPacket, medium_bytes: int, now: int) -> None:
            link = self.links[routes[packet.source, packet.destination, 0]]
            link.send(packet, medium_bytes, now + latency_ps)

        return forward

    def lose_state(self, node: int, now: int) -> None:
        """Forget a rank's streams; their other ends cannot know, so it cannot go on later."""
        number = self.rank_of_node.get(node)
        if number is None or all(time >= 0 for time in self.finish):
            return
        rank = self._ranks[number]
        self._progress.sleep(number)
        if rank.sent or rank.received:
            self._broken.add(number)
        rank.reset(now)

    def progress_made(self) -> int:
        """The packets that have come through, each counted once at either end."""
        return sum(rank.endpoint.progress for rank in self._ranks)

    def fraction_done(self) -> float:
        """The share of the messages that have been applied."""
        return self._progress.applied / max(1, len(self._schedule.messages))

    def waiting(self) -> list[str]:
        """Who waits for which message."""
        firsts = [(rank.number, self._progress.next_receipt(rank.number)) for rank in self._ranks]
        return [self._waits_for(rank, message) for rank, message in firsts if message is not None]

    def _waits_for(self, rank: int, message: int) -> str:
        move = self._schedule.messages[message]
        return (
            f"rank {rank} waits for the message of step {move.step} "
            f"(block {move.first}) from rank {move.source}"
        )

    def ranks(self) -> tuple[RankRecord, ...]:
        """What every rank counted."""
        return tuple(rank.record(self.finish[rank.number]) for rank in self._ranks)

    def results(self) -> tuple[Vector, ...] | None:
        """Every worker's vector, None when timing only."""
        return None if self._vectors is None else tuple(self._vectors[: self._schedule.workers])


def _added(mine: Vector, theirs: Vector, dtype: Any) -> Vector:  # noqa: ANN401
    if dtype in ("int32", "float32"):
        return mine + theirs
    return narrow(widen(mine, dtype) + widen(theirs, dtype), dtype)
