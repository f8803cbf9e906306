"""Lower bounds against closed forms, in exact picoseconds where these are exact."""

import pytest

from innet.collectives.algorithms import ALGORITHMS, build_schedule
from innet.metrics.bounds import lower_bound_ps
from innet.plan.plan import Aggregation, Host, Plan, Rto, Stream, one_switch
from innet.topology.routes import shortest_routes
from innet.topology.star import Cable, build_star, host_node

US = 10**6
RTO = Rto(adaptive=True, initial_ps=10**9, minimum_ps=10**6, maximum_ps=10**12)


def star_plan(
    *,
    workers: int,
    elements: int,
    algorithm: str = "in_network",
    rates_bps: dict[int, int] | None = None,
    rate_bps: int = 10**10,
    delay_ps: int = US,
    latency_ps: int = 0,
    packet_bytes: int = 1024,
    elements_per_packet: int = 256,
    slots: int = 64,
    cores: int = 1,
    floats: bool = False,
    payload_bytes: int = 1460,
    overhead_bytes: int = 0,
    starts_ps: dict[int, int] | None = None,
    send_ps: int = 0,
    receive_ps: int = 0,
) -> Plan:
    in_network = algorithm == "in_network"
    schedule = None if in_network else build_schedule(algorithm, workers, elements, 4)
    ranks = workers if schedule is None else schedule.ranks
    cables = [Cable((rates_bps or {}).get(rank, rate_bps), delay_ps) for rank in range(ranks)]
    graph = build_star(cables, workers, latency_ps)
    hosts = tuple(
        Host(host_node(rank, workers), (starts_ps or {}).get(rank, 0), send_ps, receive_ps, cores)
        for rank in range(ranks)
    )
    tree = one_switch(workers, workers)
    aggregation = Aggregation(
        tree, slots, True, elements_per_packet, packet_bytes, 84, exponent_round=floats
    )
    return Plan(
        name="bounds",
        seed=1,
        algorithm=algorithm,
        graph=graph,
        hosts=hosts,
        workers=workers,
        routes=shortest_routes(graph, [host.node for host in hosts]),
        elements=elements,
        dtype="float32" if floats else "int32",
        carry_payload=False,
        rto=RTO,
        maximum_time_ps=10**15,
        patience_ps=10**15,
        aggregation=aggregation if in_network else None,
        stream=None if in_network else Stream(payload_bytes, overhead_bytes, 84, 64, "go_back_n"),
        schedule=schedule,
    )


@pytest.mark.parametrize(
    ("chunks", "right_ps"),
    [(40, 9_691_200), (640, 107_611_200), (1000, 166_363_200), (1280, 212_059_200)],
)
def test_a_full_window_in_network_reaches_n_plus_one_packets_and_the_latencies(chunks, right_ps):
    plan = star_plan(
        workers=8,
        elements=32 * chunks,
        packet_bytes=204,
        elements_per_packet=32,
        latency_ps=US,
        slots=128,
    )
    assert lower_bound_ps(plan) == right_ps


def test_a_worker_that_starts_late_delays_the_bound_by_as_much():
    def plan(starts_ps: dict[int, int]) -> Plan:
        return star_plan(
            workers=8,
            elements=32_000,
            packet_bytes=204,
            elements_per_packet=32,
            latency_ps=US,
            starts_ps=starts_ps,
        )

    assert lower_bound_ps(plan({5: 50 * US})) == lower_bound_ps(plan({})) + 50 * US == 216_363_200


def test_the_window_does_not_enter_the_bound():
    plans = [star_plan(workers=4, elements=1024 * 256, slots=slots) for slots in (1, 2, 64)]
    assert {lower_bound_ps(plan) for plan in plans} == {841_680_000}


def test_a_slow_worker_is_waited_for_on_its_own_way_down():
    plan = star_plan(workers=4, elements=1024 * 256, rates_bps={2: 10**9})
    # 1024 packets up at 8.192 us each, two propagation delays, one packet down.
    assert lower_bound_ps(plan) == 1025 * 8_192_000 + 2 * US


def test_host_costs_count_once_for_the_first_and_the_last_packet():
    free = star_plan(workers=2, elements=2560)
    costly = star_plan(workers=2, elements=2560, send_ps=300, receive_ps=7)
    assert lower_bound_ps(costly) == lower_bound_ps(free) + 307


@pytest.mark.parametrize(
    ("floats", "cores", "slots", "packets"),
    [(False, 4, 64, 16), (True, 4, 64, 32), (True, 4, 8, 24), (True, 1, 8, 24), (True, 1, 64, 32)],
)
def test_floats_cost_one_more_packet_a_slot_that_is_used(floats, cores, slots, packets):
    plan = star_plan(
        workers=3,
        elements=1000,
        elements_per_packet=64,
        packet_bytes=1000,
        floats=floats,
        cores=cores,
        slots=slots,
    )
    assert lower_bound_ps(plan) == (packets + 1) * 800_000 + 2 * US


def test_values_of_floats_wait_a_round_trip_for_their_exponents():
    plan = star_plan(workers=3, elements=2 * 256, floats=True)
    # Two round trips of 2 x 819.2 ns and 2 us, and one more packet.
    assert lower_bound_ps(plan) == 2 * (2 * 819_200 + 2 * US) + 819_200


@pytest.mark.parametrize("algorithm", ["in_network", *ALGORITHMS])
def test_nothing_to_send_takes_until_the_last_worker_starts(algorithm):
    starts = {1: 7 * US}
    empty = star_plan(workers=4, elements=0, algorithm=algorithm, starts_ps=starts)
    assert lower_bound_ps(empty) == 7 * US
    if algorithm != "in_network":
        alone = star_plan(workers=1, elements=10, algorithm=algorithm, starts_ps={0: 3})
        assert lower_bound_ps(alone) == 3


def test_a_ring_waits_for_its_slow_host_in_every_step():
    plan = star_plan(workers=4, elements=10 * 2**20 // 4, algorithm="ring", rates_bps={1: 10**9})
    assert lower_bound_ps(plan) == pytest.approx(125843.9 * US, rel=1e-3)


def test_no_point_to_point_algorithm_beats_two_times_n_minus_one_over_n():
    for algorithm in ALGORITHMS:
        plan = star_plan(
            workers=8,
            elements=25 * 10**6,
            algorithm=algorithm,
            rate_bps=4 * 10**11,
            delay_ps=5000,
            payload_bytes=8192,
        )
        assert lower_bound_ps(plan) >= 3_500 * US
        if algorithm in ("ring", "halving_doubling", "sharded_parameter_server"):
            assert lower_bound_ps(plan) <= 3_506 * US


@pytest.mark.parametrize(
    ("algorithm", "workers", "vectors"),
    [("double_tree", 8, 2), ("double_tree", 16, 2), ("parameter_server", 8, 8)],
)
def test_the_busiest_link_bounds_pipelined_algorithms(algorithm, workers, vectors):
    elements = 25 * 2**18
    plan = star_plan(workers=workers, elements=elements, algorithm=algorithm)
    one_vector_ps = elements * 4 * 800
    assert vectors * one_vector_ps <= lower_bound_ps(plan) <= 1.03 * vectors * one_vector_ps


def test_one_packet_crosses_both_links_of_a_star_and_the_switch():
    plan = star_plan(
        workers=2,
        elements=100,
        algorithm="recursive_doubling",
        latency_ps=400_000,
        overhead_bytes=78,
        send_ps=5,
        receive_ps=9,
    )
    assert lower_bound_ps(plan) == 2 * 478 * 800 + 2 * US + 400_000 + 14
