"""A star has one cable a host; routes lead through the switch."""

from innet.topology.graph import Graph
from innet.topology.star import Cable, build_star, downlink, host_node, uplink


def star(workers: int, helpers: int = 0) -> Graph:
    cables = [Cable(10**9 + rank, 10 + rank, 0.1, 1000) for rank in range(workers + helpers)]
    return build_star(cables, workers, 400_000)


def test_nodes_are_workers_then_switch_then_server():
    graph = star(2, helpers=1)
    assert [(node.name, node.kind) for node in graph.nodes] == [
        ("worker0", "host"),
        ("worker1", "host"),
        ("switch", "switch"),
        ("server", "host"),
    ]
    assert graph.nodes[2].latency_ps == 400_000
    assert [host_node(rank, 2) for rank in range(3)] == [0, 1, 3]


def test_each_host_has_an_uplink_and_a_downlink_of_its_own_cable():
    graph = star(2, helpers=1)
    for rank in range(3):
        up, down = graph.links[uplink(rank)], graph.links[downlink(rank)]
        node = host_node(rank, 2)
        assert (up.source, up.target) == (node, 2)
        assert (down.source, down.target) == (2, node)
        assert up.rate_bps == down.rate_bps == 10**9 + rank
        assert up.delay_ps == down.delay_ps == 10 + rank
        assert up.loss == down.loss == 0.1


def test_only_switch_ports_have_a_queue_limit():
    graph = star(3)
    assert all(graph.links[uplink(rank)].queue_bytes is None for rank in range(3))
    assert all(graph.links[downlink(rank)].queue_bytes == 1000 for rank in range(3))
