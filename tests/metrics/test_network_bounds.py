"""Lower bounds and ways on networks of several switches, against sums made by hand."""

from dataclasses import replace

import pytest

from innet.collectives.algorithms import build_schedule
from innet.collectives.operations import FORMS, build_operation_schedule
from innet.engine.simulate import simulate
from innet.metrics.bounds import lower_bound_ps
from innet.metrics.diagnosis import loss_free_estimate
from innet.metrics.estimate import Burden, aggregation_ps
from innet.metrics.traffic import class_bytes
from innet.plan.plan import Aggregation, Host, Plan, Rto, Stream, TreeSwitch
from innet.plan.ways import tree_loads, tree_round_trip_ps, tree_ways
from innet.topology.leaf_spine import LeafSpine, build_leaf_spine
from innet.topology.routes import shortest_routes
from innet.topology.star import Cable
from innet.topology.wiring import HostShape, SwitchSettings
from innet.trace.records import LinkRecord, Trace

HOST_PS, SPINE_PS = 819_200, 3_276_800  # 1024 B at 10 and at 2.5 Gbps
HOST_DELAY, SPINE_DELAY, LATENCY = 10**6, 3 * 10**6, 400_000
FIXED = 2 * HOST_DELAY + 2 * SPINE_DELAY  # of a way from rack to rack, without switches
RTO = Rto(adaptive=True, initial_ps=10**9, minimum_ps=10**6, maximum_ps=10**12)


def racks_plan(
    *,
    racks: int = 2,
    hosts: int = 2,
    chunks: int = 100,
    algorithm: str = "in_network",
    elements: int | None = None,
    spine_bps: int = 25 * 10**8,
    leaves_sum: bool = True,
    slots: int = 4096,
    floats: bool = False,
) -> Plan:
    """Two tiers with one spine, 10 Gbps for hosts; packets of 1024 B, 256 values."""
    workers = racks * hosts
    graph, nodes = build_leaf_spine(
        LeafSpine(racks, hosts, 1),
        HostShape(Cable(10**10, HOST_DELAY, link_class="host")),
        Cable(spine_bps, SPINE_DELAY, link_class="spine"),
        SwitchSettings(LATENCY),
    )
    spine = workers + racks
    members = [tuple(range(rack * hosts, (rack + 1) * hosts)) for rack in range(racks)]
    tree = (TreeSwitch(spine, workers=tuple(range(workers))),)
    if leaves_sum:
        tree = (
            TreeSwitch(spine, switches=tuple(range(1, racks + 1))),
            *(TreeSwitch(workers + rack, 0, rack, members[rack]) for rack in range(racks)),
        )
    in_network = algorithm == "in_network"
    count = chunks * 256 if elements is None else elements
    schedule = None if in_network else build_schedule(algorithm, workers, count, 4)
    return Plan(
        name="racks",
        seed=1,
        algorithm=algorithm,
        graph=graph,
        hosts=tuple(Host(node) for node in nodes),
        workers=workers,
        routes=shortest_routes(graph, nodes),
        elements=count,
        dtype="float32" if floats else "int32",
        carry_payload=False,
        rto=RTO,
        maximum_time_ps=10**15,
        patience_ps=10**15,
        aggregation=Aggregation(tree, slots, True, 256, 1024, 84, floats) if in_network else None,
        stream=None if in_network else Stream(1024, 0, 0, 4096, "go_back_n"),
        schedule=schedule,
    )


def test_every_link_of_a_tree_carries_the_tensor_once():
    plan = racks_plan(racks=3, hosts=4)
    loads = tree_loads(plan.graph, plan.routes, plan.aggregation.tree)
    assert loads == dict.fromkeys(range(2 * (12 + 3)), 1)


def test_a_rack_whose_leaf_does_not_sum_sends_the_tensor_of_every_worker():
    plan = racks_plan(racks=3, hosts=4, leaves_sum=False)
    loads = tree_loads(plan.graph, plan.routes, plan.aggregation.tree)
    by_class = {plan.graph.links[link].link_class: load for link, load in loads.items()}
    assert by_class == {"host": 1, "spine": 4}


def test_a_round_trip_through_two_levels_meets_three_switches():
    plan = racks_plan()
    ways = tree_ways(plan.graph, plan.routes, plan.aggregation.tree)
    assert len(ways) == 4
    right = 2 * HOST_PS + 2 * SPINE_PS + FIXED + 3 * LATENCY
    assert tree_round_trip_ps(ways, plan.hosts, 1024) == right


def test_a_tree_of_equal_links_is_a_star_with_two_more_hops():
    plan = racks_plan(spine_bps=10**10)
    assert lower_bound_ps(plan) == (100 + 3) * HOST_PS + FIXED + 3 * LATENCY


