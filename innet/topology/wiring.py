"""Lay cables between hosts and switches, and get the graph of them.

Nodes are numbered alike by every builder: the workers 0 .. n-1, which are the hosts of the ranks
0 .. n-1, then the switches, then helping hosts (a parameter server). Links stand in the order in
which their cables are laid, each cable's two directions together.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from innet.topology.graph import Graph, Link, Node
from innet.topology.star import Cable, helper_name

OwnCable = Callable[[int, Cable], Cable]


@dataclass(frozen=True, slots=True)
class SwitchSettings:
    """What switches are like: `latencies` of single ones, and which of them can sum.

    Both name switches by their own names or by their role (`leaf`, `spine`, ...).
    """

    latency_ps: int
    latencies_ps: Mapping[str, int] = field(default_factory=dict)
    aggregating: frozenset[str] = frozenset()

    def node(self, name: str, role: str) -> Node:
        """Return a switch; its own name counts before its role."""
        by_role = self.latencies_ps.get(role, self.latency_ps)
        latency_ps = self.latencies_ps.get(name, by_role)
        return Node(name, "switch", latency_ps, bool(self.aggregating & {name, role}))


@dataclass(frozen=True, slots=True)
class HostShape:
    """What hosts of `ranks` ranks and `nics` network interfaces are like, all the same.

    With one rank, the rank's node is the host and has the host's cables. With several, each
    rank's node has a `fast` cable to a switch within the host, which has the host's cables.
    """

    nic: Cable
    nics: int = 1
    ranks: int = 1
    fast: Cable | None = None


class Network(NamedTuple):
    """A graph, and the node of every rank, helpers last."""

    graph: Graph
    hosts: tuple[int, ...]


class Wiring:
    """Nodes so far and cables so far. `own` changes the cables that end at a worker."""

    def __init__(self, workers: int, switches: SwitchSettings, own: OwnCable | None = None) -> None:
        self._workers = workers
        self._settings = switches
        self._own = own
        self._nodes = [Node(f"worker{rank}", "host") for rank in range(workers)]
        self._helpers: list[int] = []
        self._links: list[Link] = []

    def switch(self, name: str, role: str) -> int:
        """Add a switch and return its node; all switches come before the first helper."""
        self._nodes.append(self._settings.node(name, role))
        return len(self._nodes) - 1

    def helper(self) -> int:
        """Add a helping host and return its node."""
        rank = self._workers + len(self._helpers)
        self._nodes.append(Node(helper_name(rank, self._workers), "host"))
        self._helpers.append(len(self._nodes) - 1)
        return self._helpers[-1]

    def join(self, lower: int, upper: int, cable: Cable, count: int = 1) -> None:
        """Lay `count` cables between two nodes; only the ports of switches have a queue limit."""
        if self._own is not None:
            for node in (lower, upper):
                cable = self._own(node, cable) if node < self._workers else cable
        for _ in range(count):
            self._links += (self._link(lower, upper, cable), self._link(upper, lower, cable))

    def _link(self, source: int, target: int, cable: Cable) -> Link:
        limited = self._nodes[source].kind == "switch"
        queue = cable.queue_bytes if limited else None
        return Link(
            source, target, cable.rate_bps, cable.delay_ps, cable.loss, queue, cable.link_class
        )

    def join_host(self, host: int, leaf: int, shape: HostShape) -> None:
        """Join host number `host`, with its ranks, to a leaf; its switch has been added."""
        first = host * shape.ranks
        if shape.fast is None:
            self.join(first, leaf, shape.nic, shape.nics)
            return
        inside = self._workers + host
        for rank in range(first, first + shape.ranks):
            self.join(rank, inside, shape.fast)
        self.join(inside, leaf, shape.nic, shape.nics)

    def add_host_switches(self, hosts: int, shape: HostShape) -> None:
        """Add the switch within each host, where hosts have one; before all other switches."""
        if shape.fast is not None:
            for host in range(hosts):
                self.switch(f"host{host}", "host")

    def network(self) -> Network:
        """Return what was laid."""
        hosts = (*range(self._workers), *self._helpers)
        return Network(Graph(tuple(self._nodes), tuple(self._links)), hosts)
