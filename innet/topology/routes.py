"""Shortest routes: for every node, the link on which it forwards to each rank's host."""

from collections.abc import Sequence

from innet.topology.graph import Graph


def shortest_routes(graph: Graph, hosts: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Return routes[node][rank], a link's index, or -1 where there is none (at the host itself).

    `hosts[rank]` is the node of a rank. Fewest links win; ties go, in a
    fixed order, to what the search from the host meets first.
    """
    towards = [_links_towards(graph, host) for host in hosts]
    return tuple(zip(*towards, strict=True))


def _links_towards(graph: Graph, target: int) -> list[int]:
    """For every node its first link on a shortest path to `target`, by breadth-first search."""
    first = [-1] * len(graph.nodes)
    reached = {target}
    frontier = [target]
    while frontier:
        found: list[int] = []
        for node in frontier:
            for link in graph.links_into[node]:
                source = graph.links[link].source
                if source not in reached:
                    reached.add(source)
                    first[source] = link
                    # Only switches forward, so no path leads through another host.
                    if graph.nodes[source].kind == "switch":
                        found.append(source)
        frontier = found
    return first
