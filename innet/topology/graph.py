"""The network as a graph: nodes, and one-way links between them. Plain immutable data.

Model of a link direction: a FIFO that a packet occupies for its medium bytes at the
link's rate, then a propagation delay. `loss` is the chance that a packet that was sent
does not arrive. `queue_bytes` is a drop-tail limit on the medium bytes that wait for the
link, not counting the packet being sent; None is unlimited. Hosts hold packets back
instead of dropping them at their own interface, so builders limit switch ports only.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

NodeKind = Literal["host", "switch"]


@dataclass(frozen=True, slots=True)
class Node:
    """A host or a switch. `latency_ps` is a switch's time from whole packet in to queue out.

    A host is an end of the network, where one rank runs; `aggregates` says that a switch can
    sum.
    """

    name: str
    kind: NodeKind
    latency_ps: int = 0
    aggregates: bool = False


@dataclass(frozen=True, slots=True)
class Link:
    """One direction of a cable, from node `source` to node `target` (indices into nodes).

    `link_class` names what kind of cable it is: links of a class stand together in reports.
    """

    source: int
    target: int
    rate_bps: int
    delay_ps: int
    loss: float = 0.0
    queue_bytes: int | None = None
    link_class: str = "link"


@dataclass(frozen=True)
class Graph:
    """Nodes and links; a link's position in `links` is its index, a node's its number."""

    nodes: tuple[Node, ...]
    links: tuple[Link, ...]

    @cached_property
    def links_into(self) -> tuple[tuple[int, ...], ...]:
        """For every node the links that end there; a link's place in it is its port."""
        return self._grouped([link.target for link in self.links])

    @cached_property
    def links_out(self) -> tuple[tuple[int, ...], ...]:
        """For every node the links that start there."""
        return self._grouped([link.source for link in self.links])

    @cached_property
    def switches(self) -> tuple[int, ...]:
        """The nodes that are switches."""
        return tuple(index for index, node in enumerate(self.nodes) if node.kind == "switch")

    @cached_property
    def link_classes(self) -> tuple[str, ...]:
        """The classes of the links, in the order of their first links."""
        return tuple(dict.fromkeys(link.link_class for link in self.links))

    @cached_property
    def tiers(self) -> tuple[int, ...]:
        """For every node how far it is from the nearest host: 0 for hosts, 1 for their switches.

        A switch from which no host can be reached has tier 0 too.
        """
        tiers = [0] * len(self.nodes)
        frontier = [index for index, node in enumerate(self.nodes) if node.kind == "host"]
        reached = set(frontier)
        for tier in range(1, len(self.nodes) + 1):
            frontier = self._sources_of(frontier, reached)
            for node in frontier:
                tiers[node] = tier
        return tuple(tiers)

    def _sources_of(self, nodes: list[int], reached: set[int]) -> list[int]:
        """Return the nodes with links to `nodes` that are not in `reached`, and put them there."""
        found = []
        for node in nodes:
            for link in self.links_into[node]:
                source = self.links[link].source
                if source not in reached:
                    reached.add(source)
                    found.append(source)
        return found

    def _grouped(self, node_of_link: list[int]) -> tuple[tuple[int, ...], ...]:
        groups: list[list[int]] = [[] for _ in self.nodes]
        for index, node in enumerate(node_of_link):
            groups[node].append(index)
        return tuple(tuple(group) for group in groups)
