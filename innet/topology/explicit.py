"""A network whose nodes and cables are listed one by one."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from innet.topology.star import Cable, helper_name
from innet.topology.wiring import Network, OwnCable, SwitchSettings, Wiring

LEAF, INNER = "leaf", "inner"  # a switch with a worker beside it, and another


class NamedCable(NamedTuple):
    """`parallel` cables alike between two nodes, by their names."""

    source: str
    target: str
    cable: Cable
    parallel: int = 1


def build_explicit(
    workers: int,
    switch_names: Sequence[str],
    cables: Sequence[NamedCable],
    switches: SwitchSettings,
    own: OwnCable | None = None,
    helpers: int = 0,
) -> Network:
    """Return the network of these cables.

    Names are `worker0`, ..., `server`, ... and those of `switch_names`. KeyError: a cable ends
    at another name.
    """
    wiring = Wiring(workers, switches, own)
    nodes = {f"worker{rank}": rank for rank in range(workers)}
    leaves = leaf_names(workers, ((one, other) for one, other, _, _ in cables))
    for name in switch_names:
        nodes[name] = wiring.switch(name, LEAF if name in leaves else INNER)
    for place in range(helpers):
        nodes[helper_name(workers + place, workers)] = wiring.helper()
    for source, target, cable, parallel in cables:
        wiring.join(nodes[source], nodes[target], cable, parallel)
    return wiring.network()


def leaf_names(workers: int, pairs: Iterable[tuple[str, str]]) -> frozenset[str]:
    """Return the names of the nodes that have a cable, of `pairs` of ends, to a worker."""
    names = {f"worker{rank}" for rank in range(workers)}
    beside = {(one, other) for pair in pairs for one, other in (pair, pair[::-1])}
    return frozenset(other for one, other in beside if one in names)
