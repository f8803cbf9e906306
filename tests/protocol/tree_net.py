"""A job in a tree of switches, on which a test moves every packet itself.

A tree is written as its root's children: 0 is a worker, a tuple a lower switch with children of
its own. Workers are numbered from left to right; switches are named R (the root), A, B, ... from
the root down and from left to right. Cable w leads up from worker w, and cable `workers` + i from
the i-th lower switch.
"""

from typing import Any

from aggregation_net import FIXED_TIMEOUT, AggregationNet

from innet.protocol.endpoint import TO_ALL, TO_PARENT, AggregationPacket
from innet.protocol.lower_switch import LowerSwitch
from innet.protocol.machine import Timeout

Tree = tuple[Any, ...]
NAMES = "RABCDEFGHI"


def workers_of(tree: Tree) -> int:
    """How many workers a tree has."""
    return sum(1 if below == 0 else workers_of(below) for below in tree)


class TreeNet(AggregationNet):
    """The switches and workers of one job; `switches[0]` is the root, also called `switch`."""

    def __init__(
        self,
        tree: Tree,
        slots: int,
        *,
        guard: bool = True,
        cores: int = 1,
        first_number: int = 0,
        timeout: Timeout = FIXED_TIMEOUT,
    ) -> None:
        workers = workers_of(tree)
        super().__init__(
            workers, slots, guard=guard, cores=cores, first_number=first_number, timeout=timeout
        )
        self.switch = type(self.switch)(len(tree), slots, guard)
        self.switches = [self.switch]
        self.below: list[list[int]] = []  # each switch's cables, in order of its children
        self._above: dict[int, tuple[int, int]] = {}  # a cable's switch and its place there
        self._build(tree, 0)
        lower = len(self.switches) - 1
        self.up += [[] for _ in range(lower)]
        self.down += [[] for _ in range(lower)]
        self.names = [
            (
                str(cable) if cable < workers else NAMES[cable - workers + 1],
                NAMES[self._above[cable][0]],
            )
            for cable in range(len(self.up))
        ]

    def _build(self, tree: Tree, switch: int) -> None:
        self.below.append([])
        for place, below in enumerate(tree):
            if below == 0:
                cable = sum(each < self.workers for each in self._above)
            else:
                child = len(self.switches)
                cable = self.workers + child - 1
                self.switches.append(LowerSwitch(len(below), self.slots, place, self.guard))
            self._above[cable] = (switch, place)
            self.below[switch].append(cable)
            if below != 0:
                self._build(below, child)

    def to_switch(self, worker: int, index: int = 0) -> list[tuple[int, AggregationPacket]]:
        """Deliver a packet of a cable to the switch above; return what the switch sends."""
        switch, place = self._above[worker]
        packet = self.up[worker].pop(index)
        self.switches[switch].receive(packet._replace(worker=place), self.now)
        return self._sent(switch)

    def to_worker(self, worker: int, index: int = 0) -> list[Any]:
        """Deliver a packet of a cable to what is below; return what that sends."""
        if worker < self.workers:
            return super().to_worker(worker, index)
        switch = worker - self.workers + 1
        self.switches[switch].receive(self.down[worker].pop(index), self.now)
        return self._sent(switch)

    def _sent(self, switch: int) -> list[tuple[int, AggregationPacket]]:
        sent = self.switches[switch].packets_to_send()
        for destination, packet in sent:
            if destination == TO_PARENT:
                assert packet.worker == self._above[self.workers + switch - 1][1]
                self.up[self.workers + switch - 1].append(packet)
                continue
            below = self.below[switch]
            for cable in below if destination == TO_ALL else (below[destination],):
                self.down[cable].append(packet)
        return sent

    def switch_above(self, worker: int) -> int:
        """The switch that a worker is connected to."""
        return self._above[worker][0]

    def wipe(self, choice: int = 0) -> None:
        """Let one of the switches lose its registers."""
        self.switches[choice % len(self.switches)].wipe()

    def counted_by_switches(self, name: str) -> int:
        """A counter of the switches, summed; those that a root does not have are 0."""
        return sum(getattr(switch, name, 0) for switch in self.switches)
