"""A plan has everything resolved: graph, routes, timers, sizes and faults."""

import pytest
from made_plans import plan, scenario

from innet.plan.plan import NodeFault, PacketFault
from innet.scenario.build import should_check


def test_an_aggregation_plan_has_the_packets_of_the_wire_format():
    built = plan(scenario())
    aggregation = built.aggregation
    assert aggregation is not None
    assert (built.stream, built.schedule) == (None, None)
    assert aggregation.switch == 4
    assert (aggregation.slots, aggregation.guard) == (128, True)
    assert (aggregation.elements_per_packet, aggregation.packet_bytes) == (32, 204)
    assert aggregation.help_bytes == 84
    assert not aggregation.exponent_round
    assert (built.name, built.seed, built.elements, built.dtype) == ("base", 9, 262_144, "int32")
    assert (built.workers, built.carry_payload) == (4, True)


@pytest.mark.parametrize(("dtype", "elements"), [("float32", 262_144), ("float16", 524_288)])
def test_floats_take_four_bytes_on_the_wire_and_a_round_of_exponents(dtype, elements):
    built = plan(scenario(int32=dtype))
    assert built.elements == elements
    assert built.aggregation is not None
    assert built.aggregation.packet_bytes == 204
    assert built.aggregation.exponent_round


def test_hosts_and_links_follow_what_workers_change():
    built = plan(
        scenario(
            "host: {send: 10 ns, receive: 20 ns, cores: 2}",
            "workers: {2: {start: 5 us, link: {rate: 1 Gbps, queue: null}, host: {receive: 1 ns}}}",
        )
    )
    usual, changed = built.hosts[1], built.hosts[2]
    assert (usual.node, usual.start_ps, usual.send_ps, usual.receive_ps) == (1, 0, 10**4, 2 * 10**4)
    assert (changed.node, changed.start_ps, changed.receive_ps) == (2, 5 * 10**6, 1000)
    assert (changed.send_ps, changed.cores) == (10**4, 2)
    up, down = built.graph.links[4], built.graph.links[5]
    assert up.rate_bps == down.rate_bps == 10**9
    assert up.loss == down.loss == 0.01
    assert (up.queue_bytes, down.queue_bytes) == (None, None)
    assert [link.queue_bytes for link in built.graph.links[:2]] == [None, 2**20]
    assert [built.routes.link(4, 0, rank) for rank in range(4)] == [1, 3, 5, 7]


def test_an_adaptive_timeout_starts_above_the_loaded_round_trip():
    built = plan(scenario())
    # Unloaded: 2 x (163.2 ns + 1 us) + 1 us; loaded: 128 x 163.2 ns = 20.9 us, below 1 ms / 3.
    assert built.rto.adaptive
    assert built.rto.initial_ps == 10**9
    assert built.rto.minimum_ps == 2 * 128 * 163_200
    assert built.rto.maximum_ps == 64 * 10**9
    slow = plan(scenario(**{"10 Gbps": "100 Mbps"}))
    assert slow.rto.initial_ps == 3 * 128 * 16_320_000


def test_the_slowest_cable_and_host_decide_the_timeout():
    slow = plan(scenario("workers: {1: {link: {rate: 10 Mbps}}}"))
    assert slow.rto.initial_ps == 3 * 128 * 163_200_000
    busy = plan(scenario("workers: {1: {host: {send: 100 us}}}"))
    assert busy.rto.initial_ps == 3 * 128 * 10**8


def test_a_given_timeout_is_fixed_and_backs_off():
    rto = plan(scenario("host: {rto: 2 ms}")).rto
    assert (rto.adaptive, rto.initial_ps, rto.minimum_ps) == (False, 2 * 10**9, 2 * 10**9)
    assert rto.maximum_ps == 64 * 2 * 10**9


def test_patience_outlasts_the_timeouts_and_the_last_event():
    # 1 % loss each way loses 1.99 % of round trips: eight in a row once in 4 * 10**13 times.
    quiet = plan(scenario())
    assert quiet.patience_ps == 8 * quiet.rto.maximum_ps
    late = plan(scenario("workers: {0: {start: 3 s}}"))
    assert late.patience_ps == 8 * late.rto.maximum_ps + 3 * 10**12
    paused = plan(scenario("faults: [{pause: {node: 0, at: 1 s, for: 4 s}}]"))
    assert paused.patience_ps == 8 * paused.rto.maximum_ps + 5 * 10**12


