"""Hosts that run a schedule of messages over reliable streams, and a switch that forwards."""

from typing import Any

import numpy as np
import numpy.typing as npt

from innet.collectives.dependencies import dependencies
from innet.collectives.schedule import block_bounds
from innet.engine.reference.clock import Action, Timer
from innet.engine.reference.link import Deliver, LinkDirection
from innet.engine.reference.run import Run
from innet.plan.plan import Plan
from innet.protocol.machine import NEVER, Timeout
from innet.protocol.stream import DATA, StreamEndpoint, StreamPacket
from innet.trace.records import RankRecord
from innet.wire.dtypes import ITEMSIZE, narrow, widen

Vector = npt.NDArray[Any]


class MessageRun(Run):
    """One point-to-point collective. A message is handed over as soon as what it carries is
    complete; a rank's messages leave one after another.

    Packets to and from rank p are the work of core p modulo the host's cores.
    """

    def __init__(self, plan: Plan, tensors: list[Vector] | None) -> None:
        super().__init__(plan)
        assert plan.stream is not None
        assert plan.schedule is not None
        self._stream, self._schedule = plan.stream, plan.schedule
        ranks = range(plan.schedule.ranks)
        self._endpoints = [self._endpoint(rank) for rank in ranks]
        self._timers = [
            Timer(self.env, host.node, 0, self._handler(rank, host.node))
            for rank, host in enumerate(plan.hosts)
        ]
        self._bounds = block_bounds(plan.elements, plan.schedule.blocks)
        self._waits = dependencies(plan.schedule)
        messages = len(plan.schedule.messages)
        self._started = [False] * messages
        self._applied = [False] * messages
        self._arrived: dict[int, Any] = {}
        self._awake = [False for _ in ranks]
        self._send_users, self._apply_users = self._users()
        self._to_apply = [len(receipts) for receipts in self._waits.receipts]
        self._to_send = [len(sends) for sends in self._waits.sends]
        self._vectors = self._copies(tensors)
        self._sent = [0 for _ in ranks]
        self._received = [0 for _ in ranks]
        self._full_since = [NEVER for _ in ranks]
        self._stalled_ps = [0 for _ in ranks]
        self._broken: set[int] = set()
        self._cores = [self.cores_of(rank) for rank in ranks]
        self.links = self.build_links()

    def _endpoint(self, rank: int) -> StreamEndpoint:
        stream, rto = self._stream, self.plan.rto
        return StreamEndpoint(
            rank,
            stream.payload_bytes,
            stream.window,
            stream.recovery == "go_back_n",
            Timeout(rto.adaptive, rto.initial_ps, rto.minimum_ps, rto.maximum_ps),
        )

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

    def _handler(self, rank: int, node: int) -> Action:
        gate = self.gate(node)

        def due(now: int) -> None:
            self._endpoints[rank].handle_timeout(now)
            self._flush(rank, now)

        return lambda now: gate(due, now)

    def start(self, rank: int, now: int) -> None:
        """Send what needs nothing first, and apply what has come before the start."""
        if rank in self._broken:
            self.give_up(f"rank {rank} restarted and lost its streams to the others", now)
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
        routes = self.plan.routes[self.plan.hosts[rank].node]
        for destination, packet in endpoint.packets_to_send():
            self._sent[rank] += 1
            self._send(rank, self.links[routes[destination]], packet, now)
        if endpoint.window_full:
            self._full_since[rank] = min(self._full_since[rank], now)
        left = self._to_apply[rank] + self._to_send[rank]
        if self._awake[rank] and self.finish[rank] < 0 and left == 0:
            self.finish[rank] = now
        deadline = endpoint.next_deadline()
        if deadline is not None:
            self._timers[rank].arm(deadline)

    def _send(self, rank: int, link: LinkDirection, packet: StreamPacket, now: int) -> None:
        size = self._stream.ack_bytes
        if packet.kind == DATA:
            size = packet.size_bytes + self._stream.overhead_bytes
            idle_since = max(link.free_at, self._full_since[rank])
            self._stalled_ps[rank] += max(0, now - idle_since)
            self._full_since[rank] = NEVER
        cores = self._cores[rank]
        if cores is None:
            link.send(packet, size, now)
        else:
            cores[packet.destination % len(cores)].send(link, packet, size, now)

    def receiver(self, node: int) -> Deliver:
        """A switch that forwards, or a rank's streams."""
        rank = self.rank_of_node.get(node)
        return self._forwarder(node) if rank is None else self._taker(rank)

    def _forwarder(self, node: int) -> Deliver:
        latency_ps = self.plan.graph.nodes[node].latency_ps
        routes = self.plan.routes[node]

        def forward(packet: StreamPacket, medium_bytes: int, now: int) -> None:
            self.links[routes[packet.destination]].send(packet, medium_bytes, now + latency_ps)

        return forward

    def _taker(self, rank: int) -> Deliver:
        cores = self._cores[rank]

        def take(packet: StreamPacket, now: int) -> None:
            self._received[rank] += 1
            self._endpoints[rank].receive(packet, now)
            self._flush(rank, now)

        def receive(packet: StreamPacket, _: int, now: int) -> None:
            if cores is None:
                take(packet, now)
            else:
                cores[packet.source % len(cores)].receive(packet, now, take)

        return receive

    def lose_state(self, node: int, now: int) -> None:
        """Forget a rank's streams; their other ends cannot know, so it cannot go on later."""
        rank = self.rank_of_node.get(node)
        if rank is None or all(time >= 0 for time in self.finish):
            return
        self._awake[rank] = False
        if self._sent[rank] or self._received[rank]:
            self._broken.add(rank)
        for core in self._cores[rank] or ():
            core.reset(now)

    def progress_made(self) -> int:
        """The packets that ranks have received."""
        return sum(self._received)

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
                self._stalled_ps[rank],
                sum(core.busy_ps for core in self._cores[rank] or ()),
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
