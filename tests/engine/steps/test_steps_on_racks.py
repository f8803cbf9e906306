"""Steps on two racks of two hosts, each with two ranks on a fast switch, against hand calculation.

A packet of 1538 B takes 123.04 ns on a fast link (100 Gbps, 100 ns), 1230.4 ns on a host's cable
(10 Gbps, 1 us) and 615.2 ns on a leaf's to the spine (20 Gbps, 1 us); a switch takes 400 ns.
"""

import pytest

from innet.engine.simulate import simulate_step
from innet.scenario.asked import requests_of
from innet.scenario.build_step import build_step_plan
from tests.scenario.made_steps import step_scenario

RACKS = (
    "topology: {kind: leaf_spine, racks: 2, hosts: 2, spines: 1, ranks: 2, "
    "link: {rate: 10 Gbps}, fast_link: {rate: 100 Gbps, delay: 100 ns}}"
)
INSIDE = 2 * (123_040 + 100_000) + 400_000
ACROSS = 2 * (123_040 + 100_000) + 2 * (1_230_400 + 615_200 + 2_000_000) + 5 * 400_000


def run(step, placement="packed", algorithm="ring"):
    mesh = {"pp": 2, "dp": 2, "tp": 2}
    scenario = step_scenario(step, network=RACKS, mesh=mesh, placement=placement)
    plan = build_step_plan(scenario, algorithm, requests_of(scenario))
    trace = simulate_step(plan)[1]
    carried = dict.fromkeys(plan.graph.link_classes, 0)
    for record in trace.links:
        carried[plan.graph.links[record.link].link_class] += record.bytes
    return max(trace.finish_ps), {name for name, size in carried.items() if size}


def swap(rank):
    """Rank 0 and `rank` send each other a packet, one after the other."""
    to = {
        axis: f"({axis}+{rank // stride % 2}) % 2"
        for axis, stride in (("pp", 4), ("dp", 2), ("tp", 1))
    }
    out, back = {"send": {"to": to, "size": 1460}}, {"recv": {"from": to, "size": 1460}}
    return [
        {"when": "rank == 0", "do": [out, back]},
        {"when": f"rank == {rank}", "do": [back, out]},
    ]


@pytest.mark.parametrize(
    ("placement", "rank", "one_way", "classes"),
    [
        ("packed", 1, INSIDE, {"fast"}),
        ("packed", 4, ACROSS, {"fast", "host", "spine"}),
        ("spread", 1, ACROSS, {"fast", "host", "spine"}),
        ("spread", 4, INSIDE, {"fast"}),
        ([0, 4, 2, 3, 1, 5, 6, 7], 1, ACROSS, {"fast", "host", "spine"}),
    ],
)
def test_a_message_takes_the_way_of_its_ranks_workers(placement, rank, one_way, classes):
    assert run(swap(rank), placement) == (2 * one_way, classes)


def test_groups_within_hosts_use_their_own_fast_links_at_once():
    ring = [{"all_reduce": {"size": 2 * 1460, "over": "tp"}}]
    assert run(ring) == (2 * INSIDE, {"fast"})


def test_groups_across_racks_share_the_hosts_cable():
    """Each host's two ranks send at once: their packets follow one another on its cable."""
    ring = [{"all_reduce": {"size": 2 * 1460, "over": "pp"}}]
    time, classes = run(ring)
    assert classes == {"fast", "host", "spine"}
    assert 2 * ACROSS + 1_230_400 <= time <= 2 * (ACROSS + 1_230_400 + 615_200)


def test_a_sum_of_all_ranks_goes_up_and_down_the_tree_of_switches():
    """1100 B take 88 ns on a fast link, 880 ns on a cable and 440 ns to the spine.

    A host's two packets follow one another on its cable, on the way up and on the way down; a
    leaf sends one for its four ranks.
    """
    up = 88_000 + 100_000 + 2 * 880_000 + 1_000_000 + 440_000 + 1_000_000
    time, classes = run(
        [{"all_reduce": {"size": 1024, "over": "pp,dp,tp"}}], "packed", "in_network"
    )
    assert time == 2 * up + 5 * 400_000
    assert classes == {"fast", "host", "spine"}


def test_groups_in_a_rack_have_its_leaf_and_do_not_meet_at_the_spine():
    step = [{"all_reduce": {"size": 1024, "over": "dp,tp"}}]
    time, classes = run(step, "packed", "in_network")
    up = 88_000 + 100_000 + 2 * 880_000 + 1_000_000
    assert (time, classes) == (2 * up + 3 * 400_000, {"fast", "host"})
    scenario = step_scenario(step, network=RACKS, mesh={"pp": 2, "dp": 2, "tp": 2})
    plan = build_step_plan(scenario, "in_network", requests_of(scenario))
    slots = [lowered.operation.aggregation.slots for lowered in plan.operations.values()]
    assert slots == [512, 512]


def test_jobs_that_meet_at_a_switch_share_its_slots():
    step = [{"all_reduce": {"size": 1024, "over": over}} for over in ("dp", "dp,tp", "pp,dp,tp")]
    scenario = step_scenario(step, network=RACKS, mesh={"pp": 2, "dp": 2, "tp": 2})
    plan = build_step_plan(scenario, "in_network", requests_of(scenario))
    found = {
        request.group: lowered.operation.aggregation.slots
        for request, lowered in plan.operations.items()
    }
    # At each leaf: two groups of dp, one of the rack, one of all.
    assert set(found.values()) == {128}
    jobs = {lowered.operation.job for lowered in plan.operations.values()}
    assert len(jobs) == len(found) == 7
