"""Aggregation trees over any graph, also where only some switches can sum."""

import pytest

from innet.engine.simulate import simulate
from innet.metrics.bounds import lower_bound_ps
from innet.metrics.traffic import class_bytes, finish_time_ps
from innet.plan.plan import one_switch
from innet.plan.tree import aggregation_tree
from innet.scenario.build import build_plan
from innet.scenario.load import parse_scenario
from innet.topology.routes import shortest_routes
from innet.topology.star import Cable, build_star

HEAD = "version: 1\nname: t\ncollective: {size: 256 KiB, dtype: int32}\nalgorithms: [in_network]\n"


def plan_of(topology, *more):
    scenario = parse_scenario(f"{HEAD}topology: {topology}\n" + "".join(f"{x}\n" for x in more))
    return build_plan(scenario, "in_network", False, scenario.collective.elements)


def named(plan):
    """(switch, its parent, its workers) for every switch of the tree, checked for consistency."""
    tree, nodes = plan.aggregation.tree, plan.graph.nodes
    workers = [worker for switch in tree for worker in switch.workers]
    assert sorted(workers) == list(range(plan.workers))
    for place, switch in enumerate(tree):
        assert nodes[switch.node].aggregates
        children = [tree[below] for below in switch.switches]
        assert all(child.parent == place for child in children)
        assert [child.place for child in children] == [
            len(switch.workers) + x for x in range(len(children))
        ]
        assert all(below > place for below in switch.switches)
    assert [switch.parent for switch in tree].count(-1) == 1
    return [
        (
            nodes[switch.node].name,
            None if switch.parent < 0 else nodes[tree[switch.parent].node].name,
            len(switch.workers),
        )
        for switch in tree
    ]


def leaf_spine(more=""):
    return (
        "{kind: leaf_spine, racks: 3, hosts: 4, spines: 2, link: {rate: 10 Gbps, delay: 500 ns}, "
        f"spine_link: {{delay: 2 us}}{more}}}"
    )


def test_a_star_has_its_one_switch():
    routes = shortest_routes(build_star([Cable(1, 0)] * 5, 4, 0), [0, 1, 2, 3, 5])
    # Node 4 is the switch, rank 4 a helper.
    built = build_star([Cable(1, 0)] * 5, 4, 0)
    assert built.nodes[4].aggregates
    assert aggregation_tree(routes, range(4)) == one_switch(4, 4)


def test_a_group_within_a_rack_sums_in_its_leaf():
    plan = plan_of(leaf_spine())
    assert aggregation_tree(plan.routes, [5, 7]) == one_switch(13, 2)


def test_racks_sum_in_their_leaves_and_these_in_a_spine():
    assert named(plan_of(leaf_spine())) == [
        ("spine0", None, 0),
        ("leaf0", "spine0", 4),
        ("leaf1", "spine0", 4),
        ("leaf2", "spine0", 4),
    ]


@pytest.mark.parametrize(
    ("aggregates", "tree"),
    [
        ("leaves", [("leaf0", None, 4), ("leaf1", "leaf0", 4), ("leaf2", "leaf0", 4)]),
        ("[spine]", [("spine0", None, 12)]),
        ("[spine1, leaf2]", [("spine1", None, 8), ("leaf2", "spine1", 4)]),
        ("[leaf1]", [("leaf1", None, 12)]),
    ],
)
def test_only_switches_that_can_sum_are_in_the_tree(aggregates, tree):
    assert named(plan_of(leaf_spine(f", aggregates: {aggregates}"))) == tree


def test_a_switch_with_one_child_forwards():
    one = leaf_spine().replace("hosts: 4", "hosts: 1")
    assert named(plan_of(one)) == [("spine0", None, 3)]


def test_the_pods_of_a_fat_tree_sum_at_every_tier():
    tree = named(plan_of("{kind: fat_tree, k: 4, link: {rate: 10 Gbps}}"))
    assert tree[0] == ("core0", None, 0)
    assert [name for name, parent, _ in tree if parent == "core0"] == [
        f"aggregation{pod}-0" for pod in range(4)
    ]
    assert [workers for name, _, workers in tree if name.startswith("edge")] == [2] * 8


def test_switches_within_hosts_sum_first_where_they_can():
    more = ", ranks: 2, fast_link: {rate: 1 Tbps}, aggregates: [host, leaf, spine]"
    tree = named(plan_of(leaf_spine(more)))
    assert len(tree) == 1 + 3 + 12
    assert {parent for name, parent, _ in tree if name.startswith("host")} == {
        "leaf0",
        "leaf1",
        "leaf2",
    }


def test_no_tree_without_a_switch_that_sums():
    plan = plan_of(leaf_spine())
    silent = tuple(type(node)(node.name, node.kind, node.latency_ps) for node in plan.graph.nodes)
    graph = type(plan.graph)(silent, plan.graph.links)
    assert aggregation_tree(shortest_routes(graph, plan.routes.hosts), range(12)) == ()


@pytest.mark.parametrize(
    ("more", "right_ps"),
    [
        # 256 chunks of 1100 B: 880 ns at 10 Gbps; spine cables have 20 Gbps, so 440 ns.
        ("", (256 + 1) * 880_000 + 2 * 440_000 + 2 * 500_000 + 4 * 10**6 + 3 * 400_000),
        (
            ", oversubscription: 8",
            # 4 x 10 Gbps over 2 spines at a quarter of the hosts' rate: 3520 ns.
            (256 + 1) * 3_520_000 + 2 * 880_000 + 2 * 500_000 + 4 * 10**6 + 3 * 400_000,
        ),
    ],
)
def test_the_reference_engine_ends_at_the_closed_form_of_two_tiers(more, right_ps):
    plan = plan_of(leaf_spine(more))
    trace = simulate(plan, engine="reference")
    assert finish_time_ps(plan, trace) == lower_bound_ps(plan) == right_ps
    # Every cable to the spine carries the tensor once, up and down, however many the workers.
    packets = 256 * 1100
    assert class_bytes(plan, trace) == {"host": 2 * 12 * packets, "spine": 2 * 3 * packets}


def test_leaves_that_only_forward_send_every_workers_packets_up():
    plan = plan_of(leaf_spine(", aggregates: [spine0]"))
    packets = 256 * 1100
    found = class_bytes(plan, simulate(plan, engine="reference"))
    assert found == {"host": 2 * 12 * packets, "spine": 2 * 12 * packets}
