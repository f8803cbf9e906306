"""The commands of golden conversations in a tree of switches: those of golden_aggregation.py, but

tree shape=((0,0),(0,)) slots=S [guard=off] [block=K]
restart A            switch A loses all its registers

See tree_net.py for shapes and names. Links are 0>A, A>R, R>A, A>0.
"""

import ast
from collections.abc import Iterator

from aggregation_net import AggregationNet
from golden_aggregation import (
    SWITCH_COUNTERS,
    WORKER_COUNTERS,
    AggregationConversation,
    counters,
    shown,
)
from tree_net import NAMES, TreeNet

from innet.protocol.endpoint import TO_ALL, TO_PARENT

COUNTERS = (*SWITCH_COUNTERS, "repeats_passed_up", "results_passed_down")


class TreeConversation(AggregationConversation):
    """One job in a tree, told what to do by a script."""

    net: TreeNet

    def new_net(self, settings: dict[str, str]) -> AggregationNet:
        """The job that the first command describes."""
        guard = settings.get("guard", "on") == "on"
        return TreeNet(ast.literal_eval(settings["shape"]), int(settings["slots"]), guard=guard)

    def do_restart(self, name: str, _: str = "") -> Iterator[str]:
        self.net.switches[NAMES.index(name)].wipe()
        return iter(())

    def do_state(self) -> Iterator[str]:
        for name, switch in zip(NAMES, self.net.switches, strict=False):
            names = [each for each in COUNTERS if hasattr(switch, each)]
            yield f"switch {name} " + counters(switch, tuple(names))
        for worker in range(self.net.workers):
            (machine,) = self.net.machines[worker]
            yield f"worker {worker} {counters(machine, WORKER_COUNTERS)}"
            if worker in self.tensors:
                yield f"  result {' '.join(str(x) for x in self.tensors[worker].result)}"
            for slot, in_set, number, tries in machine.waiting():
                yield f"  waits for slot {slot} set {in_set} number {number}, {tries} timeouts"

    def deliver(self, link: str) -> Iterator[str]:
        yield f"{link} {shown(self._packets(link)[0])}"
        source, target = link.split(">")
        upwards = (source, target) in self.net.names
        cable = self.net.names.index((source, target) if upwards else (target, source))
        if target.isdigit():
            for packet in self.net.to_worker(cable):
                yield f"  {self._up(target)} {shown(packet)}"
        else:
            sent = (self.net.to_switch if upwards else self.net.to_worker)(cable)
            yield from (f"  {target}>{self._end(target, to)} {shown(p)}" for to, p in sent)
        yield from self._events()

    def _end(self, name: str, destination: int) -> str:
        switch = NAMES.index(name)
        if destination == TO_PARENT:
            return dict(self.net.names)[name]
        if destination == TO_ALL:
            return "all"
        return self.net.names[self.net.below[switch][destination]][0]