def test_patience_grows_with_the_chance_that_faults_lose_packets():
    lossy = "faults: [{corrupt: {from: 0, to: switch, packet: all, probability: 0.5}}]"
    built = plan(scenario(lossy))
    # 49 % of round trips succeed: 42 failures in a row are the first below 10**-12.
    assert built.patience_ps == 42 * built.rto.maximum_ps


def test_a_network_without_losses_is_given_four_timeouts():
    built = plan(scenario(**{"loss: 0.01": "loss: 0"}))
    assert built.patience_ps == 4 * built.rto.maximum_ps


def test_the_limit_of_simulated_time_is_an_hour_or_as_given():
    assert plan(scenario()).maximum_time_ps == 3600 * 10**12
    assert plan(scenario("limit: 5 s")).maximum_time_ps == 5 * 10**12


def test_a_drop_on_an_uplink_and_one_on_every_downlink():
    built = plan(
        scenario(
            "faults:",
            "  - {drop: {from: 2, to: switch, packet: first, kind: update, chunk: 7}}",
            "  - {delay: {from: switch, to: all, packet: [5, 3, 5], by: 1 us, after: 2 us}}",
            "  - {corrupt: {from: switch, to: 0, probability: 0.5, until: 9 us}}",
        )
    )
    assert built.packet_faults == (
        PacketFault("drop", 4, packets=(1,), kind="update", chunk=7),
        *(
            PacketFault("delay", link, packets=(3, 5), by_ps=10**6, after_ps=2 * 10**6)
            for link in (1, 3, 5, 7)
        ),
        PacketFault("corrupt", 1, probability=0.5, until_ps=9 * 10**6),
    )


def test_reordered_and_duplicate_packets_say_by_how_much():
    built = plan(
        scenario(
            "faults:",
            "  - {reorder: {from: all, to: switch, packet: 2, by: 3 us}}",
            "  - {duplicate: {from: 1, to: switch, packet: all}}",
        )
    )
    assert [fault.by_ps for fault in built.packet_faults] == [3 * 10**6] * 4 + [0]
    assert [fault.link for fault in built.packet_faults] == [0, 2, 4, 6, 2]
    assert built.packet_faults[4].packets is None


def test_a_partition_drops_everything_on_both_directions():
    built = plan(scenario("faults: [{partition: {node: 1, at: 5 us, for: 2 us}}]"))
    assert built.packet_faults == (
        PacketFault("drop", 2, after_ps=5 * 10**6, until_ps=7 * 10**6),
        PacketFault("drop", 3, after_ps=5 * 10**6, until_ps=7 * 10**6),
    )
    everyone = plan(scenario("faults: [{partition: {node: switch, at: 5 us, for: 2 us}}]"))
    assert [fault.link for fault in everyone.packet_faults] == list(range(8))


def test_node_faults_name_the_nodes_of_the_graph():
    built = plan(
        scenario(
            "faults:",
            "  - {pause: {node: 3, at: 1 us, for: 2 us}}",
            "  - {crash: {node: 1, at: 3 us}}",
            "  - {restart: {node: switch, at: 4 us}}",
            "  - {restart: {node: 0, at: 4 us, for: 1 us}}",
        )
    )
    assert built.node_faults == (
        NodeFault("pause", 3, 10**6, 2 * 10**6),
        NodeFault("crash", 1, 3 * 10**6),
        NodeFault("restart", 4, 4 * 10**6),
        NodeFault("restart", 0, 4 * 10**6, 10**6),
    )


@pytest.mark.parametrize(
    ("collective", "checked"),
    [
        ("size: 128 MiB", True),
        ("size: 134217732 B", False),
        ("size: 128 GiB, check: always", True),
        ("size: 4 B, check: never", False),
        ("tensors: all.npy", True),
    ],
)
def test_auto_checks_up_to_512_mib_over_all_workers(collective, checked):
    assert should_check(scenario(**{"size: 1 MiB": collective})) is checked


def test_the_length_of_tensors_from_files_counts():
    source = scenario(**{"size: 1 MiB": "tensors: all.npy"})
    assert should_check(source, 2**25)
    assert not should_check(source, 2**25 + 1)


def test_one_worker_and_an_empty_tensor_make_a_plan():
    built = plan(scenario(**{"workers: 4": "workers: 1", "1 MiB, ": "0 B, "}))
    assert (built.workers, built.elements, len(built.graph.links)) == (1, 0, 2)
