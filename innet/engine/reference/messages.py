"""Hosts that run a schedule of messages over reliable streams, and a switch that forwards."""

from typing import Any

import numpy as np
import numpy.typing as npt

from innet.collectives.dependencies import dependencies
from innet.collectives.schedule import block_bounds
from innet.engine.reference.run import Run, Timer
from innet.plan.plan import Plan
from innet.protocol.machine import Timeout
from innet.protocol.stream import DATA, StreamEndpoint, StreamPacket
from innet.trace.records import RankRecord
from innet.wire.dtypes import ITEMSIZE, narrow, widen

Vector = npt.NDArray[Any]


class MessageRun(Run):
    """One point-to-point collective. A message leaves as soon as what it carries is complete."""

    def __init__(self, plan: Plan, tensors: list[Vector] | None) -> None:
        super().__init__(plan)
        assert plan.stream is not None
        assert plan.schedule is not None
        self._stream, self._schedule = plan.stream, plan.schedule
        rto = plan.rto
        timeout = Timeout(rto.adaptive, rto.initial_ps, rto.minimum_ps, rto.maximum_ps)
        self._endpoints = [
            StreamEndpoint(
                rank,
                plan.stream.payload_bytes,
                plan.stream.window,
                plan.stream.recovery == "go_back_n",
                timeout,
            )
            for rank in range(plan.schedule.ranks)
        ]
        self._timers = [
            Timer(self, host.node, 0, self._handler(rank)) for rank, host in enumerate(plan.hosts)
        ]
        self._bounds = block_bounds(plan.elements, plan.schedule.blocks)
        self._waits = dependencies(plan.schedule)
        messages = range(len(plan.schedule.messages))
        self._started = [False] * len(messages)
        self._applied = [False] * len(messages)
        self._arrived: dict[int, Any] = {}
        self._awake = [False] * plan.schedule.ranks
        self._send_users, self._apply_users = self._users()
        self._to_apply = [len(receipts) for receipts in self._waits.receipts]
        self._to_send = [len(sends) for sends in self._waits.sends]
        self._vectors = self._copies(tensors)
        self._sent = [0] * plan.schedule.ranks
        self._received = [0] * plan.schedule.ranks
        self.finish = [-1] * plan.schedule.ranks

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

    def _copies(self, tensors: list[Vector] | None) -> list[Vector] | None:
        if tensors is None:
            return None
        helpers = self._schedule.ranks - self._schedule.workers
        return [vector.copy() for vector in tensors] + [
            np.zeros_like(tensors[0]) for _ in range(helpers)
        ]

    def _handler(self, rank: int):  # type: ignore[no-untyped-def] # noqa: ANN202
        def due(now: int) -> None:
            self._endpoints[rank].handle_timeout(now)
            self._flush(rank, now)

        return due

    def start(self, rank: int, now: int) -> None:
        """Send what needs nothing first, and apply what has come before the start."""
        self._awake[rank] = True
        for message in self._waits.sends[rank]:
            self._try_send(message, now)
        for message in self._waits.receipts[rank]:
            self._try_apply(message, now)
        self._flush(rank, now)

    def _part(self, message: int) -> slice:
        move = self._schedule.messages[message]
        return slice(self._bounds[move.first], self._bounds[move.first + move.count])

    def _try_send(self, message: int, now: int) -> None:
        move = self._schedule.messages[message]
        if self._started[message] or not self._awake[move.source]:
            return
        if not all(self._applied[earlier] for earlier in self._waits.send_waits[message]):
            return
        self._started[message] = True
        self._to_send[move.source] -= 1
        part = self._part(message)
        values = None
        if self._vectors is not None:
            values = self._vectors[move.source][part].copy().view(np.uint8)
        size = (part.stop - part.start) * ITEMSIZE[self.plan.dtype]
        self._endpoints[move.source].send_message(move.target, message, size, values, now)
        for receipt in self._apply_users.get(message, ()):
            self._try_apply(receipt, now)

    def _try_apply(self, message: int, now: int) -> None:
        move = self._schedule.messages[message]
        if message not in self._arrived or self._applied[message] or not self._awake[move.target]:
            return
        if not all(self._applied[earlier] for earlier in self._waits.apply_waits[message]):
            return
        if not all(self._started[earlier] for earlier in self._waits.apply_after_sends[message]):
            return
        self._applied[message] = True
        self._to_apply[move.target] -= 1
        self._combine(message, self._arrived.pop(message))
        for later in self._send_users.get(message, ()):
            self._try_send(later, now)
        for later in self._apply_users.get(message, ()):
            self._try_apply(later, now)

    def _combine(self, message: int, values: Any) -> None:  # noqa: ANN401
        if self._vectors is None or values is None:
            return
        move = self._schedule.messages[message]
        mine = self._vectors[move.target][self._part(message)]
        theirs = values.view(mine.dtype)
        mine[:] = _added(mine, theirs, self.plan.dtype) if move.reduce else theirs

    def _flush(self, rank: int, now: int) -> None:
        endpoint = self._endpoints[rank]
        while (event := endpoint.next_event()) is not None:
            self._arrived[event.message] = event.values
            self._try_apply(event.message, now)
        node = self.plan.hosts[rank].node
        for destination, packet in endpoint.packets_to_send():
            self._sent[rank] += 1
            self.links[self.plan.routes[node][destination]].send(packet, self._size(packet), now)
        left = self._to_apply[rank] + self._to_send[rank]
        if self._awake[rank] and self.finish[rank] < 0 and left == 0:
            self.finish[rank] = now
        self._timers[rank].arm(endpoint.next_deadline())

    def _size(self, packet: StreamPacket) -> int:
        if packet.kind == DATA:
            return packet.size_bytes + self._stream.overhead_bytes
        return self._stream.ack_bytes

    def deliver(self, node: int, packet: StreamPacket) -> None:
        """Forward at a switch; at a host, take the packet."""
        now = self.now
        rank = self.rank_of_node.get(node)
        if rank is None:
            leaves = now + self.plan.graph.nodes[node].latency_ps
            link = self.links[self.plan.routes[node][packet.destination]]
            link.send(packet, self._size(packet), leaves)
            return
        self._received[rank] += 1
        self.progress_made += 1
        self._endpoints[rank].receive(packet, now)
        self._flush(rank, now)

    def fraction_done(self) -> float:
        """The share of the messages that have been applied."""
        return sum(self._applied) / max(1, len(self._applied))

    def waiting(self) -> list[str]:
        """Who waits for which message."""
        lines = []
        for rank, receipts in enumerate(self._waits.receipts):
            for message in receipts:
                if not self._applied[message]:
                    move = self._schedule.messages[message]
                    lines.append(
                        f"rank {rank} waits for the message of step {move.step} "
                        f"(block {move.first}) from rank {move.source}"
                    )
                    break
        return lines

    def ranks(self) -> tuple[RankRecord, ...]:
        """What every rank counted."""
        return tuple(
            RankRecord(
                rank,
                self.plan.hosts[rank].start_ps,
                self.finish[rank],
                self._sent[rank],
                self._received[rank],
                endpoint.retransmissions,
                endpoint.timeouts,
                endpoint.stale,
                0,
                0,
                0,
            )
            for rank, endpoint in enumerate(self._endpoints)
        )

    def results(self) -> tuple[Vector, ...] | None:
        """Every worker's vector, None when timing only."""
        return None if self._vectors is None else tuple(self._vectors[: self._schedule.workers])


def _added(mine: Vector, theirs: Vector, dtype: Any) -> Vector:  # noqa: ANN401
    if dtype in ("int32", "float32"):
        return mine + theirs
    return narrow(widen(mine, dtype) + widen(theirs, dtype), dtype)
