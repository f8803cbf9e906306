"""Stream endpoints joined by links on which a test moves every packet itself."""

from collections import defaultdict

from innet.protocol.machine import Timeout
from innet.protocol.stream import MessageArrived, StreamEndpoint, StreamPacket

FIXED_TIMEOUT = Timeout(False, 10, 1, 80)


class StreamNet:
    """All ranks' endpoints; a link for every ordered pair."""

    def __init__(
        self,
        ranks: int,
        payload: int,
        window: int,
        go_back_n: bool,
        timeout: Timeout = FIXED_TIMEOUT,
    ) -> None:
        self.now = 0
        self.endpoints = [
            StreamEndpoint(rank, payload, window, go_back_n, timeout) for rank in range(ranks)
        ]
        self.links: dict[tuple[int, int], list[StreamPacket]] = defaultdict(list)
        self.arrived: list[tuple[int, MessageArrived]] = []

    def send(self, source: int, destination: int, message: int, values) -> list[StreamPacket]:
        """Hand a message over; return the packets that leave at once."""
        endpoint = self.endpoints[source]
        endpoint.send_message(destination, message, len(values), values, self.now)
        return self.flush(source)

    def flush(self, rank: int) -> list[StreamPacket]:
        """Put what a rank sends on the links; return it. Messages go to `arrived`."""
        sent = []
        for destination, packet in self.endpoints[rank].packets_to_send():
            self.links[rank, destination].append(packet)
            sent.append(packet)
        while (event := self.endpoints[rank].next_event()) is not None:
            self.arrived.append((rank, event))
        return sent

    def deliver(self, link: tuple[int, int], index: int = 0) -> list[StreamPacket]:
        """Deliver a packet of a link; return what its receiver sends."""
        self.endpoints[link[1]].receive(self.links[link].pop(index), self.now)
        return self.flush(link[1])

    def run_out(self, rank: int) -> list[StreamPacket]:
        """Let time pass until a timer of the rank has run out; return what it sends."""
        sent: list[StreamPacket] = []
        while not sent:
            deadline = self.endpoints[rank].next_deadline()
            assert deadline is not None, "nothing is outstanding, or no timer is set"
            self.now = max(self.now, deadline)
            self.endpoints[rank].handle_timeout(self.now)
            sent = self.flush(rank)
        return sent

    def settle(self) -> None:
        """Deliver everything, in order, until no packet is on its way."""
        while link := self.first_used_link():
            self.deliver(link)

    def first_used_link(self) -> tuple[int, int] | None:
        """The least link that carries a packet."""
        return min((link for link, packets in self.links.items() if packets), default=None)
