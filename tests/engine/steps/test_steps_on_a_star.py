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


def trace_of(step, algorithm="in_network", more="", engine="auto", **keys):
    scenario = step_scenario(step, more=more, **keys)
    return simulate_step(
        build_step_plan(scenario, algorithm, requests_of(scenario)), engine=engine
    )[1]


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


def test_what_is_copied_has_no_exponents_and_its_own_bytes():
    """A packet of halves: 512 in 1 KiB, in a sum twice as many bytes and a round of exponents."""
    gather = {"all_gather": {"size": "1 KiB", "over": "dp"}}
    assert time_of([gather], dtype="float16") == ONE_SUM
    summed = time_of([all_reduce()], dtype="float16")
    assert summed == 2 * ONE_SUM + 880 * NS  # the second of two chunks comes behind the first


def test_sums_of_different_formats_and_lanes_follow_each_other():
    step = [{"barrier": {"over": "dp"}}, all_reduce(), {"barrier": {"over": "dp"}}]
    assert time_of(step, dtype="float32") == 4 * ONE_SUM
    apart = [all_reduce(**{"async": "g"}), all_reduce(lane="other", **{"async": "g"})]
    assert time_of([*apart, {"wait": "g"}]) == ONE_SUM + 880 * NS


@pytest.mark.parametrize(
    ("kind", "options", "how", "why"),
    [
        ("all_reduce", {"op": "min"}, "ring", "switches take no min"),
        ("all_reduce", {"density": 0.01}, "ring", "switches add no sparse vectors"),
        ("reduce_scatter", {"density": 0.01}, "pairwise", "switches add no sparse vectors"),
        ("all_gather", {"density": 0.01}, "in_network", ""),
        ("all_reduce", {"quorum": 2}, "ring", "switches wait for all, not for a quorum"),
        ("all_to_all", {}, "pairwise", "all_to_all has no sum"),
    ],
)
def test_what_no_switch_does_says_why(kind, options, how, why):
    (decision,) = trace_of([{kind: {"size": "1 KiB", "over": "dp", **options}}]).decisions
    assert (decision.how, decision.why) == (how, why)


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


def test_messages_of_a_pair_follow_one_another_without_a_gap():
    """100 packets each, that arrive as fast as the link sends them, one message after the other."""
    send = {"send": {"to": {"dp": 1}, "size": 146_000, "async": "g"}}
    recv = {"recv": {"from": {"dp": 0}, "size": 146_000}}
    step = [{"when": "rank == 0", "do": [send] * 3}, {"when": "rank == 1", "do": [recv] * 3}]
    ends = [span.end_ps for span in trace_of(step).spans if span.operation == "recv"]
    assert ends == [ONE_MESSAGE + (100 * turn - 1) * 1_230_400 for turn in (1, 2, 3)]


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
    for engine in ("auto", "reference"):
        with pytest.raises(UnfinishedError) as caught:
            trace_of(step, engine=engine, more="limit: 10 ms\n")
        lines = str(caught.value).splitlines()
        assert lines[0] == "the step is not done at the simulated time limit of 10 ms"
        assert lines[1] == "  rank 0 computes"
        told = "rank 1 waits in all_reduce of 1024 B over dp (made.yaml:10); not entered by rank 0"
        assert lines[2] == f"  {told}"
    with pytest.raises(UnfinishedError, match="reached the simulated time limit"):
        trace_of([all_reduce()], more="limit: 3 us\n")


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


@pytest.mark.parametrize(
    ("kind", "algorithm", "how", "messages"),
    [
        ("reduce_scatter", "ring", "ring", 3),
        ("all_gather", "ring", "ring", 3),
        ("all_to_all", "ring", "pairwise", 3),
        ("reduce_scatter", "halving_doubling", "recursive_halving", None),
        ("all_gather", "halving_doubling", "recursive_doubling", None),
        ("broadcast", "binomial_tree", "binomial_tree", 2),
        ("reduce", "binomial_tree", "binomial_tree", 2),
    ],
)
def test_other_kinds_run_by_the_kin_of_an_algorithm(kind, algorithm, how, messages):
    """Of one packet a block, one after another: the published numbers of steps for 4 ranks."""
    size = 1460 if kind in ("broadcast", "reduce") else 4 * 1460
    trace = trace_of([{kind: {"size": size, "over": "dp"}}], algorithm)
    assert [each.how for each in trace.decisions] == [how]
    # Recursive halving and doubling: messages of two blocks and of one.
    expected = 2 * ONE_MESSAGE + 1_230_400 if messages is None else messages * ONE_MESSAGE
    assert max(trace.finish_ps) == expected


def test_a_gather_waits_for_the_roots_link():
    expected = ONE_MESSAGE + 2 * 1_230_400
    assert time_of([{"gather": {"size": 4 * 1460, "over": "dp"}}], "ring") == expected


def test_a_scattered_sum_loses_in_the_network():
    """All of a vector goes up, where a ring sends (n - 1) / n of it: by payload a gain of 0.875."""
    star = "topology: {kind: star, workers: 8, link: {rate: 10 Gbps, delay: 10 ns}}"
    keys = {"network": star, "mesh": {"dp": 8}, "more": "switch: {latency: 10 ns}\n"}
    step = [{"reduce_scatter": {"size": 8 * 32 * 1460, "over": "dp"}}]
    assert time_of(step, **keys) == (365 + 1) * 880 * NS + 30 * NS
    assert time_of(step, "ring", **keys) == 7 * (33 * 1_230_400 + 30 * NS)


def test_sparse_sums_exchange_pairs_of_index_and_value():
    """A tenth of 3650 int32 elements: 365 pairs of 8 B from each of 4 ranks to all others."""
    step = [all_reduce(size=4 * 3650, density=0.1)]
    for algorithm in ("in_network", "ring"):
        trace = trace_of(step, algorithm)
        assert trace.decisions[0].how == "ring"
        assert max(trace.finish_ps) == 3 * (ONE_MESSAGE + 1_230_400)
