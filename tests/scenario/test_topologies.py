"""Networks of several switches: good ones become plans, bad ones errors that say what is right."""

from collections import Counter

import pytest
import yaml

from innet.errors import ConfigurationError
from innet.plan.plan import NodeFault, TreeSwitch, one_switch
from innet.scenario.build import build_plan
from innet.scenario.load import expand, parse_scenario

HEAD = "version: 1\nname: base\ncollective: {size: 1 MiB, dtype: int32}\n"
LEAF_SPINE = """\
topology:
  kind: leaf_spine
  racks: 2
  hosts: 4
  spines: 2
  link: {rate: 100 Gbps, delay: 500 ns, queue: 1 MiB}
"""
FAT_TREE = "topology:\n  kind: fat_tree\n  k: 4\n  link: {rate: 100 Gbps}\n"
GRAPH = """\
topology:
  kind: graph
  workers: 3
  switches: [left, right]
  link_classes: {access: {rate: 10 Gbps}, trunk: {rate: 40 Gbps, delay: 5 us}}
  links:
    - {from: [worker0, worker1], to: left, class: access}
    - {from: [worker2, server], to: right, class: access}
    - {from: left, to: right, class: trunk, count: 2}
"""
RING = "algorithms: [ring]\n"


def text(topology, *added, algorithms=RING):
    return HEAD + algorithms + topology + "".join(f"{line}\n" for line in added)


def plan(topology, *added, algorithm="ring"):
    source = parse_scenario(text(topology, *added, algorithms=f"algorithms: [{algorithm}]\n"))
    return build_plan(source, algorithm, False, source.collective.elements)


def with_keys(topology, *keys):
    return topology + "".join(f"  {key}\n" for key in keys)