def test_slow_cables_to_the_spine_carry_every_packet_once():
    bound = lower_bound_ps(racks_plan())
    assert bound == (100 + 1) * SPINE_PS + 2 * HOST_PS + FIXED + 3 * LATENCY
    # Leaves that only forward pass the packets of both workers.
    bound = lower_bound_ps(racks_plan(leaves_sum=False))
    assert bound == (200 + 1) * SPINE_PS + 2 * HOST_PS + FIXED + 3 * LATENCY


def test_values_of_floats_wait_for_their_exponents_to_come_back_through_both_levels():
    plan = racks_plan(chunks=2, floats=True)
    trip = 2 * HOST_PS + 2 * SPINE_PS + FIXED + 3 * LATENCY
    # Two round trips, and one more packet on the slowest link.
    assert lower_bound_ps(plan) == 2 * trip + SPINE_PS


def test_the_estimate_of_a_tree_is_its_bound_where_the_window_is_large():
    plan = racks_plan()
    assert aggregation_ps(plan, plan.aggregation) == lower_bound_ps(plan)
    small = replace(plan, aggregation=replace(plan.aggregation, slots=1))
    trip = 2 * HOST_PS + 2 * SPINE_PS + FIXED + 3 * LATENCY
    assert aggregation_ps(small, small.aggregation) == 100 * trip
    assert aggregation_ps(small, small.aggregation, Burden.WINDOW) == lower_bound_ps(plan)


def test_one_packet_to_the_other_rack_crosses_four_links_and_three_switches():
    plan = racks_plan(hosts=1, algorithm="recursive_doubling", elements=256)
    right = 2 * HOST_PS + 2 * SPINE_PS + FIXED + 3 * LATENCY
    assert lower_bound_ps(plan) == right
    assert loss_free_estimate(plan)(None) == right
    assert loss_free_estimate(plan)(Burden.LATENCY) == 2 * HOST_PS + 2 * SPINE_PS


def test_the_cable_to_the_spine_bounds_what_crosses_it():
    # Each of two workers sends a quarter to each of two ranks of the other rack, twice: 2 S.
    elements = 2**20
    plan = racks_plan(algorithm="sharded_parameter_server", elements=elements)
    crossing_ps = 2 * elements * 4 * 3200
    assert crossing_ps < lower_bound_ps(plan) < 1.01 * crossing_ps


@pytest.mark.parametrize(("racks", "hosts"), [(2, 4), (4, 2)])
def test_a_ring_in_rack_order_crosses_the_spine_once_a_rack_and_step(racks, hosts):
    plan = racks_plan(racks=racks, hosts=hosts, algorithm="ring", elements=2**20)
    # 2 (n - 1) steps of S / n, one of which crosses each cable to the spine at a time.
    steps_ps = 2 * 7 * (2**20 // 8 * 4) * 3200
    assert steps_ps < lower_bound_ps(plan) < 1.05 * steps_ps
    assert loss_free_estimate(plan)(None) == pytest.approx(lower_bound_ps(plan), rel=0.01)


GROUP_FORMS = [(kind, name) for kind, names in FORMS.items() for name in names if kind != "send"]


@pytest.mark.parametrize(("kind", "name"), GROUP_FORMS)
@pytest.mark.parametrize(("racks", "hosts"), [(2, 3), (2, 4)])
def test_no_form_of_any_kind_beats_its_bound_and_estimates_are_near(kind, name, racks, hosts):
    """Estimates know nothing of targets that must be ready first: a tenth or so of these times."""
    places, elements = racks * hosts, 30_011
    root = places - 2 if kind in ("broadcast", "reduce", "gather") else 0
    schedule = build_operation_schedule(kind, name, places, elements, 4, root)
    plan = racks_plan(racks=racks, hosts=hosts, algorithm="ring", elements=elements)
    plan = replace(plan, algorithm=name, schedule=schedule)
    time_ps = max(rank.finish_ps for rank in simulate(plan).ranks)
    assert lower_bound_ps(plan) <= time_ps
    assert loss_free_estimate(plan)(None) == pytest.approx(time_ps, rel=0.15)


def test_a_fast_network_within_racks_does_not_lift_the_limit_of_the_spine():
    slow = loss_free_estimate(racks_plan(algorithm="ring", elements=2**20))(None)
    fast = loss_free_estimate(racks_plan(algorithm="ring", elements=2**20, spine_bps=10**10))(None)
    assert slow == pytest.approx(4 * fast, rel=0.02)


def test_bytes_are_added_up_by_class_of_links():
    plan = racks_plan()
    records = [
        LinkRecord(link, 1, 10 ** (link % 3), 0, 0, 0, 0, 0, 0)
        for link in range(len(plan.graph.links))
    ]
    trace = Trace("made", (), tuple(records), (), 0, None)
    # Links 0 to 7 are the hosts', 8 to 11 lead to and from the spine.
    assert class_bytes(plan, trace) == {"host": 3 + 30 + 200, "spine": 1 + 10 + 200}
