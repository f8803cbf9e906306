"""A rank of a point-to-point collective: its streams, its cores, its timer and what it counts."""

from collections.abc import Callable

from innet.engine.reference.clock import Timer
from innet.engine.reference.hardware import Hardware, Path
from innet.plan.operation import Operation
from innet.protocol.machine import NEVER, Timeout
from innet.protocol.stream import DATA, MessageArrived, StreamEndpoint, StreamPacket
from innet.trace.records import RankRecord


def endpoint_of(operation: Operation, place: int) -> StreamEndpoint:
    """The machine for a rank's streams, as the operation wants it."""
    rto, stream, schedule = operation.rto, operation.stream, operation.schedule
    assert stream is not None
    assert schedule is not None
    return StreamEndpoint(
        place,
        stream.payload_bytes,
        stream.window,
        stream.recovery == "go_back_n",
        Timeout(rto.adaptive, rto.initial_ps, rto.minimum_ps, rto.maximum_ps),
        schedule.in_turn,
    )


class Rank:
    """Packets to and from place p are the work of core p modulo the host's cores.

    `arrived(message, now)` is called when a message is whole, `sent(now)`, if there is one,
    whenever packets may have left; `path_to(place)` leads to another one of the group.
    """

    def __init__(
        self,
        hardware: Hardware,
        operation: Operation,
        place: int,
        arrived: Callable[[MessageArrived, int], None],
        sent: Callable[[int], None] | None,
        path_to: Callable[[int], Path],
    ) -> None:
        assert operation.stream is not None
        self.number = operation.group[place]
        self.host = hardware.fabric.hosts[self.number]
        self.endpoint = endpoint_of(operation, place)
        self.sent = self.received = 0
        self._stream, self._path_to = operation.stream, path_to
        self._arrived, self._has_sent = arrived, sent
        self._paths: dict[int, Path] = {}
        self._cores = hardware.cores_of(self.number)
        node = self.host.node
        gate, timer = hardware.gate(node), hardware.timer_places(node, 1)
        self._timer = Timer(hardware.env, node, timer, lambda now: gate(self._timeout, now))
        self._full_since = NEVER
        self._stalled_ps = 0

    def arrive(self, packet: StreamPacket, _: int, now: int) -> None:
        """A packet has arrived at the host."""
        if self._cores is None:
            self._take(packet, now)
        else:
            self._cores[packet.source % len(self._cores)].receive(packet, now, self._take)

    def _take(self, packet: StreamPacket, now: int) -> None:
        self.received += 1
        self.endpoint.receive(packet, now)
        self.flush(now)

    def _timeout(self, now: int) -> None:
        self.endpoint.handle_timeout(now)
        self.flush(now)

    def flush(self, now: int) -> None:
        """Pass on what the streams have: whole messages, packets, the next deadline."""
        endpoint = self.endpoint
        while (event := endpoint.next_event()) is not None:
            self._arrived(event, now)
        paths = self._paths
        for destination, packet in endpoint.packets_to_send():
            self.sent += 1
            if destination not in paths:
                paths[destination] = self._path_to(destination)
            self._send(paths[destination], packet, now)
        if endpoint.window_full:
            self._full_since = min(self._full_since, now)
        if self._has_sent is not None:
            self._has_sent(now)
        deadline = endpoint.next_deadline()
        if deadline is not None:
            self._timer.arm(deadline)

    def _send(self, path: Path, packet: StreamPacket, now: int) -> None:
        link, deliver = path
        size = self._stream.ack_bytes
        if packet.kind == DATA:
            size = packet.size_bytes + self._stream.overhead_bytes
            self._stalled_ps += max(0, now - max(link.free_at, self._full_since))
            self._full_since = NEVER
        if self._cores is None:
            link.send(packet, size, now, deliver)
        else:
            core = self._cores[packet.destination % len(self._cores)]
            core.send(link, packet, size, now, deliver)

    def record(self, finish_ps: int) -> RankRecord:
        """What the rank counted."""
        return RankRecord(
            self.number,
            self.host.start_ps,
            finish_ps,
            self.sent,
            self.received,
            self.endpoint.retransmissions,
            self.endpoint.timeouts,
            self.endpoint.stale,
            0,
            self._stalled_ps,
            sum(core.busy_ps for core in self._cores or ()),
        )