def cables(built):
    links = Counter(link.link_class for link in built.graph.links)
    return {name: count // 2 for name, count in links.items()}


def rates(built):
    return {link.link_class: link.rate_bps for link in built.graph.links}


def test_a_leaf_spine_is_not_oversubscribed_unless_it_says_so():
    built = plan(LEAF_SPINE)
    assert built.workers == 8
    assert cables(built) == {"host": 8, "spine": 4}
    assert rates(built) == {"host": 10**11, "spine": 2 * 10**11}
    assert rates(plan(with_keys(LEAF_SPINE, "oversubscription: 4")))["spine"] == 5 * 10**10
    given = with_keys(LEAF_SPINE, "spine_link: {rate: 40 Gbps, delay: 3 us, queue: 2 MiB}")
    spine = next(x for x in plan(given).graph.links if x.link_class == "spine")
    assert (spine.rate_bps, spine.delay_ps, spine.queue_bytes) == (4 * 10**10, 3 * 10**6, 2**21)


def test_hosts_of_several_ranks_and_interfaces():
    keys = ("ranks: 4", "nics: 2", "fast_link: {rate: 900 Gbps, delay: 100 ns}", "uplinks: 2")
    built = plan(with_keys(LEAF_SPINE, *keys, "latencies: {host: 150 ns, spine1: 2 us}"))
    assert built.workers == 32
    assert cables(built) == {"fast": 32, "host": 16, "spine": 8}
    # 4 hosts of 2 x 100 Gbps below 2 spines of 2 cables each.
    assert rates(built)["spine"] == 2 * 10**11
    latencies = {node.name: node.latency_ps for node in built.graph.nodes}
    assert (latencies["host0"], latencies["spine0"], latencies["spine1"]) == (
        150_000,
        400_000,
        2 * 10**6,
    )


def test_a_fat_tree_by_k_or_by_counts():
    built = plan(FAT_TREE)
    assert (built.workers, cables(built)) == (16, {"host": 16, "aggregation": 16, "core": 16})
    assert set(rates(built).values()) == {10**11}
    counts = "pods: 2, edges: 1, aggregations: 2, cores: 2, hosts: 3"
    built = plan(FAT_TREE.replace("k: 4", counts.replace(", ", "\n  ")))
    assert (built.workers, cables(built)) == (6, {"host": 6, "aggregation": 4, "core": 4})
    wide = plan(with_keys(FAT_TREE, "hosts: 8", "core_link: {rate: 400 Gbps}"))
    assert (wide.workers, rates(wide)["core"]) == (64, 4 * 10**11)


def test_a_graph_has_the_cables_that_it_lists_and_a_server_where_one_is_needed():
    built = plan(GRAPH)
    assert cables(built) == {"access": 3, "trunk": 2}
    helped = plan(GRAPH, algorithm="parameter_server")
    assert cables(helped) == {"access": 4, "trunk": 2}
    assert helped.graph.nodes[helped.hosts[3].node].name == "server"


def test_the_server_of_other_kinds_stands_in_the_first_rack():
    built = plan(LEAF_SPINE, algorithm="parameter_server")
    assert len(built.routes.path(8, 0)) == 2
    assert len(built.routes.path(8, 7)) == 4


@pytest.mark.parametrize(
    ("keys", "names"),
    [
        ((), {"leaf0", "leaf1", "spine0", "spine1"}),
        (("aggregates: all",), {"leaf0", "leaf1", "spine0", "spine1"}),
        (("aggregates: leaves",), {"leaf0", "leaf1"}),
        (("aggregates: [spine, leaf1]",), {"leaf1", "spine0", "spine1"}),
        (("aggregates: []",), set()),
    ],
)
def test_which_switches_can_sum(keys, names):
    nodes = plan(with_keys(LEAF_SPINE, *keys)).graph.nodes
    assert {node.name for node in nodes if node.aggregates} == names


def test_the_switch_within_a_host_sums_only_if_it_is_named():
    fast = ("ranks: 2", "fast_link: {rate: 1 Tbps}")
    usual = plan(with_keys(LEAF_SPINE, *fast))
    assert not any(node.aggregates for node in usual.graph.nodes if node.name.startswith("host"))
    named = plan(with_keys(LEAF_SPINE, *fast, "aggregates: [host, leaf]"))
    assert all(node.aggregates for node in named.graph.nodes if node.name.startswith("host"))


def test_a_worker_changes_its_own_cables():
    built = plan(LEAF_SPINE, "workers: {3: {start: 1 us, link: {rate: 25 Gbps, queue: null}}}")
    own = [x for x in built.graph.links if 3 in (x.source, x.target)]
    assert [(x.rate_bps, x.delay_ps, x.queue_bytes) for x in own] == [
        (25 * 10**9, 500_000, None),
        (25 * 10**9, 500_000, None),
    ]
    assert (built.hosts[3].start_ps, rates(built)["host"]) == (10**6, 10**11)


def link_names(built):
    nodes, links = built.graph.nodes, built.graph.links
    return [
        f"{nodes[links[fault.link].source].name} -> {nodes[links[fault.link].target].name}"
        for fault in built.packet_faults
    ]


@pytest.mark.parametrize(
    ("ends", "names"),
    [
        ("from: 3, to: leaf0", ["worker3 -> leaf0"]),
        ("from: leaf1, to: worker5", ["leaf1 -> worker5"]),
        ("from: leaf0, to: spine1", ["leaf0 -> spine1"]),
        ("from: all, to: leaf1", [f"worker{rank} -> leaf1" for rank in (4, 5, 6, 7)]),
    ],
)
def test_faults_name_links_by_their_two_nodes(ends, names):
    assert link_names(plan(LEAF_SPINE, f"faults: [{{drop: {{{ends}}}}}]")) == names


def test_parallel_cables_all_meet_a_fault_of_their_two_nodes():
    names = link_names(plan(GRAPH, "faults: [{drop: {from: left, to: right}}]"))
    assert names == ["left -> right"] * 2


def test_a_partition_and_a_pause_name_a_switch():
    built = plan(
        LEAF_SPINE,
        "faults:",
        "  - {partition: {node: spine0, at: 1 us, for: 1 us}}",
        "  - {pause: {node: leaf1, at: 1 us, for: 2 us}}",
    )
    assert sorted(link_names(built)) == sorted(
        f"{a} -> {b}"
        for leaf in ("leaf0", "leaf1")
        for a, b in ((leaf, "spine0"), ("spine0", leaf))
    )
    assert built.node_faults == (NodeFault("pause", 9, 10**6, 2 * 10**6),)


def test_a_fault_of_the_server_waits_for_an_algorithm_that_has_one():
    scenario = parse_scenario(
        text(
            GRAPH,
            "faults: [{drop: {from: server, to: right}}]",
            algorithms="algorithms: [ring, parameter_server]\n",
        )
    )
    built = [build_plan(scenario, name, False, 1) for name in scenario.algorithms]
    assert [link_names(each) for each in built] == [[], ["server -> right"]]


@pytest.mark.parametrize("topology", [LEAF_SPINE, FAT_TREE, GRAPH])
def test_the_resolved_form_reads_back_as_the_same_scenario(topology):
    scenario = parse_scenario(text(topology))
    written = yaml.safe_dump(scenario.resolved(), sort_keys=False)
    assert parse_scenario(written).model_dump() == scenario.model_dump()


def test_counts_of_a_topology_are_swept():
    scenario = parse_scenario(text(LEAF_SPINE, "sweep: {topology.racks: [1, 2, 4]}"))
    assert [point.scenario.topology.workers for point in expand(scenario)] == [4, 8, 16]


def test_in_network_runs_where_one_switch_sums_for_all():
    one = LEAF_SPINE.replace("racks: 2", "racks: 1")
    built = plan(one, algorithm="in_network")
    assert built.graph.nodes[built.aggregation.switch].name == "leaf0"
    assert built.aggregation.tree == one_switch(4, 4)


def test_in_network_sums_in_the_racks_and_then_above_them():
    tree = plan(LEAF_SPINE, algorithm="in_network").aggregation.tree
    # Nodes 8 and 9 are the leaves, 10 the first spine.
    assert tree == (
        TreeSwitch(10, switches=(1, 2)),
        TreeSwitch(8, 0, 0, (0, 1, 2, 3)),
        TreeSwitch(9, 0, 1, (4, 5, 6, 7)),
    )


def test_the_seed_decides_equal_routes():
    paths = {
        tuple(plan(LEAF_SPINE, f"seed: {seed}").routes.path(rank, rank + 4) for rank in range(4))
        for seed in range(6)
    }
    assert len(paths) > 1


def test_timeouts_come_from_the_longest_way_and_the_busiest_link():
    slow = with_keys(LEAF_SPINE, "spine_link: {rate: 1 Gbps, delay: 100 us}")
    built = plan(slow, "message: {window: 1}")
    # Two host links at 123.04 ns and 500 ns, two spine links at 12.304 us and 100 us, three
    # switches at 400 ns; acknowledgements take the delays and latencies alone.
    data = 2 * (123_040 + 500_000) + 2 * (12_304_000 + 100_000_000) + 3 * 400_000
    back = 2 * 500_000 + 2 * 100_000_000 + 3 * 400_000
    assert built.rto.initial_ps == 3 * (data + back)
    wide = plan(slow, "message: {window: 64}", algorithm="sharded_parameter_server")
    spines = [x for x in range(len(wide.graph.links)) if wide.graph.links[x].link_class == "spine"]
    pairs = [(one, other) for one in range(8) for other in range(8) if one != other]
    carried = max(
        sum(link in wide.routes.path(one, other) for one, other in pairs) for link in spines
    )
    assert wide.rto.initial_ps == 3 * 64 * max(carried, 7) * 12_304_000


BAD = [
    (LEAF_SPINE.replace("leaf_spine", "leafspine"), "s.yaml:6: topology.kind: 'leafspine' is not"),
    (LEAF_SPINE.replace("leaf_spine", "[1]"), "s.yaml:6: topology.kind: a list is not a topology"),
    ("topology: 3\n", "s.yaml:5: topology: must be a mapping of keys"),
    ("topology:\n  kind: star\n  racks: 2\n  workers: 2\n  link: {rate: 1 bps}\n",
     "s.yaml:7: topology.racks: unknown key 'racks'; known keys here: kind, workers, link"),
    (with_keys(LEAF_SPINE, "rakcs: 2"), "s.yaml:11: topology.rakcs: unknown key 'rakcs'; did you"),
    (LEAF_SPINE.replace("  racks: 2\n", ""), "s.yaml:5: topology.racks: this key is missing; R"),
    (LEAF_SPINE.replace("racks: 2", "racks: 0"), "s.yaml:7: topology.racks: 0 is not a whole"),
    (LEAF_SPINE.replace("racks: 2", "racks: 2000"),
     "s.yaml:5: topology: 8000 workers are too many; 4096 at most"),
    (LEAF_SPINE.replace("rate: 100 Gbps, ", ""),
     "s.yaml:10: topology.link.rate: this key is missing; Bits a second"),
    (with_keys(LEAF_SPINE, "ranks: 2"), "s.yaml:11: topology.ranks: several ranks a host need"),
    (with_keys(LEAF_SPINE, "fast_link: {rate: 1 Tbps}"),
     "s.yaml:11: topology.fast_link: hosts of one rank have no fast link"),
    (with_keys(LEAF_SPINE, "oversubscription: 0"),
     "s.yaml:11: topology.oversubscription: 0 is no oversubscription; write a number from 0.01"),
    (with_keys(LEAF_SPINE, "oversubscription: 2", "spine_link: {rate: 1 Gbps}"),
     "s.yaml:11: topology.oversubscription: spine_link.rate gives the oversubscription already"),
    (with_keys(LEAF_SPINE, "aggregates: some"),
     "s.yaml:11: topology.aggregates: 'some' does not say which switches can sum; write all, lea"),
    (with_keys(LEAF_SPINE, "aggregates: [leaf7]"),
     "s.yaml:11: topology.aggregates.0: there is no switch and no role 'leaf7'; the roles are"),
    (with_keys(LEAF_SPINE, "latencies: {core: 1 us}"),
     "s.yaml:11: topology.latencies.core: there is no switch and no role 'core'"),
    (with_keys(LEAF_SPINE, "latencies: {spine: 1}"),
     "s.yaml:11: topology.latencies.spine: 1 has no unit"),
    (FAT_TREE.replace("k: 4", "k: 5"), "s.yaml:7: topology.k: 5 is odd; a k-ary fat tree has"),
    (with_keys(FAT_TREE, "pods: 4"), "s.yaml:9: topology.pods: k gives the pods already"),
    (FAT_TREE.replace("k: 4", "pods: 4"),
     "s.yaml:5: topology: write k, or all counts: edges, aggregations, cores, hosts is missing"),
    (FAT_TREE.replace("k: 4", "pods: 2\n  edges: 2\n  aggregations: 2\n  cores: 3\n  hosts: 1"),
     "s.yaml:10: topology.cores: 3 cores cannot be shared evenly by 2 aggregations"),
    (GRAPH.replace("from: left", "from: middle"),
     "s.yaml:13: topology.links.2.from: there is no node 'middle'; nodes are worker0 to worker2"),
    (GRAPH.replace("to: right, class: trunk", "to: right, class: thick"),
     "s.yaml:13: topology.links.2.class: there is no class 'thick'; one of access, trunk"),
    (GRAPH.replace("from: left", "from: right"),
     "s.yaml:13: topology.links.2: a cable has two different ends"),
    (GRAPH.replace("[left, right]", "[left, right, left]"),
     "s.yaml:8: topology.switches.2: the name 'left' is taken"),
    (GRAPH.replace("[left, right]", "[left, right, worker1]"),
     "s.yaml:8: topology.switches.2: the name 'worker1' is taken"),
    (GRAPH.replace("    - {from: left, to: right, class: trunk, count: 2}\n", ""),
     "s.yaml:10: topology.links: no switches lead from worker0 to worker2; every worker needs"),
    (GRAPH.replace("[worker0, worker1]", "worker1"),
     "s.yaml:10: topology.links: worker0 has no cable to a switch"),
    (LEAF_SPINE + "faults: [{drop: {from: 3, to: leaf1}}]\n",
     "s.yaml:11: faults.0.drop.to: there is no link from 3 to leaf1; 3 has links to leaf0"),
    (LEAF_SPINE + "faults: [{drop: {from: leaf0, to: leaf1}}]\n",
     "s.yaml:11: faults.0.drop.to: there is no link from leaf0 to leaf1; leaf0 has links to"),
    (LEAF_SPINE + "faults: [{drop: {from: switch, to: 1}}]\n",
     "s.yaml:11: faults.0.drop.from: 'switch' is no place; write a worker's index or leaf0"),
    (LEAF_SPINE + "faults: [{crash: {node: spine7, at: 1 us}}]\n",
     "s.yaml:11: faults.0.crash.node: 'spine7' is no place; write a worker's index or leaf0"),
    (LEAF_SPINE + "workers: {8: {start: 1 us}}\n",
     "s.yaml:11: workers.8: there is no worker 8; there are 8: 0 to 7"),
]  # fmt: skip


@pytest.mark.parametrize(("topology", "beginning"), BAD)
def test_a_bad_network_is_refused_with_line_key_and_what_is_allowed(topology, beginning):
    with pytest.raises(ConfigurationError) as caught:
        parse_scenario(text(topology), "s.yaml")
    assert str(caught.value).startswith(beginning)
    assert caught.value.exit_code == 2


def test_in_network_without_a_switch_that_sums_is_refused():
    mute = with_keys(LEAF_SPINE, "aggregates: []")
    with pytest.raises(ConfigurationError) as caught:
        parse_scenario(text(mute, algorithms="algorithms: [ring, in_network]\n"), "s.yaml")
    assert str(caught.value).startswith("s.yaml:4: algorithms.1: in_network needs a switch that")


def test_a_parameter_server_needs_a_cable_in_a_graph():
    alone = GRAPH.replace("[worker2, server]", "worker2")
    with pytest.raises(ConfigurationError) as caught:
        parse_scenario(text(alone, algorithms="algorithms: [parameter_server]\n"), "s.yaml")
    assert str(caught.value).startswith("s.yaml:10: topology.links: parameter_server needs a host")


def test_a_bad_value_of_a_sweep_or_an_option_is_located_there():
    swept = text(LEAF_SPINE, "sweep: {topology.racks: [2, 0]}")
    with pytest.raises(ConfigurationError) as caught:
        parse_scenario(swept, "s.yaml")
    assert str(caught.value).startswith("s.yaml:11: topology.racks: 0 is not a whole number")
    with pytest.raises(ConfigurationError) as caught:
        parse_scenario(text(LEAF_SPINE), "s.yaml", ["topology.aggregates=[rack]"])
    assert str(caught.value).startswith("--set topology.aggregates: topology.aggregates.0: there")
