"""Whole steps on the reference engine's star, against times worked out by hand.

10 Gbps links of 1 us, and a switch of 400 ns: a packet of 1024 B with 76 B of overhead takes 880 ns
on a link, so that a sum of one packet takes up and down 2 x 1.88 us and the switch's latency.
"""

import pytest

from innet.engine.simulate import simulate_step
from innet.errors import UnfinishedError
from innet.scenario.asked import requests_of
from innet.scenario.build_step import build_step_plan
from tests.scenario.made_steps import step_scenario

NS, US = 10**3, 10**6
ONE_SUM = 2 * (880 * NS + US) + 400 * NS
ONE_MESSAGE = 2 * (1230_400 + US) + 400 * NS  # 1460 B and 78 B of overhead


def trace_of(step, algorithm="in_network", more="", **keys):
    scenario = step_scenario(step, more=more, **keys)
    return simulate_step(build_step_plan(scenario, algorithm, requests_of(scenario)))[1]


def time_of(step, algorithm="in_network", **keys):
    return max(trace_of(step, algorithm, **keys).finish_ps)


def all_reduce(over="dp", size="1 KiB", **options):
    return {"all_reduce": {"size": size, "over": over, **options}}


@pytest.mark.parametrize(
    ("step", "expected_ps"),
    [
        ([{"compute": "10 us"}, all_reduce()], 10 * US + ONE_SUM),
        # The sum hides behind compute that is longer than it, and shows where it is not.
        ([all_reduce(**{"async": "g"}), {"compute": "5 us"}, {"wait": "g"}], 5 * US),
        ([all_reduce(**{"async": "g"}), {"compute": "3 us"}, {"wait": "g"}], ONE_SUM),
        # Operations of a group run one after another.
        ([all_reduce(**{"async": "g"}), all_reduce(**{"async": "g"}), {"wait": "g"}], 2 * ONE_SUM),
        # The slowest rank decides: rank 3 computes for 4 us.
        ([{"compute": "(1+rank) * 1 us"}, all_reduce()], 4 * US + ONE_SUM),
    ],
)
def test_sums_and_compute(step, expected_ps):
    assert time_of(step) == expected_ps


def test_groups_that_share_no_link_do_not_delay_each_other():
    mesh = {"dp": 2, "tp": 2}
    assert time_of([all_reduce("tp")], mesh=mesh) == ONE_SUM
    assert time_of([all_reduce("dp"), all_reduce("tp")], mesh=mesh) == 2 * ONE_SUM
    # Every rank sends both packets one behind the other on its link, and so they come back.
    both = [all_reduce("dp", **{"async": "g"}), {"compute": "1 ns"}, all_reduce("tp")]
    assert time_of(both, mesh=mesh) == ONE_SUM + 880 * NS


def test_a_ring_takes_its_published_number_of_steps():
    """2 (n - 1) messages one after another, here of one packet each."""
    assert time_of([all_reduce(size="4*1460")], "ring") == 6 * ONE_MESSAGE


def test_messages_of_a_pipeline_follow_one_another():
    step = [
        {"recv": {"from": {"pp": "pp-1"}, "size": 1460}},
        {"compute": "10 us"},
        {"send": {"to": {"pp": "pp+1"}, "size": 1460}},
    ]
    assert time_of(step, mesh={"pp": 4}) == 4 * 10 * US + 3 * ONE_MESSAGE


FREE = "topology: {kind: star, workers: 4, link: {rate: 10 Tbps, delay: 0 ps}}\n"
FREE_MORE = "switch: {latency: 0 ps}\nmessage: {overhead: 0 B}\n"


def test_one_forward_one_backward_takes_its_published_time():
    """(m + p - 1)(f + w) = 132 for p = 4, m = 8, f = 4, w = 8 where the network takes no time."""
    blocks = {
        "fwd": [
            {"recv": {"from": {"pp": "pp-1"}, "size": 1}},
            {"compute": "4 us"},
            {"send": {"to": {"pp": "pp+1"}, "size": 1, "async": "p"}},
        ],
        "bwd": [
            {"recv": {"from": {"pp": "pp+1"}, "size": 1}},
            {"compute": "8 us"},
            {"send": {"to": {"pp": "pp-1"}, "size": 1, "async": "p"}},
        ],
    }
    step = [
        {"repeat": "min(8, pp_n-1-pp)", "do": ["fwd"]},
        {"repeat": "8-min(8, pp_n-1-pp)", "do": ["fwd", "bwd"]},
        {"repeat": "min(8, pp_n-1-pp)", "do": ["bwd"]},
    ]
    found = time_of(step, mesh={"pp": 4}, blocks=blocks, network=FREE, more=FREE_MORE)
    # A message of one element takes two links of 3 ps; fewer than 50 lie on any path.
    assert 132 * US <= found < 132 * US + 50 * 6


def test_what_no_switch_can_do_runs_by_the_fallback_and_says_why():
    step = [all_reduce(), all_reduce(op="max"), {"send": {"to": {"dp": "(dp+1) % 4"}, "size": 8}},
            {"recv": {"from": {"dp": "(dp+3) % 4"}, "size": 8}}]  # fmt: skip
    trace = trace_of(step, fallback="recursive_doubling")
    decisions = [(each.operation, each.how, each.why) for each in trace.decisions]
    assert decisions[0] == ("all_reduce", "in_network", "")
    assert decisions[1][:2] == ("all_reduce", "recursive_doubling")
    assert "max" in decisions[1][2]
    assert decisions[2][:2] == ("send", "send")
    alone = trace_of(step, "ring")
    assert [(each.how, each.calls) for each in alone.decisions] == [("ring", 2), ("send", 4)]
    assert all(each.why for each in alone.decisions)


def test_the_simulated_time_limit_ends_a_step_and_names_its_ranks():
    step = [{"when": "rank == 0", "do": [{"compute": "1 s"}]}, all_reduce()]
    with pytest.raises(UnfinishedError) as caught:
        trace_of(step, more="limit: 10 ms\n")
    assert "reached the simulated time limit" in str(caught.value)
    assert "lacks the contribution of worker 0" in str(caught.value)
    with pytest.raises(UnfinishedError, match=r"^the simulated time limit is reached.*\n  rank 0"):
        trace_of([{"compute": "1 s"}], more="limit: 10 ms\n")


def test_losses_are_repaired():
    lossy = "topology: {kind: star, workers: 4, link: {rate: 10 Gbps, loss: 0.01}}\n"
    step = [all_reduce(size="64 KiB"), {"compute": "1 ms"}, all_reduce(size="64 KiB")]
    for algorithm in ("in_network", "ring"):
        trace = trace_of(step, algorithm, network=lossy)
        assert sum(link.lost for link in trace.links) > 0
        assert max(trace.finish_ps) > time_of(step, algorithm)


def test_a_sum_in_the_network_gains_what_payload_headers_and_steps_say():
    """365 packets of 1100 B for 1024 B go up and down; a ring sends 14 times 32 of 1538 B for 1460.

    By payload alone the gain is 2 (n - 1) / n = 1.75. Headers make it 1.716, and one packet more
    a step, which is stored and forwarded, 1.765.
    """
    star = "topology: {kind: star, workers: 8, link: {rate: 10 Gbps, delay: 10 ns}}"
    keys = {"network": star, "mesh": {"dp": 8}, "more": "switch: {latency: 10 ns}\n"}
    step = [all_reduce(size=8 * 32 * 1460)]
    assert time_of(step, **keys) == (365 + 1) * 880 * NS + 30 * NS
    assert time_of(step, "ring", **keys) == 14 * (33 * 1_230_400 + 30 * NS)
