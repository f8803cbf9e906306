"""The ways that packets take, and how long a lone packet takes on them.

Plans take their timeouts from these times, bounds and estimates what must pass where. A lone
packet meets no queue: every link holds it whole for its medium time and its delay, every switch
for its latency.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from innet.plan.plan import Host, TreeSwitch
from innet.topology.graph import Graph
from innet.topology.routes import Routes
from innet.units import serialisation_ps


class Hop(NamedTuple):
    """A link of a way; `onward_ps` is its delay and the latency of the switch behind it."""

    link: int
    rate_bps: int
    onward_ps: int


Way = tuple[Hop, ...]


class TreeWay(NamedTuple):
    """A worker's way to the root of its aggregation tree, the root's latency too, and back."""

    up: Way
    down: Way


def way_of(graph: Graph, links: Iterable[int]) -> Way:
    """Return the way over some links, one after another."""
    return tuple(_hop(graph, link) for link in links)


def _hop(graph: Graph, number: int) -> Hop:
    link = graph.links[number]
    # A host has no latency: its node's is 0.
    return Hop(number, link.rate_bps, link.delay_ps + graph.nodes[link.target].latency_ps)


def crossing_ps(way: Way, medium_bytes: int) -> int:
    """Return the time of a lone packet from one end of a way to the other."""
    return sum(serialisation_ps(medium_bytes, hop.rate_bps) + hop.onward_ps for hop in way)


def slowest_packet_ps(ways: Iterable[Way], medium_bytes: int) -> int:
    """Return the longest medium time of a packet on any link of some ways."""
    slowest = min((hop.rate_bps for way in ways for hop in way), default=0)
    return serialisation_ps(medium_bytes, slowest) if slowest else 0


def filling_window(round_trip_ps: int, packet_ps: int) -> int:
    """Return the fewest packets in flight that keep a link busy: round trip over packet time."""
    return -(-round_trip_ps // packet_ps)


def tree_edges(routes: Routes, tree: Sequence[TreeSwitch]) -> Iterator[tuple[int, int]]:
    """Yield (node below, node above) for every edge of an aggregation tree, workers' first."""
    for switch in tree:
        for worker in switch.workers:
            yield routes.hosts[worker], switch.node
    for switch in tree:
        for below in switch.switches:
            yield tree[below].node, switch.node


def tree_ways(graph: Graph, routes: Routes, tree: Sequence[TreeSwitch]) -> list[TreeWay]:
    """Return the way of every worker, by rank, to the root of an aggregation tree and back."""
    above: list[TreeWay] = []
    for switch in tree:
        if switch.parent < 0:
            above.append(TreeWay((), ()))
        else:
            parent = tree[switch.parent].node
            above.append(_longer(graph, routes, switch.node, parent, above[switch.parent]))
    found = {
        worker: _longer(graph, routes, routes.hosts[worker], switch.node, way)
        for switch, way in zip(tree, above, strict=True)
        for worker in switch.workers
    }
    return [found[worker] for worker in sorted(found)]


def _longer(graph: Graph, routes: Routes, below: int, above: int, way: TreeWay) -> TreeWay:
    """Return a way to the root that begins at `below`, given the one that begins at `above`."""
    up = way_of(graph, routes.path_between(below, above))
    down = way_of(graph, routes.path_between(above, below))
    return TreeWay(up + way.up, way.down + down)


def tree_loads(graph: Graph, routes: Routes, tree: Sequence[TreeSwitch]) -> Counter[int]:
    """Return, for every link, how many edges of an aggregation tree lie on it."""
    edges = list(tree_edges(routes, tree))
    loads: Counter[int] = Counter()
    for below, above in edges:
        loads.update(routes.path_between(below, above))
        loads.update(routes.path_between(above, below))
    return loads


def tree_round_trip_ps(ways: Sequence[TreeWay], hosts: Sequence[Host], medium_bytes: int) -> int:
    """Return the time from sending an update to holding its result, the slowest worker's."""
    return max(
        host.send_ps + crossing_ps(way.up + way.down, medium_bytes) + host.receive_ps
        for way, host in zip(ways, hosts, strict=False)
    )


class Pair(NamedTuple):
    """Two ranks and what lies between them, for data and for its acknowledgements."""

    source: Host
    target: Host
    there: Way
    back: Way

    def round_trip_ps(self, packet_bytes: int, ack_bytes: int) -> int:
        """Return the time of a lone data packet and its acknowledgement."""
        ends = self.source.send_ps + self.target.receive_ps
        ends += self.target.send_ps + self.source.receive_ps
        return ends + crossing_ps(self.there, packet_bytes) + crossing_ps(self.back, ack_bytes)


def pair_of(graph: Graph, routes: Routes, hosts: Sequence[Host], source: int, target: int) -> Pair:
    """Return what lies between two ranks."""
    there = way_of(graph, routes.path(source, target))
    back = way_of(graph, routes.path(target, source))
    return Pair(hosts[source], hosts[target], there, back)
