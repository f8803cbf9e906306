"""Shortest routes, and which of several equal ones a flow takes (ECMP).

Fewest links win. Where several links of a node are first on shortest paths, a flow takes one by
a hash of (seed, node, source, destination, flow), so that a flow keeps its path, flows spread,
and no node's choice repeats that of the node before it. Only switches forward.

What is kept is linear in the network: hosts behind the same switches share one row a switch, and
a row is made when it is first asked for.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from innet.draws import hashed
from innet.topology.graph import Graph

Choices = tuple[int, ...]


class _Step(NamedTuple):
    """How far a switch is from the end of a path, and the links that lead one step nearer."""

    distance: int
    links: Choices


class Forwarding(dict[tuple[int, int, int], int]):
    """What a node does: the link for (source rank, destination rank, flow), -1 without one."""

    def __init__(self, routes: "Routes", node: int) -> None:
        super().__init__()
        self._routes, self._node = routes, node

    def __missing__(self, key: tuple[int, int, int]) -> int:
        link = self[key] = self._routes.link(self._node, *key)
        return link


@dataclass(frozen=True)
class Routes:
    """The routes of a graph. `hosts[rank]` is the node of a rank; `seed` decides equal routes.

    A flow is a whole number that tells apart what one rank sends to another: a stream, a core.
    """

    graph: Graph
    hosts: tuple[int, ...]
    seed: int = 0

    def choices(self, node: int, target: int) -> Choices:
        """Return the links of `node` that are first on a shortest path to the node `target`.

        They are in order of their numbers; none at the target itself and where no path leads.
        """
        ends = self._ends(target)
        if node == target or not ends:
            return ()
        if node in ends:
            return self._links_between(node, target)
        row = self._towards(ends)
        if self.graph.nodes[node].kind == "switch":
            return row[node].links if node in row else ()
        return self._nearest(node, row)

    def distance(self, switch: int, target: int) -> int | None:
        """Return the number of links from a switch to the node `target`, None without a path."""
        if switch == target:
            return 0
        step = self._towards(self._ends(target)).get(switch)
        return None if step is None else 1 + step.distance

    def link(self, node: int, source: int, destination: int, flow: int = 0) -> int:
        """Return the link on which `node` forwards a flow of rank `source` to `destination`.

        -1 where there is none, as at the destination's host.
        """
        target = self.hosts[destination]
        return self._chosen(self.choices(node, target), node, self.hosts[source], target, flow)

    def forwarding(self, node: int) -> Forwarding:
        """Return `link` of one node as a mapping that remembers what it was asked."""
        return Forwarding(self, node)

    def path(self, source: int, destination: int, flow: int = 0) -> tuple[int, ...]:
        """Return the links from a rank to another in order; empty where no path leads."""
        return self.path_between(self.hosts[source], self.hosts[destination], flow)

    def path_between(self, source: int, target: int, flow: int = 0) -> tuple[int, ...]:
        """Return the links from a node to another in order; empty where no path leads."""
        links: list[int] = []
        node = source
        while node != target:
            link = self._chosen(self.choices(node, target), node, source, target, flow)
            if link < 0:
                return ()
            links.append(link)
            node = self.graph.links[link].target
        return tuple(links)

    def _chosen(self, choices: Choices, node: int, source: int, target: int, flow: int) -> int:
        if len(choices) < 2:
            return choices[0] if choices else -1
        return choices[hashed(self.seed, node, source, target, flow) % len(choices)]

    def _ends(self, target: int) -> Choices:
        """Return the nodes that have a link to `target`; these decide every path to it."""
        if target not in self._end_nodes:
            links = self.graph.links
            sources = {links[link].source for link in self.graph.links_into[target]}
            self._end_nodes[target] = tuple(sorted(sources))
        return self._end_nodes[target]

    def _links_between(self, source: int, target: int) -> Choices:
        links, out = self.graph.links, self.graph.links_out[source]
        into = self.graph.links_into[target]
        if len(out) < len(into):
            return tuple(x for x in out if links[x].target == target)
        return tuple(x for x in into if links[x].source == source)

    def _nearest(self, host: int, row: dict[int, "_Step"]) -> Choices:
        """Return the links of a host that lead to its nearest switch of a row."""
        steps = {}
        for link in self.graph.links_out[host]:
            switch = self.graph.links[link].target
            if switch in row:
                steps[link] = row[switch].distance
        least = min(steps.values(), default=0)
        return tuple(link for link, distance in steps.items() if distance == least)

    def _towards(self, ends: Choices) -> dict[int, "_Step"]:
        """Return the step of every switch towards the nearest of `ends`."""
        if ends not in self._rows:
            self._rows[ends] = self._search(ends)
        return self._rows[ends]

    def _search(self, ends: Choices) -> dict[int, "_Step"]:
        """Breadth first from all ends that forward; a node's links are those one step nearer."""
        graph = self.graph
        row: dict[int, _Step] = {}
        frontier: dict[int, list[int]] = {
            node: [] for node in ends if graph.nodes[node].kind == "switch"
        }
        while frontier:
            distance = 1 + (row[next(reversed(row))].distance if row else -1)
            row.update((node, _Step(distance, tuple(links))) for node, links in frontier.items())
            found: dict[int, list[int]] = {}
            for node in frontier:
                for link in graph.links_into[node]:
                    source = graph.links[link].source
                    if source not in row and graph.nodes[source].kind == "switch":
                        found.setdefault(source, []).append(link)
            frontier = {node: sorted(links) for node, links in found.items()}
        return row

    @cached_property
    def _end_nodes(self) -> dict[int, Choices]:
        return {}

    @cached_property
    def _rows(self) -> dict[Choices, dict[int, _Step]]:
        return {}


def shortest_routes(graph: Graph, hosts: Sequence[int], seed: int = 0) -> Routes:
    """Return the routes between the nodes `hosts`, a rank's each."""
    return Routes(graph, tuple(hosts), seed)
