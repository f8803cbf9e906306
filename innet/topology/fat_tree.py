"""A fat tree of three tiers: pods of edge and aggregation switches below a core.

Al-Fares, Loukissas, Vahdat: A scalable, commodity data center network architecture (SIGCOMM
2008). In the k-ary one, k pods have k/2 edge and k/2 aggregation switches each, an edge switch
has k/2 hosts, and there are (k/2)^2 core switches.

Nodes: the workers, packed host by host, edge by edge and pod by pod, the switches within hosts
where there are some (`host0`, ...), then `edge0-0`, ... (pod-place), `aggregation0-0`, ...,
`core0`, ..., then helping hosts, which stand at the first edge switch.
"""

from dataclasses import dataclass

from innet.topology.star import Cable
from innet.topology.wiring import HostShape, Network, OwnCable, SwitchSettings, Wiring


@dataclass(frozen=True, slots=True)
class FatTree:
    """`hosts` at each of `edges` of `pods`; `cores` is a multiple of `aggregations` of a pod."""

    pods: int
    edges: int
    aggregations: int
    cores: int
    hosts: int

    @property
    def all_hosts(self) -> int:
        """The hosts of all pods."""
        return self.pods * self.edges * self.hosts


def k_ary(k: int) -> FatTree:
    """Return the size of the k-ary fat tree; `k` is even."""
    half = k // 2
    return FatTree(k, half, half, half * half, half)


@dataclass(frozen=True, slots=True)
class FatTreeCables:
    """The cables between edge and aggregation, and between aggregation and core switches."""

    aggregation: Cable
    core: Cable


def build_fat_tree(
    size: FatTree,
    shape: HostShape,
    cables: FatTreeCables,
    switches: SwitchSettings,
    own: OwnCable | None = None,
    helpers: int = 0,
) -> Network:
    """Return the fat tree. Aggregation switch j of every pod has the j-th share of the cores."""
    wiring = Wiring(size.all_hosts * shape.ranks, switches, own)
    wiring.add_host_switches(size.all_hosts, shape)
    edges = _in_pods(wiring, "edge", size.pods, size.edges)
    aggregations = _in_pods(wiring, "aggregation", size.pods, size.aggregations)
    cores = [wiring.switch(f"core{place}", "core") for place in range(size.cores)]
    for host in range(size.all_hosts):
        pod, edge = divmod(host // size.hosts, size.edges)
        wiring.join_host(host, edges[pod][edge], shape)
    share = size.cores // size.aggregations
    for pod in range(size.pods):
        for edge in edges[pod]:
            for above in aggregations[pod]:
                wiring.join(edge, above, cables.aggregation)
        for place, aggregation in enumerate(aggregations[pod]):
            for core in cores[place * share : (place + 1) * share]:
                wiring.join(aggregation, core, cables.core)
    for _ in range(helpers):
        wiring.join(wiring.helper(), edges[0][0], shape.nic, shape.nics)
    return wiring.network()


def _in_pods(wiring: Wiring, role: str, pods: int, count: int) -> list[list[int]]:
    return [
        [wiring.switch(f"{role}{pod}-{place}", role) for place in range(count)]
        for pod in range(pods)
    ]
