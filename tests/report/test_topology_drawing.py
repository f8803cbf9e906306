"""Networks are laid out in tiers and drawn the same every time."""

import xml.etree.ElementTree as ElementTree

import pytest

from innet.metrics.layout import layout_of
from innet.report.topology import draw_topology
from innet.scenario.load import parse_scenario
from innet.scenario.show import first_plan

LEAF_SPINE = "{kind: leaf_spine, racks: 2, hosts: 4, spines: 2, link: {rate: 1 Gbps}, uplinks: 3}"
FAST = (
    "{kind: leaf_spine, racks: 2, hosts: 2, spines: 1, ranks: 4, link: {rate: 1 Gbps}, "
    "fast_link: {rate: 9 Gbps}, aggregates: leaves}"
)
FAT_TREE = "{kind: fat_tree, k: 4, link: {rate: 1 Gbps}}"
BIG = "{kind: fat_tree, k: 8, link: {rate: 1 Gbps}}"
GRAPH = (
    "{kind: graph, workers: 2, switches: [a, b], link_classes: {x: {rate: 1 Gbps}}, links: ["
    "{from: worker0, to: a, class: x}, {from: worker1, to: b, class: x}, "
    "{from: a, to: b, class: x, count: 2}]}"
)
STAR = "{workers: 1, link: {rate: 1 Gbps}}"
EVERY = (LEAF_SPINE, FAST, FAT_TREE, BIG, GRAPH, STAR)


def graph_of(topology):
    text = "version: 1\nname: drawn\ncollective: {size: 4 B}\nalgorithms: [ring]\n"
    return first_plan(parse_scenario(f"{text}topology: {topology}\n")).graph


@pytest.mark.parametrize("topology", EVERY)
def test_every_node_has_a_place_of_its_own(topology):
    graph = graph_of(topology)
    layout = layout_of(graph)
    assert [node.name for node in layout.nodes] == [node.name for node in graph.nodes]
    assert [node.tier for node in layout.nodes] == list(graph.tiers)
    places = {(round(node.x, 3), node.tier) for node in layout.nodes}
    assert len(places) == len(layout.nodes)
    assert sum(cable.count for cable in layout.cables) == len(graph.links) // 2


def test_racks_stand_apart_with_their_leaf_above_their_middle():
    layout = layout_of(graph_of(LEAF_SPINE))
    assert layout.groups == ((0, 1, 2, 3), (4, 5, 6, 7))
    at = {node.name: node.x for node in layout.nodes}
    assert at["worker4"] - at["worker3"] > at["worker3"] - at["worker2"]
    assert at["leaf0"] == (at["worker0"] + at["worker3"]) / 2
    assert at["spine0"] + at["spine1"] == pytest.approx(at["leaf0"] + at["leaf1"])
    trunks = [cable for cable in layout.cables if cable.link_class == "spine"]
    assert [cable.count for cable in trunks] == [3] * 4


def test_hosts_of_several_ranks_are_groups_below_their_leaf():
    layout = layout_of(graph_of(FAST))
    assert [len(group) for group in layout.groups] == [4] * 4
    tiers = {node.name.rstrip("0123456789"): node.tier for node in layout.nodes}
    assert tiers == {"worker": 0, "host": 1, "leaf": 2, "spine": 3}
    assert {node.name for node in layout.nodes if node.aggregates} == {"leaf0", "leaf1"}


@pytest.mark.parametrize("topology", EVERY)
def test_a_drawing_is_the_same_every_time(topology):
    layout = layout_of(graph_of(topology))
    first = draw_topology(layout, "drawn", "svg")
    assert first == draw_topology(layout, "drawn", "svg")
    ElementTree.fromstring(first)


def test_the_legend_tells_each_class_and_which_switches_sum():
    drawn = draw_topology(layout_of(graph_of(FAST)), "a title", "svg").decode()
    # Texts are outlines in which matplotlib leaves what they say as comments.
    for told in (
        "a title",
        "fast: 16 \u00d7 9 Gbps, 1 us",
        "host: 4 \u00d7 1 Gbps, 1 us",
        "switch that can sum",
        "switch that forwards",
        "16 workers",
    ):
        assert f"<!-- {told} -->" in drawn
