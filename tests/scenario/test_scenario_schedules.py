"""Plans of point-to-point algorithms: schedules, streams and the parameter server."""

from made_plans import plan, scenario

from innet.plan.plan import NodeFault


def test_faults_of_the_server_are_met_only_by_the_algorithm_that_has_one():
    source = scenario(
        "faults:",
        "  - {drop: {from: server, to: switch, packet: first}}",
        "  - {crash: {node: server, at: 1 us}}",
    )
    without = plan(source, "ring")
    assert (without.packet_faults, without.node_faults) == ((), ())
    served = plan(source, "parameter_server")
    assert [fault.link for fault in served.packet_faults] == [8]
    assert served.node_faults == (NodeFault("crash", 5, 10**6),)


def test_a_point_to_point_plan_has_a_schedule_and_streams():
    built = plan(scenario("message: {window: 32, recovery: go_back_n, ack: 84 B}"), "ring")
    assert built.aggregation is None
    assert built.schedule is not None
    assert built.schedule.algorithm == "ring"
    assert built.schedule.ranks == 4
    stream = built.stream
    assert stream is not None
    assert (stream.payload_bytes, stream.overhead_bytes, stream.ack_bytes) == (1460, 78, 84)
    assert (stream.window, stream.recovery) == (32, "go_back_n")
    assert len(built.hosts) == 4


def test_a_parameter_server_is_one_more_host_behind_the_switch():
    built = plan(scenario(), "parameter_server")
    assert [node.name for node in built.graph.nodes[3:]] == ["worker3", "switch", "server"]
    assert [host.node for host in built.hosts] == [0, 1, 2, 3, 5]
    assert [built.routes.link(4, 0, rank) for rank in range(5)] == [1, 3, 5, 7, 9]
    assert built.graph.links[9].queue_bytes == 2**20


def test_streams_that_share_a_cable_lengthen_the_first_timeout():
    built = plan(scenario(**{"10 Gbps": "100 Mbps"}), "ring")
    # 3 streams x 64 packets x 1538 B at 100 Mbps.
    assert built.rto.initial_ps == 3 * 3 * 64 * 123_040_000
