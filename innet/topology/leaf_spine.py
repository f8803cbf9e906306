"""Two tiers of switches: a leaf in every rack, and spines that each leaf has cables to.

Nodes: the workers, packed host by host and rack by rack, the switches within hosts where there
are some (`host0`, ...), the leaves (`leaf0`, ...), the spines (`spine0`, ...), then helping
hosts, which stand in the first rack.
"""

from dataclasses import dataclass

from innet.topology.star import Cable
from innet.topology.wiring import HostShape, Network, OwnCable, SwitchSettings, Wiring


@dataclass(frozen=True, slots=True)
class LeafSpine:
    """`hosts` in each of `racks`; every leaf has `uplinks` cables to each of `spines`."""

    racks: int
    hosts: int
    spines: int
    uplinks: int = 1


def build_leaf_spine(
    size: LeafSpine,
    shape: HostShape,
    spine: Cable,
    switches: SwitchSettings,
    own: OwnCable | None = None,
    helpers: int = 0,
) -> Network:
    """Return the network of racks and spines; `spine` is a cable between a leaf and a spine."""
    hosts = size.racks * size.hosts
    wiring = Wiring(hosts * shape.ranks, switches, own)
    wiring.add_host_switches(hosts, shape)
    leaves = [wiring.switch(f"leaf{rack}", "leaf") for rack in range(size.racks)]
    spines = [wiring.switch(f"spine{place}", "spine") for place in range(size.spines)]
    for host in range(hosts):
        wiring.join_host(host, leaves[host // size.hosts], shape)
    for leaf in leaves:
        for above in spines:
            wiring.join(leaf, above, spine, size.uplinks)
    for _ in range(helpers):
        wiring.join(wiring.helper(), leaves[0], shape.nic, shape.nics)
    return wiring.network()


def spine_rate_bps(size: LeafSpine, nic_bps: int, nics: int, oversubscription: float) -> int:
    """Return the rate of a cable to a spine at which a leaf is so many times oversubscribed.

    Oversubscription is the rate of a leaf's cables to hosts over that of its cables to spines.
    """
    down = size.hosts * nics * nic_bps
    return max(1, round(down / (size.spines * size.uplinks * oversubscription)))
