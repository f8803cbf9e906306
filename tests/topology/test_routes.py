"""Shortest routes, and which of several equal ones a flow takes."""

from collections import Counter

import pytest

from innet.topology.graph import Graph, Link, Node
from innet.topology.routes import shortest_routes
from innet.topology.star import Cable, build_star


def graph_of(kinds: str, cables: list[tuple[int, int]]) -> Graph:
    """Nodes of `kinds` (h or s) and a link each way for every cable: 2c forwards, 2c + 1 back."""
    nodes = tuple(
        Node(f"node{place}", "host" if kind == "h" else "switch")
        for place, kind in enumerate(kinds)
    )
    links = [Link(*ends, 10**9, 0) for a, b in cables for ends in ((a, b), (b, a))]
    return Graph(nodes, tuple(links))


def two_tiers(leaves: int, spines: int, hosts: int = 2) -> tuple[Graph, list[int]]:
    """Hosts first, `hosts` a leaf, then leaves, then spines, every leaf linked to every spine."""
    count = leaves * hosts
    cables = [(host, count + host // hosts) for host in range(count)]
    cables += [
        (count + leaf, count + leaves + spine) for leaf in range(leaves) for spine in range(spines)
    ]
    return graph_of("h" * count + "s" * (leaves + spines), cables), list(range(count))


def test_routes_of_a_star_go_up_then_down():
    graph = build_star([Cable(10**9, 0)] * 3, 2, 0)
    routes = shortest_routes(graph, [0, 1, 3])
    assert [routes.path(0, rank) for rank in range(3)] == [(), (0, 3), (0, 5)]
    assert [routes.link(2, 0, rank) for rank in range(3)] == [1, 3, 5]
    assert routes.link(3, 2, 2) == -1


def test_one_worker_has_a_route_from_the_switch():
    routes = shortest_routes(build_star([Cable(10**9, 0)], 1, 0), [0])
    assert (routes.path(0, 0), routes.link(1, 0, 0)) == ((), 1)


def test_routes_take_the_fewest_switches_and_never_cross_a_host():
    # host 0 - switch 1 - host 2 - switch 3 - host 4, and a longer way 1 - 5 - 3 without hosts.
    graph = graph_of("hshshs", [(0, 1), (1, 2), (2, 3), (3, 4), (1, 5), (5, 3)])
    routes = shortest_routes(graph, [0, 4, 2])
    assert [graph.links[link].target for link in routes.path(0, 1)] == [1, 5, 3, 4]
    assert [graph.links[link].target for link in routes.path(2, 1)] == [3, 4]


def test_hosts_may_be_linked_without_a_switch():
    routes = shortest_routes(graph_of("hh", [(0, 1)]), [0, 1])
    assert (routes.path(0, 1), routes.path(1, 0)) == ((0,), (1,))


def test_a_host_that_cannot_be_reached_has_no_route():
    graph = graph_of("hshs", [(0, 1), (2, 3)])
    routes = shortest_routes(graph, [0, 2])
    assert (routes.path(0, 1), routes.path_between(1, 3), routes.choices(0, 2)) == ((), (), ())
    assert routes.link(0, 0, 1) == -1


def test_every_equal_route_is_a_choice_and_no_longer_one():
    graph, hosts = two_tiers(leaves=3, spines=4)
    routes = shortest_routes(graph, hosts)
    leaf = 6
    assert {graph.links[link].target for link in routes.choices(leaf, 5)} == {9, 10, 11, 12}
    assert routes.choices(leaf, 1) == (3,)
    assert [graph.links[link].target for link in routes.choices(9, 5)] == [8]
    assert len(routes.path(0, 1)) == 2
    assert len(routes.path(0, 5)) == 4


def test_a_path_goes_where_every_node_on_it_forwards():
    graph, hosts = two_tiers(leaves=4, spines=3)
    routes = shortest_routes(graph, hosts, seed=5)
    for flow in range(20):
        path = routes.path(0, 7, flow)
        nodes = [graph.links[link].source for link in path]
        assert [routes.forwarding(node)[0, 7, flow] for node in nodes] == list(path)
        assert graph.links[path[-1]].target == hosts[7]


def test_flows_spread_evenly_over_equal_routes_and_keep_theirs():
    graph, hosts = two_tiers(leaves=2, spines=4)
    routes = shortest_routes(graph, hosts, seed=1)
    again = shortest_routes(graph, hosts, seed=1)
    taken = [routes.path(0, 3, flow)[1] for flow in range(4000)]
    assert taken == [again.path(0, 3, flow)[1] for flow in range(4000)]
    # 1000 of 4000 each, with a standard deviation of 27.4: five of them either way.
    assert all(863 <= count <= 1137 for count in Counter(taken).values())
    assert len(set(taken)) == 4


def test_pairs_of_ranks_and_the_seed_decide_too():
    graph, hosts = two_tiers(leaves=2, spines=4, hosts=32)
    taken = [
        tuple(shortest_routes(graph, hosts, seed).path(rank, 32 + rank)[1] for rank in range(32))
        for seed in range(3)
    ]
    assert len(set(taken)) == 3
    spines = [graph.links[link].target for link in taken[0]]
    assert len(set(spines)) == 4


def test_a_choice_does_not_repeat_that_of_the_node_before():
    # Two stages of two equal ways: all four paths are taken, as no hash is used twice.
    cables = [(0, 1), (1, 2), (1, 3), (2, 4), (3, 4), (4, 5), (4, 6), (5, 7), (6, 7), (7, 8)]
    routes = shortest_routes(graph_of("hsssssssh", cables), [0, 8])
    paths = Counter(routes.path(0, 1, flow) for flow in range(400))
    assert len(paths) == 4
    assert min(paths.values()) > 56  # 100 expected, standard deviation 8.7


def test_parallel_cables_share_the_flows():
    routes = shortest_routes(graph_of("hssh", [(0, 1), (1, 2), (1, 2), (2, 3)]), [0, 3])
    assert routes.choices(1, 3) == (2, 4)
    assert {routes.path(0, 1, flow)[1] for flow in range(40)} == {2, 4}


def test_a_host_with_several_cables_takes_those_on_shortest_paths():
    # Host 0 has two cables; only switch 2 is next to host 4's switch.
    routes = shortest_routes(graph_of("hsssh", [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4)]), [0, 4])
    assert routes.choices(0, 4) == (2,)
    assert routes.choices(0, 1) == (0,)


def test_paths_lead_to_switches_too():
    graph, hosts = two_tiers(leaves=2, spines=2)
    routes = shortest_routes(graph, hosts)
    assert [graph.links[link].target for link in routes.path_between(0, 6)] == [4, 6]
    up, down = routes.path_between(4, 5)
    assert graph.links[up].target == graph.links[down].source
    assert graph.links[down].target == 5


def test_rows_are_shared_by_hosts_behind_the_same_switch():
    graph, hosts = two_tiers(leaves=8, spines=4, hosts=128)
    routes = shortest_routes(graph, hosts)
    for rank in range(1024):
        assert len(routes.path(rank, (rank + 128) % 1024)) == 4
    assert len(routes._rows) == 8
    assert all(len(row) == 12 for row in routes._rows.values())


@pytest.mark.parametrize(("node", "tier"), [(0, 0), (8, 1), (11, 1), (12, 2), (13, 2)])
def test_tiers_count_from_the_hosts(node, tier):
    graph, _ = two_tiers(leaves=4, spines=2)
    assert graph.tiers[node] == tier
