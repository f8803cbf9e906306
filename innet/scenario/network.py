"""From the topology of a scenario to its graph, and to the nodes and links that it names."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from innet.scenario.topologies import (
    FabricSection,
    FatTreeSection,
    GraphSection,
    HostsSection,
    LeafSpineSection,
    StarSection,
    TrunkSection,
)
from innet.topology.explicit import NamedCable, build_explicit
from innet.topology.fat_tree import FatTree, FatTreeCables, build_fat_tree
from innet.topology.graph import Graph
from innet.topology.leaf_spine import LeafSpine, build_leaf_spine, spine_rate_bps
from innet.topology.star import Cable, build_star, host_node
from innet.topology.wiring import HostShape, Network, SwitchSettings

if TYPE_CHECKING:
    from innet.scenario.schema import Scenario


def network_of(scenario: "Scenario", ranks: int) -> Network:
    """Return the graph of a scenario and the node of each of `ranks` ranks, helpers last."""
    topology = scenario.topology
    if isinstance(topology, StarSection):
        return _star(scenario, topology, ranks)
    return _fabric(scenario, topology, ranks - topology.workers)


def _star(scenario: "Scenario", topology: StarSection, ranks: int) -> Network:
    common = _cable(topology.link, topology.link.rate, "link")
    cables = [_own_cable(scenario, rank, common) for rank in range(ranks)]
    graph = build_star(cables, topology.workers, scenario.switch.latency)
    return Network(graph, tuple(host_node(rank, topology.workers) for rank in range(ranks)))


def _fabric(scenario: "Scenario", topology: FabricSection, helpers: int) -> Network:
    switches = SwitchSettings(scenario.switch.latency, topology.latencies, topology.aggregating)

    def own(worker: int, cable: Cable) -> Cable:
        return _own_cable(scenario, worker, cable)

    if isinstance(topology, LeafSpineSection):
        size = LeafSpine(topology.racks, topology.hosts, topology.spines, topology.uplinks)
        spine = _cable(topology.spine_link, _spine_rate_bps(topology, size), "spine")
        return build_leaf_spine(size, _shape(topology), spine, switches, own, helpers)
    if isinstance(topology, FatTreeSection):
        cables = FatTreeCables(
            _trunk(topology, topology.aggregation_link, "aggregation"),
            _trunk(topology, topology.core_link, "core"),
        )
        shape = _shape(topology)
        return build_fat_tree(FatTree(*topology.size), shape, cables, switches, own, helpers)
    assert isinstance(topology, GraphSection)
    listed = tuple(_listed(topology, helpers > 0))
    return build_explicit(topology.workers, topology.names, listed, switches, own, helpers)


def _own_cable(scenario: "Scenario", rank: int, common: Cable) -> Cable:
    """Return a worker's cable with what `workers` changes on it."""
    worker = scenario.workers.get(rank)
    own = None if worker is None else worker.link
    changed = {} if own is None else {name: getattr(own, name) for name in own.model_fields_set}
    return Cable(
        changed.get("rate", common.rate_bps),
        changed.get("delay", common.delay_ps),
        changed.get("loss", common.loss),
        changed.get("queue", common.queue_bytes),
        common.link_class,
    )


def _cable(link: TrunkSection, rate_bps: int, link_class: str) -> Cable:
    return Cable(rate_bps, link.delay, link.loss, link.queue, link_class)


def _trunk(topology: HostsSection, link: TrunkSection, link_class: str) -> Cable:
    """Return a cable between switches, by default of the hosts' rate."""
    return _cable(link, link.rate or topology.link.rate, link_class)


def _spine_rate_bps(topology: LeafSpineSection, size: LeafSpine) -> int:
    if topology.spine_link.rate is not None:
        return topology.spine_link.rate
    oversubscription = topology.oversubscription or 1
    return spine_rate_bps(size, topology.link.rate, topology.nics, oversubscription)


def _shape(topology: HostsSection) -> HostShape:
    fast = topology.fast_link
    return HostShape(
        _cable(topology.link, topology.link.rate, "host"),
        topology.nics,
        topology.ranks,
        None if fast is None else _cable(fast, fast.rate, "fast"),
    )


def _listed(topology: GraphSection, server: bool) -> Iterator[NamedCable]:
    for link in topology.links:
        section = topology.link_classes[link.link_class]
        cable = _cable(section, section.rate, link.link_class)
        for source in link.source:
            for target in link.target:
                if server or "server" not in (source, target):
                    yield NamedCable(source, target, cable, link.count)


class Places:
    """What a scenario calls the nodes and links of a graph.

    A worker is its index or `worker3`, a switch its name, `server` a helping host and `all`
    every worker. `workers` of the network's `ranks` are workers.
    """

    def __init__(self, graph: Graph, hosts: tuple[int, ...], workers: int) -> None:
        self._graph = graph
        self._workers, self._helpers = hosts[:workers], hosts[workers:]
        self._named = {node.name: index for index, node in enumerate(graph.nodes)}

    def nodes(self, place: int | str) -> tuple[int, ...] | None:
        """Return the nodes of a place, none for an absent server; None for an unknown name."""
        if place == "all":
            return self._workers
        if place == "server":
            return self._helpers
        name = f"worker{place}" if isinstance(place, int) else place
        return (self._named[name],) if name in self._named else None

    def links(self, source: int | str, target: int | str) -> tuple[int, ...]:
        """Return the links from a place to another, in order of their numbers."""
        sources, targets = set(self.nodes(source) or ()), set(self.nodes(target) or ())
        into = (link for node in targets for link in self._graph.links_into[node])
        return tuple(sorted(x for x in into if self._graph.links[x].source in sources))

    def around(self, place: int | str) -> tuple[int, ...]:
        """Return all links of a place, both directions, in order of their numbers."""
        graph = self._graph
        nodes = self.nodes(place) or ()
        both = (graph.links_out, graph.links_into)
        return tuple(sorted({link for links in both for node in nodes for link in links[node]}))

    def neighbours(self, place: int | str) -> list[str]:
        """Return the names of the nodes that a place has links to."""
        graph = self._graph
        targets = [graph.links[link].target for link in self.around(place)]
        names = dict.fromkeys(graph.nodes[target].name for target in targets)
        own = {graph.nodes[node].name for node in self.nodes(place) or ()}
        return [name for name in names if name not in own]
