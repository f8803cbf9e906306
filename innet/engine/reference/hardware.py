"""What operations run on: links, nodes with faults, hosts' cores, and the paths between nodes.

A packet travels on a path that its sender names, to a receiver that the path was made for, so
no node has to find out whose packet it is. Switches that do nothing with it forward it.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from innet.engine.reference.clock import Action, Clock
from innet.engine.reference.core import Core, Gate
from innet.engine.reference.faulty_lane import FaultyLane, cut
from innet.engine.reference.link import Deliver, Lane, LinkDirection
from innet.engine.reference.node import Node
from innet.errors import ConfigurationError
from innet.plan.link_faults import LinkFaults
from innet.plan.plan import Fabric

NodeEvent = Callable[[int, int], None]  # node, time


class Path(NamedTuple):
    """From a node to a receiver: the first link, and what takes a packet at its end."""

    link: LinkDirection
    deliver: Deliver


class Hardware:
    """A fabric on SimPy's clock.

    `goes_down(node, now)` and `comes_back(node, now)` are called when a node loses its state
    and when it takes part again.
    """

    def __init__(self, fabric: Fabric, goes_down: NodeEvent, comes_back: NodeEvent) -> None:
        self.fabric = fabric
        self.env = Clock()
        self._goes_down, self._comes_back = goes_down, comes_back
        self._cores: dict[int, list[Core]] = {}
        self._timers: dict[int, int] = {}
        faulty = {fault.node for fault in fabric.node_faults}
        self._nodes = {node: self._node(node) for node in sorted(faulty)}
        self.links = [self._link(index) for index in range(len(fabric.graph.links))]

    def _link(self, index: int) -> LinkDirection:
        fabric, ends = self.fabric, self.fabric.graph.links[index]
        faults = LinkFaults(fabric, index)
        kind = FaultyLane if faults or ends.source in self._nodes else Lane
        lanes = [kind(self.env, fabric, index, place) for place in range(2)]
        link = LinkDirection(fabric, index, *lanes)
        for lane in lanes:
            if isinstance(lane, FaultyLane):
                lane.prepare(link, faults)
        return link

    # --- nodes ---------------------------------------------------------------------------

    def _node(self, number: int) -> Node:
        faults = [fault for fault in self.fabric.node_faults if fault.node == number]

        def goes_down(now: int) -> None:
            for index in self.fabric.graph.links_out[number]:
                cut(self.links[index], now)
            for rank, cores in self._cores.items():
                if self.fabric.hosts[rank].node == number:
                    for core in cores:
                        core.reset(now)
            self._goes_down(number, now)

        return Node(self.env, number, faults, goes_down, lambda now: self._comes_back(number, now))

    def has_faults(self, node: int) -> bool:
        """Whether something happens to a node."""
        return node in self._nodes

    def gate(self, node: int) -> Gate:
        """What does an action unless the node is paused or down."""
        gated = self._nodes.get(node)
        return gated.do if gated is not None else _do

    def cores_of(self, rank: int) -> list[Core] | None:
        """A host's cores, None where packets cost it nothing."""
        host = self.fabric.hosts[rank]
        if not host.send_ps and not host.receive_ps:
            return None
        if rank not in self._cores:
            gate = self.gate(host.node)
            self._cores[rank] = [
                Core(self.env, host.node, place, host.receive_ps, host.send_ps, gate)
                for place in range(host.cores)
            ]
        return self._cores[rank]

    def timer_places(self, node: int, count: int) -> int:
        """The first of `count` places for timers of a node, which no others have."""
        first = self._timers.get(node, 0)
        self._timers[node] = first + count
        return first

    # --- paths ---------------------------------------------------------------------------

    def path(self, source: int, target: int, receive: Deliver) -> Path:
        """The path from a node to `receive` at another.

        Raises ConfigurationError where no path leads.
        """
        hops = self.fabric.routes.path_between(source, target)
        if not hops:
            nodes = self.fabric.graph.nodes
            raise ConfigurationError(
                f"no path leads from {nodes[source].name} to {nodes[target].name}"
            )
        path = self._hop(hops[-1], receive)
        for index in reversed(hops[:-1]):
            path = self._hop(index, self._forwarder(index, path))
        return path

    def _forwarder(self, index: int, onward: Path) -> Deliver:
        node = self.fabric.graph.nodes[self.fabric.graph.links[index].target]
        latency_ps = node.latency_ps
        send, deliver = onward.link.send, onward.deliver

        def forward(packet: Any, medium_bytes: int, now: int) -> None:  # noqa: ANN401
            send(packet, medium_bytes, now + latency_ps, deliver)

        return forward

    def _hop(self, index: int, receive: Deliver) -> Path:
        """A link, and its receiver; what reaches a node that is down is lost on the link."""
        link = self.links[index]
        node = self._nodes.get(self.fabric.graph.links[index].target)
        if node is None:
            return Path(link, receive)

        def deliver(packet: Any, medium_bytes: int, now: int) -> None:  # noqa: ANN401
            if not node.do(lambda then: receive(packet, medium_bytes, then), now):
                link.lost += 1

        return Path(link, deliver)


def _do(action: Action, now: int) -> object:
    return action(now)
