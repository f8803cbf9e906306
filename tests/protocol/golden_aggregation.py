"""The commands of golden conversations between workers and their switch.

job workers=N slots=S [guard=off] [block=K] [first_number=F]
reduce W 1 2 3        worker W starts a tensor; a point in a value makes it float32
deliver [LINK]        all packets on their way up, then all on their way down; or the oldest of
                      one link: 0>S or S>0
drop LINK, duplicate LINK, hold LINK, release LINK
timeout W             the worker's next timer runs out
settle                deliver, in order, until nothing is on its way
restart switch        all registers are lost
restart worker W      the worker forgets everything
state
"""

from collections.abc import Iterator

import numpy as np
from aggregation_net import AggregationNet, IntegerTensor, tensor_of
from golden_script import settings_of

from innet.protocol.endpoint import TO_ALL, AggregationPacket

SWITCH_COUNTERS = (
    "completed",
    "unicasts",
    "repeats_dropped",
    "stale_dropped",
    "helps_sent",
    "foreign_dropped",
)
WORKER_COUNTERS = ("retransmissions", "stale", "helps_answered")


class AggregationConversation:
    """One job and its links, told what to do by a script."""

    def __init__(self, words: list[str]) -> None:
        settings = settings_of(words)
        self.block = int(settings.pop("block", 1))
        self.net = self.new_net(settings)
        self.held: dict[str, AggregationPacket] = {}
        self.tensors: dict[int, IntegerTensor] = {}
        self.told = 0

    def new_net(self, settings: dict[str, str]) -> AggregationNet:
        """The job that the first command describes."""
        guard = settings.pop("guard", "on") == "on"
        return AggregationNet(guard=guard, **{name: int(n) for name, n in settings.items()})

    def do(self, words: list[str]) -> Iterator[str]:
        """Carry out one command; yield the lines of its outcome."""
        verb, *rest = words
        yield from getattr(self, f"do_{verb}")(*rest)
        yield from self._events()

    def _events(self) -> Iterator[str]:
        for worker, event in self.net.events[self.told :]:
            yield f"  {worker} {event}"
        self.told = len(self.net.events)

    # --- commands --------------------------------------------------------------------

    def do_reduce(self, worker: str, *numbers: str) -> Iterator[str]:
        floats = any("." in number for number in numbers)
        vector = np.array([float(number) for number in numbers])
        vector = vector.astype(np.float32 if floats else np.int32)
        tensor = tensor_of(vector, self.block, self.net.workers)
        self.tensors[int(worker)] = tensor
        before = len(self.net.up[int(worker)])
        self.net.all_reduce(int(worker), [tensor])
        for packet in self.net.up[int(worker)][before:]:
            yield f"  {self._up(worker)} {shown(packet)}"

    def do_deliver(self, link: str | None = None) -> Iterator[str]:
        if link is not None:
            yield from self.deliver(link)
            return
        for link, packets in self._links():
            for _ in range(len(packets)):
                yield from self.deliver(link)

    def do_settle(self) -> Iterator[str]:
        while any(packets for _, packets in self._links()):
            yield from self.do_deliver()

    def do_drop(self, link: str) -> Iterator[str]:
        yield f"{link} {shown(self._packets(link).pop(0))} is lost"

    def do_duplicate(self, link: str) -> Iterator[str]:
        packets = self._packets(link)
        packets.append(packets[0])
        yield f"{link} {shown(packets[0])} is doubled"

    def do_hold(self, link: str) -> Iterator[str]:
        self.held[link] = self._packets(link).pop(0)
        yield f"{link} {shown(self.held[link])} is held"

    def do_release(self, link: str) -> Iterator[str]:
        self._packets(link).insert(0, self.held.pop(link))
        yield from self.deliver(link)

    def do_timeout(self, worker: str) -> Iterator[str]:
        for packet in self.net.run_out(int(worker)):
            yield f"  {self._up(worker)} {shown(packet)}"

    def do_restart(self, kind: str, worker: str = "") -> Iterator[str]:
        if kind == "switch":
            self.net.switch.wipe()
        else:
            self.net.machines[int(worker)] = self.net.new_machines(int(worker))
        return iter(())

    def do_state(self) -> Iterator[str]:
        yield "switch " + counters(self.net.switch, SWITCH_COUNTERS)
        for worker in range(self.net.workers):
            (machine,) = self.net.machines[worker]
            yield f"worker {worker} {counters(machine, WORKER_COUNTERS)}"
            if worker in self.tensors:
                yield f"  result {' '.join(str(x) for x in self.tensors[worker].result)}"
            for slot, in_set, number, tries in machine.waiting():
                lacks = self.net.switch.missing(slot, in_set, number)
                yield (
                    f"  waits for slot {slot} set {in_set} number {number}, {tries} timeouts; "
                    f"the switch lacks {lacks}"
                )

    # --- links -----------------------------------------------------------------------

    def _links(self) -> Iterator[tuple[str, list[AggregationPacket]]]:
        ends = self.net.names
        yield from ((f"{a}>{b}", up) for (a, b), up in zip(ends, self.net.up, strict=True))
        yield from ((f"{b}>{a}", down) for (a, b), down in zip(ends, self.net.down, strict=True))

    def _up(self, worker: str) -> str:
        return ">".join(self.net.names[int(worker)])

    def _packets(self, link: str) -> list[AggregationPacket]:
        return dict(self._links())[link]

    def deliver(self, link: str) -> Iterator[str]:
        source, target = link.split(">")
        yield f"{link} {shown(self._packets(link)[0])}"
        if target == "S":
            for destination, packet in self.net.to_switch(int(source)):
                to = "all" if destination == TO_ALL else destination
                yield f"  S>{to} {shown(packet)}"
        else:
            for packet in self.net.to_worker(int(target)):
                yield f"  {target}>S {shown(packet)}"
        yield from self._events()


def shown(packet: AggregationPacket) -> str:
    """A packet in words."""
    text = f"{packet.kind} slot {packet.slot} set {packet.set} number {packet.number}"
    if packet.exponent:
        text += f" exponent {packet.exponent}"
    if packet.values is not None:
        text += " [" + " ".join(str(value) for value in packet.values) + "]"
    return text + (" asks for help" if packet.asks_help else "")


def counters(machine: object, names: tuple[str, ...]) -> str:
    """What a machine has counted, in words."""
    counts = [(getattr(machine, name), name) for name in names]
    return ", ".join(f"{count} {name}" for count, name in counts if count) or "nothing counted"
