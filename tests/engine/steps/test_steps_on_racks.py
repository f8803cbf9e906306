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


def run(step, placement="packed"):
    mesh = {"pp": 2, "dp": 2, "tp": 2}
    scenario = step_scenario(step, network=RACKS, mesh=mesh, placement=placement)
    plan = build_step_plan(scenario, "ring", requests_of(scenario))
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
