"""A rank of a point-to-point collective: its streams, its cores, its timer and what it counts."""

from collections.abc import Callable

from innet.engine.reference.clock import Timer
from innet.engine.reference.link import LinkDirection
from innet.engine.reference.run import Run
from innet.plan.plan import Plan, Stream
from innet.protocol.machine import NEVER, Timeout
from innet.protocol.stream import DATA, MessageArrived, StreamEndpoint, StreamPacket
from innet.trace.records import RankRecord


def endpoint_of(plan: Plan, stream: Stream, rank: int, in_turn: bool) -> StreamEndpoint:
    """The machine for a rank's streams, as the plan wants it."""
    rto = plan.rto
    return StreamEndpoint(
        rank,
        stream.payload_bytes,
        stream.window,
        stream.recovery == "go_back_n",
        Timeout(rto.adaptive, rto.initial_ps, rto.minimum_ps, rto.maximum_ps),
        in_turn,
    )


class Rank:
    """Packets to and from rank p are the work of core p modulo the host's cores.

    `arrived(message, now)` is called when a message is whole, `link_to(rank)` names the link
    towards another one.
    """

    def __init__(
        self,
        run: Run,
        stream: Stream,
        endpoint: StreamEndpoint,
        arrived: Callable[[MessageArrived, int], None],
    ) -> None:
        self.number = endpoint.rank
        self.endpoint = endpoint
        self.sent = self.received = 0
        self._run, self._stream, self._arrived = run, stream, arrived
        self._host = run.plan.hosts[self.number]
        self._cores = run.cores_of(self.number)
        self._routes = run.plan.routes.forwarding(self._host.node)
        gate = run.gate(self._host.node)
        self._timer = Timer(run.env, self._host.node, 0, lambda now: gate(self._timeout, now))
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
        for destination, packet in endpoint.packets_to_send():
            self.sent += 1
            link = self._routes[self.number, destination, 0]
            self._send(self._run.links[link], packet, now)
        if endpoint.window_full:
            self._full_since = min(self._full_since, now)
        deadline = endpoint.next_deadline()
        if deadline is not None:
            self._timer.arm(deadline)

    def _send(self, link: LinkDirection, packet: StreamPacket, now: int) -> None:
        size = self._stream.ack_bytes
        if packet.kind == DATA:
            size = packet.size_bytes + self._stream.overhead_bytes
            self._stalled_ps += max(0, now - max(link.free_at, self._full_since))
            self._full_since = NEVER
        if self._cores is None:
            link.send(packet, size, now)
        else:
            core = self._cores[packet.destination % len(self._cores)]
            core.send(link, packet, size, now)

    def reset(self, now: int) -> None:
        """Forget all work, as the host goes down."""
        for core in self._cores or ():
            core.reset(now)

    def record(self, finish_ps: int) -> RankRecord:
        """What the rank counted."""
        return RankRecord(
            self.number,
            self._host.start_ps,
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
