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
    """A host or a switch. `latency_ps` is a switch's time from whole packet in to queue out."""

    name: str
    kind: NodeKind
    latency_ps: int = 0


@dataclass(frozen=True, slots=True)
class Link:
    """One direction of a cable, from node `source` to node `target` (indices into nodes)."""

    source: int
    target: int
    rate_bps: int
    delay_ps: int
    loss: float = 0.0
    queue_bytes: int | None = None


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

    def _grouped(self, node_of_link: list[int]) -> tuple[tuple[int, ...], ...]:
        groups: list[list[int]] = [[] for _ in self.nodes]
        for index, node in enumerate(node_of_link):
            groups[node].append(index)
        return tuple(tuple(group) for group in groups)
