"""A star: every host has one cable to one switch.

Nodes: the workers 0 .. n-1, then the switch n, then helping hosts (a parameter server). The
host of rank r has the uplink 2r (host to switch) and the downlink 2r + 1 (switch to host).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from innet.topology.graph import Graph, Link, Node


@dataclass(frozen=True, slots=True)
class Cable:
    """Both directions of a cable alike; `queue_bytes` limits the ports of switches only."""

    rate_bps: int
    delay_ps: int
    loss: float = 0.0
    queue_bytes: int | None = None
    link_class: str = "link"


def build_star(cables: Sequence[Cable], workers: int, switch_latency_ps: int) -> Graph:
    """Return the star of `len(cables)` hosts, of which the first `workers` are workers."""
    nodes = [Node(f"worker{rank}", "host") for rank in range(workers)]
    nodes.append(Node("switch", "switch", switch_latency_ps, aggregates=True))
    nodes.extend(Node(helper_name(rank, workers), "host") for rank in range(workers, len(cables)))
    links: list[Link] = []
    for rank, cable in enumerate(cables):
        host = host_node(rank, workers)
        links.append(Link(host, workers, cable.rate_bps, cable.delay_ps, cable.loss))
        links.append(
            Link(workers, host, cable.rate_bps, cable.delay_ps, cable.loss, cable.queue_bytes)
        )
    return Graph(tuple(nodes), tuple(links))


def host_node(rank: int, workers: int) -> int:
    """Return the node of a rank: helpers come after the switch, which is node `workers`."""
    return rank if rank < workers else rank + 1


def helper_name(rank: int, workers: int) -> str:
    """Return the name of a helping host: `server`, then `server1`, ..."""
    return "server" if rank == workers else f"server{rank - workers}"


def uplink(rank: int) -> int:
    """Return the index of the link from a rank's host to the switch."""
    return 2 * rank


def downlink(rank: int) -> int:
    """Return the index of the link from the switch to a rank's host."""
    return 2 * rank + 1
