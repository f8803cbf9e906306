"""A switch that aggregates for a job: its machine, its place in the tree, and its paths."""

from innet.engine.reference.contents import Contents
from innet.engine.reference.hardware import Path
from innet.plan.plan import Aggregation
from innet.protocol.endpoint import HELP, TO_ALL, TO_PARENT, AggregationPacket
from innet.protocol.lower_switch import LowerSwitch
from innet.protocol.switch import AggregationSwitch


class Aggregator:
    """The switch at `index` of the tree, whose subtree has the workers `places`."""

    def __init__(self, format_: Aggregation, index: int, job: int, latency_ps: int) -> None:
        entry = format_.tree[index]
        self.node, self.places = entry.node, places_below(format_, index)
        self.machine = _machine(format_, index, job)
        self.up: Path | None = None
        self.down: list[Path] = []
        self._format, self._latency_ps = format_, latency_ps
        self._contents: Contents | None = None

    def limit_contents(self, contents: Contents, children: list[tuple[int, ...]]) -> None:
        """Send values only where somebody gives or needs them."""
        self._contents = contents
        self._above = contents.of(self.places)
        self._below = [contents.of(places) for places in children]

    def receive(self, packet: AggregationPacket, _: int, now: int) -> None:
        """A packet has arrived at the switch."""
        machine = self.machine
        machine.receive(packet, now)
        answers = machine.packets_to_send()
        if not answers:
            return
        leaves = now + self._latency_ps
        for destination, answer in answers:
            if self._contents is not None and answer.kind != HELP:
                self._send_part(destination, answer, leaves)
                continue
            size = self._format.help_bytes if answer.kind == HELP else self._format.packet_bytes
            if destination == TO_ALL:
                for link, deliver in self.down:
                    link.send(answer, size, leaves, deliver)
            else:
                link, deliver = self._towards(destination)
                link.send(answer, size, leaves, deliver)

    def _towards(self, destination: int) -> Path:
        if destination != TO_PARENT:
            return self.down[destination]
        assert self.up is not None
        return self.up

    def _send_part(self, destination: int, packet: AggregationPacket, leaves: int) -> None:
        """Send a contribution or a result, to each with its values or without them."""
        slot, number = packet.slot, packet.number
        if destination == TO_PARENT:
            link, deliver = self._towards(TO_PARENT)
            link.send(packet, self._above.up_bytes(slot, number), leaves, deliver)
            return
        for child in range(len(self.down)) if destination == TO_ALL else (destination,):
            link, deliver = self.down[child]
            link.send(packet, self._below[child].down_bytes(slot, number), leaves, deliver)

    def counters(self) -> tuple[int, ...]:
        """The node and what a record of a switch counts, in its order."""
        machine = self.machine
        return (
            self.node,
            machine.completed,
            machine.unicasts,
            machine.repeats_dropped,
            machine.stale_dropped,
            machine.helps_sent,
        )


def _machine(format_: Aggregation, index: int, job: int) -> AggregationSwitch:
    entry = format_.tree[index]
    if entry.parent < 0:
        return AggregationSwitch(entry.children, format_.slots, format_.guard, job)
    return LowerSwitch(entry.children, format_.slots, entry.place, format_.guard, job)


def places_below(format_: Aggregation, index: int) -> tuple[int, ...]:
    """The workers in the subtree of a switch."""
    entry = format_.tree[index]
    below = [place for lower in entry.switches for place in places_below(format_, lower)]
    return (*entry.workers, *below)
