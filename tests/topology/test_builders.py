"""Builders: counts by formula, connectivity, names, hosts of several ranks, own cables."""

from collections import Counter
from dataclasses import replace

import pytest

from innet.topology.explicit import NamedCable, build_explicit
from innet.topology.fat_tree import FatTree, FatTreeCables, build_fat_tree, k_ary
from innet.topology.leaf_spine import LeafSpine, build_leaf_spine, spine_rate_bps
from innet.topology.routes import shortest_routes
from innet.topology.star import Cable
from innet.topology.wiring import HostShape, Network, SwitchSettings

NIC = Cable(10**11, 500_000, queue_bytes=1000, link_class="host")
FAST = Cable(9 * 10**11, 100_000, link_class="fast")
SPINE = Cable(4 * 10**11, 10**6, queue_bytes=2000, link_class="spine")
CORE = Cable(2 * 10**11, 2 * 10**6, link_class="core")
SWITCHES = SwitchSettings(400_000, {"spine": 700_000, "spine1": 900_000}, frozenset({"leaf"}))


def names(network: Network, kind: str) -> list[str]:
    return [node.name for node in network.graph.nodes if node.kind == kind]


def cables(network: Network) -> Counter[str]:
    """How many cables of each class there are."""
    links = Counter(link.link_class for link in network.graph.links)
    assert all(count % 2 == 0 for count in links.values())
    return Counter({name: count // 2 for name, count in links.items()})


def longest_path(network: Network) -> int:
    """Links of the longest path between ranks; every pair has one."""
    routes = shortest_routes(network.graph, network.hosts)
    ranks = range(len(network.hosts))
    paths = [len(routes.path(one, other)) for one in ranks for other in ranks if one != other]
    assert min(paths) > 0
    return max(paths)


@pytest.mark.parametrize(("racks", "hosts", "spines"), [(1, 1, 1), (2, 4, 2), (5, 3, 4)])
def test_a_leaf_spine_has_a_leaf_a_rack_and_a_cable_to_every_spine(racks, hosts, spines):
    network = build_leaf_spine(LeafSpine(racks, hosts, spines), HostShape(NIC), SPINE, SWITCHES)
    assert names(network, "host") == [f"worker{rank}" for rank in range(racks * hosts)]
    assert names(network, "switch") == [
        *(f"leaf{rack}" for rack in range(racks)),
        *(f"spine{place}" for place in range(spines)),
    ]
    assert cables(network) == {"host": racks * hosts, "spine": racks * spines}
    assert network.hosts == tuple(range(racks * hosts))
    if racks > 1:
        assert longest_path(network) == 4


def test_uplinks_and_interfaces_are_parallel_cables():
    network = build_leaf_spine(
        LeafSpine(2, 3, 2, uplinks=3), HostShape(NIC, nics=2), SPINE, SWITCHES
    )
    assert cables(network) == {"host": 2 * 3 * 2, "spine": 2 * 2 * 3}
    routes = shortest_routes(network.graph, network.hosts)
    assert len(routes.choices(0, 5)) == 2
    leaf = network.graph.links[routes.choices(0, 5)[0]].target
    assert len(routes.choices(leaf, 5)) == 2 * 3


def test_switches_have_latencies_and_sum_by_name_or_role():
    network = build_leaf_spine(LeafSpine(2, 1, 2), HostShape(NIC), SPINE, SWITCHES)
    switches = [node for node in network.graph.nodes if node.kind == "switch"]
    assert [node.latency_ps for node in switches] == [400_000, 400_000, 700_000, 900_000]
    assert [node.aggregates for node in switches] == [True, True, False, False]
    named = replace(SWITCHES, aggregating=frozenset({"spine0", "leaf1"}))
    network = build_leaf_spine(LeafSpine(2, 1, 2), HostShape(NIC), SPINE, named)
    switches = [node for node in network.graph.nodes if node.kind == "switch"]
    assert [node.aggregates for node in switches] == [False, True, True, False]


def test_only_ports_of_switches_have_a_queue_limit():
    network = build_leaf_spine(LeafSpine(2, 2, 1), HostShape(NIC), SPINE, SWITCHES, helpers=1)
    for link in network.graph.links:
        source = network.graph.nodes[link.source]
        limit = {"host": 1000, "spine": 2000}[link.link_class]
        assert link.queue_bytes == (limit if source.kind == "switch" else None)


def test_a_host_of_several_ranks_has_a_switch_of_its_own_between_them_and_its_interfaces():
    shape = HostShape(NIC, nics=2, ranks=4, fast=FAST)
    network = build_leaf_spine(LeafSpine(2, 2, 1), shape, SPINE, SWITCHES)
    assert names(network, "host") == [f"worker{rank}" for rank in range(16)]
    assert names(network, "switch")[:4] == ["host0", "host1", "host2", "host3"]
    assert cables(network) == {"fast": 16, "host": 4 * 2, "spine": 2}
    routes = shortest_routes(network.graph, network.hosts)
    by_class = [
        [network.graph.links[link].link_class for link in routes.path(0, other)]
        for other in (3, 4, 8)
    ]
    assert by_class == [
        ["fast", "fast"],
        ["fast", "host", "host", "fast"],
        ["fast", "host", "spine", "spine", "host", "fast"],
    ]
    assert longest_path(network) == 6


def test_helpers_stand_in_the_first_rack_after_all_switches():
    network = build_leaf_spine(LeafSpine(2, 2, 1), HostShape(NIC), SPINE, SWITCHES, helpers=1)
    assert network.hosts == (0, 1, 2, 3, 7)
    assert network.graph.nodes[7].name == "server"
    routes = shortest_routes(network.graph, network.hosts)
    assert (len(routes.path(4, 0)), len(routes.path(4, 3))) == (2, 4)


def test_oversubscription_is_the_rate_down_over_the_rate_up():
    # 8 hosts of 2 x 100 Gbps over 4 spines with 1 cable each: 400 Gbps each for none.
    assert spine_rate_bps(LeafSpine(4, 8, 4), 10**11, 2, 1) == 4 * 10**11
    assert spine_rate_bps(LeafSpine(4, 8, 4, uplinks=2), 10**11, 2, 4) == 5 * 10**10
    assert spine_rate_bps(LeafSpine(1, 1, 64), 1, 1, 64) == 1


@pytest.mark.parametrize("k", [2, 4, 6, 8])
def test_a_k_ary_fat_tree_has_the_counts_of_al_fares(k):
    network = build_fat_tree(k_ary(k), HostShape(NIC), FatTreeCables(SPINE, CORE), SWITCHES)
    roles = Counter(name.rstrip("0123456789-") for name in names(network, "switch"))
    assert len(names(network, "host")) == k**3 // 4
    assert roles == {"edge": k * k // 2, "aggregation": k * k // 2, "core": k * k // 4}
    assert cables(network) == {"host": k**3 // 4, "spine": k**3 // 4, "core": k**3 // 4}
    if k <= 4:
        assert longest_path(network) == 6
    ports = [len(network.graph.links_out[node]) for node in network.graph.switches]
    assert set(ports) == {k}


def test_ranks_of_different_pods_have_a_path_by_every_core():
    network = build_fat_tree(k_ary(4), HostShape(NIC), FatTreeCables(SPINE, CORE), SWITCHES)
    routes = shortest_routes(network.graph, network.hosts)
    cores = {network.graph.links[routes.path(0, 15, flow)[2]].target for flow in range(100)}
    assert len(cores) == 4
    assert [len(routes.path(0, rank)) for rank in (1, 2, 4)] == [2, 4, 6]


def test_a_fat_tree_may_have_any_counts():
    size = FatTree(pods=3, edges=2, aggregations=2, cores=4, hosts=5)
    network = build_fat_tree(size, HostShape(NIC), FatTreeCables(SPINE, CORE), SWITCHES, helpers=1)
    assert cables(network) == {"host": 30 + 1, "spine": 3 * 2 * 2, "core": 3 * 4}
    assert longest_path(network) == 6
    assert names(network, "switch")[5:7] == ["edge2-1", "aggregation0-0"]


def test_an_explicit_network_has_the_cables_that_are_listed():
    listed = [
        NamedCable("worker0", "left", NIC),
        NamedCable("worker1", "right", NIC, 2),
        NamedCable("left", "right", SPINE),
        NamedCable("server", "right", CORE),
    ]
    network = build_explicit(2, ["left", "right", "alone"], listed, SWITCHES, helpers=1)
    assert [node.name for node in network.graph.nodes] == [
        "worker0", "worker1", "left", "right", "alone", "server",
    ]  # fmt: skip
    assert cables(network) == {"host": 3, "spine": 1, "core": 1}
    assert network.hosts == (0, 1, 5)
    assert [node.aggregates for node in network.graph.nodes[2:5]] == [True, True, False]


def test_a_worker_changes_the_cables_that_end_at_it():
    def own(worker: int, cable: Cable) -> Cable:
        return replace(cable, rate_bps=worker + 1)

    shape = HostShape(NIC, ranks=2, fast=FAST)
    network = build_leaf_spine(LeafSpine(2, 1, 1), shape, SPINE, SWITCHES, own)
    rates = {link.link_class: set() for link in network.graph.links}
    for link in network.graph.links:
        rates[link.link_class].add(link.rate_bps)
    assert rates == {"fast": {1, 2, 3, 4}, "host": {10**11}, "spine": {4 * 10**11}}
