"""Where the nodes of a network stand in a drawing, and which cables lie between them.

Tiers are rows: hosts below, each switch above what it is linked to. Hosts behind the same
switches are a group (a rack, or a host of several ranks).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from innet.topology.graph import Graph

_GAP = 1.0  # between groups, in widths of a host
_TOP_SHARE = 0.6  # of the width, for switches that stand above everything alike


@dataclass(frozen=True, slots=True)
class DrawnNode:
    """A node: `x` in widths of a host, `tier` from 0, whether it is a switch, and can sum."""

    name: str
    x: float
    tier: int
    switch: bool
    aggregates: bool


@dataclass(frozen=True, slots=True)
class DrawnCable:
    """`count` parallel cables alike between two nodes, by their places among the nodes."""

    lower: int
    upper: int
    link_class: str
    rate_bps: int
    delay_ps: int
    count: int


@dataclass(frozen=True, slots=True)
class Layout:
    """A network to draw. `groups` are the places of hosts that stand together."""

    nodes: tuple[DrawnNode, ...]
    cables: tuple[DrawnCable, ...]
    groups: tuple[tuple[int, ...], ...]
    width: float


def layout_of(graph: Graph) -> Layout:
    """Return how a graph is drawn."""
    groups = _groups(graph)
    across = _hosts_across(groups)
    width = max(across.values(), default=0.0)
    for tier in range(1, max(graph.tiers, default=0) + 1):
        across |= _switches_across(graph, tier, across, width)
    nodes = tuple(
        DrawnNode(node.name, across[index], tier, node.kind == "switch", node.aggregates)
        for index, (node, tier) in enumerate(zip(graph.nodes, graph.tiers, strict=True))
        if index in across
    )
    places = {node: place for place, node in enumerate(sorted(across))}
    return Layout(
        nodes,
        tuple(_cables(graph, places)),
        tuple(tuple(places[node] for node in group) for group in groups),
        width,
    )


def _groups(graph: Graph) -> list[tuple[int, ...]]:
    """Return the hosts behind the same switches, in the order of those switches."""
    behind: dict[tuple[int, ...], list[int]] = {}
    for node, kind in enumerate(graph.nodes):
        if kind.kind == "host":
            above = {graph.links[link].target for link in graph.links_out[node]}
            behind.setdefault(tuple(sorted(above)), []).append(node)
    return [tuple(behind[above]) for above in sorted(behind)]


def _hosts_across(groups: Sequence[Sequence[int]]) -> dict[int, float]:
    across: dict[int, float] = {}
    x = 0.0
    for group in groups:
        for node in group:
            across[node] = x
            x += 1.0
        x += _GAP
    return across


def _switches_across(
    graph: Graph, tier: int, across: dict[int, float], width: float
) -> dict[int, float]:
    """Place the switches of a tier above the middle of what they are linked to below."""
    wanted: dict[float, list[int]] = {}
    for node in graph.switches:
        if graph.tiers[node] == tier:
            wanted.setdefault(round(_middle(graph, node, tier, across), 6), []).append(node)
    centres = sorted(wanted)
    between = min((b - a for a, b in pairwise(centres)), default=0.0)
    count = sum(map(len, wanted.values()))
    if between * len(centres) < _TOP_SHARE * width * len(centres) / count:
        # Too close together, or alike: they share the middle evenly.
        together = [node for centre in centres for node in wanted[centre]]
        wanted = {(centres[0] + centres[-1]) / 2: together} if centres else {}
        between = _TOP_SHARE * max(width, count)
    found = {}
    for centre, nodes in wanted.items():
        step = between / len(nodes)
        for place, node in enumerate(nodes):
            found[node] = centre + (place - (len(nodes) - 1) / 2) * step
    return found


def _middle(graph: Graph, node: int, tier: int, across: dict[int, float]) -> float:
    below = {graph.links[link].source for link in graph.links_into[node]}
    places = [across[x] for x in below if graph.tiers[x] == tier - 1]
    return (min(places) + max(places)) / 2


def _cables(graph: Graph, places: dict[int, int]) -> Iterator[DrawnCable]:
    counts: dict[tuple[int, int, str, int, int], int] = {}
    for link in graph.links:
        ends = sorted((link.source, link.target), key=lambda node: (graph.tiers[node], node))
        # A cable has two directions; it is counted by the one that leads up.
        if ends == [link.source, link.target]:
            lower, upper = ends
            key = (lower, upper, link.link_class, link.rate_bps, link.delay_ps)
            counts[key] = counts.get(key, 0) + 1
    for (lower, upper, link_class, rate_bps, delay_ps), count in counts.items():
        yield DrawnCable(places[lower], places[upper], link_class, rate_bps, delay_ps, count)
