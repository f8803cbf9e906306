"""The commands of golden conversations over reliable streams.

streams ranks=N payload=BYTES window=W recovery=selective|go_back_n
send 0>1 TEXT         hand a message over
deliver [LINK]        all packets on their way, or the oldest of one link
drop LINK, duplicate LINK, hold LINK, release LINK
timeout R             the rank's next timer runs out
settle                deliver, in order, until nothing is on its way
state
"""

from collections import defaultdict
from collections.abc import Iterator

import numpy as np
from golden_script import settings_of
from stream_net import StreamNet

from innet.protocol.stream import DATA, StreamPacket

COUNTERS = ("retransmissions", "timeouts", "stale")


class StreamConversation:
    """Ranks and their links, told what to do by a script."""

    def __init__(self, words: list[str]) -> None:
        settings = settings_of(words)
        go_back_n = {"selective": False, "go_back_n": True}[settings["recovery"]]
        ranks, payload, window = (int(settings[name]) for name in ("ranks", "payload", "window"))
        self.net = StreamNet(ranks, payload, window, go_back_n)
        self.held: dict[tuple[int, int], list[StreamPacket]] = defaultdict(list)
        self.messages = 0
        self.told = 0

    def do(self, words: list[str]) -> Iterator[str]:
        """Carry out one command; yield the lines of its outcome."""
        verb, *rest = words
        yield from getattr(self, f"do_{verb}")(*rest)

    # --- commands --------------------------------------------------------------------

    def do_send(self, link: str, text: str) -> Iterator[str]:
        source, destination = _ends(link)
        values = np.frombuffer(text.encode(), dtype=np.uint8)
        for packet in self.net.send(source, destination, self.messages, values):
            yield f"  {_shown(packet)}"
        self.messages += 1

    def do_deliver(self, link: str | None = None) -> Iterator[str]:
        if link is not None:
            yield from self._deliver(_ends(link))
            return
        on_their_way = {ends: len(packets) for ends, packets in sorted(self.net.links.items())}
        for ends, packets in on_their_way.items():
            for _ in range(packets):
                yield from self._deliver(ends)

    def do_settle(self) -> Iterator[str]:
        while self.net.first_used_link():
            yield from self.do_deliver()

    def do_drop(self, link: str) -> Iterator[str]:
        yield f"{_shown(self.net.links[_ends(link)].pop(0))} is lost"

    def do_duplicate(self, link: str) -> Iterator[str]:
        packets = self.net.links[_ends(link)]
        packets.append(packets[0])
        yield f"{_shown(packets[0])} is doubled"

    def do_hold(self, link: str) -> Iterator[str]:
        packet = self.net.links[_ends(link)].pop(0)
        self.held[_ends(link)].append(packet)
        yield f"{_shown(packet)} is held"

    def do_release(self, link: str) -> Iterator[str]:
        self.net.links[_ends(link)].insert(0, self.held[_ends(link)].pop(0))
        yield from self._deliver(_ends(link))

    def do_timeout(self, rank: str) -> Iterator[str]:
        for packet in self.net.run_out(int(rank)):
            yield f"  {_shown(packet)}"

    def do_state(self) -> Iterator[str]:
        for rank, endpoint in enumerate(self.net.endpoints):
            counts = [(getattr(endpoint, name), name) for name in COUNTERS]
            counted = ", ".join(f"{count} {name}" for count, name in counts if count)
            yield f"rank {rank} {counted or 'nothing counted'}"
            for destination, oldest, tries in endpoint.unacknowledged():
                yield f"  rank {destination} has not acknowledged {oldest}, {tries} timeouts"

    # --- links -----------------------------------------------------------------------

    def _deliver(self, ends: tuple[int, int]) -> Iterator[str]:
        yield _shown(self.net.links[ends][0])
        for packet in self.net.deliver(ends):
            yield f"  {_shown(packet)}"
        for rank, event in self.net.arrived[self.told :]:
            text = event.values.tobytes().decode()
            yield f"  {rank} has message {event.message} from {event.source}: {text}"
        self.told = len(self.net.arrived)


def _ends(link: str) -> tuple[int, int]:
    source, destination = link.split(">")
    return int(source), int(destination)


def _shown(packet: StreamPacket) -> str:
    text = f"{packet.source}>{packet.destination} {packet.kind} {packet.number}"
    if packet.kind == DATA:
        place = f"{packet.place + 1}/{packet.packets}"
        return f"{text} message {packet.message} {place} {packet.values.tobytes().decode()}"
    return f"{text} expects {packet.expected}" + (" after a gap" if packet.gap else "")
