"""Steps on a network of latencies and rates, against times worked out by hand."""

import pytest

from innet.engine.steps.driver import Limits, run_step
from innet.errors import ConfigurationError, UnfinishedError
from innet.workload.actions import TimedLayer
from tests.engine.steps.made_networks import AlphaBetaNetwork, PlainLowering, made_workload

NS, MS = 10**3, 10**9
PIPELINE = {
    "fwd": [
        {"recv": {"from": {"pp": "pp-1"}, "size": "act"}},
        {"compute": "f"},
        {"send": {"to": {"pp": "pp+1"}, "size": "act", "async": "p"}},
    ],
    "bwd": [
        {"recv": {"from": {"pp": "pp+1"}, "size": "act"}},
        {"compute": "w"},
        {"send": {"to": {"pp": "pp-1"}, "size": "act", "async": "p"}},
    ],
}
ONE_FORWARD_ONE_BACKWARD = [
    {"repeat": "min(m, pp_n-1-pp)", "do": ["fwd"]},
    {"repeat": "m-min(m, pp_n-1-pp)", "do": ["fwd", "bwd"]},
    {"repeat": "min(m, pp_n-1-pp)", "do": ["bwd"]},
]


def run(workload, network=None):
    return run_step(workload, network or AlphaBetaNetwork(), PlainLowering())


@pytest.mark.parametrize(("stages", "batches"), [(1, 1), (2, 3), (4, 8), (4, 2), (5, 16)])
def test_one_forward_one_backward_fills_and_drains_once(stages, batches):
    let = {"m": batches, "f": "4 ns", "w": "8 ns", "act": "1 MB"}
    trace = run(made_workload({"pp": stages}, ONE_FORWARD_ONE_BACKWARD, PIPELINE, let))
    # (m + p - 1)(f + w): 132 for p = 4, m = 8.
    assert max(trace.finish_ps) == (batches + stages - 1) * 12 * NS


@pytest.mark.parametrize(
    ("width", "expected_ps"), [("h", 26_843_545_600_000), ("h//100", 262_144_000_000)]
)
def test_a_boundary_of_protocol_models_takes_as_long_as_published(width, expected_ps):
    """1024 tokens, width 4096, batch 32, bf16 at 80 Mbps: 26.8 s, and 0.27 s for 1 % of it."""
    let = {"b": 32, "s": 1024, "h": 4096, "k": width}
    step = [
        {"recv": {"from": {"pp": "pp-1"}, "size": "2*b*s*k"}},
        {"send": {"to": {"pp": "pp+1"}, "size": "2*b*s*k"}},
    ]
    trace = run(made_workload({"pp": 2}, step, let=let), AlphaBetaNetwork(0, 80 * 10**6))
    assert max(trace.finish_ps) == expected_ps


def test_a_handle_hides_what_compute_covers():
    step = [
        {"all_reduce": {"size": "1 MB", "over": "dp", "async": "g"}},
        {"compute": "3 ms"},
        {"wait": "g"},
        {"compute": "1 ms"},
    ]
    # 1 MB at 1 Gbps takes 8 ms.
    trace = run(made_workload({"dp": 4}, step), AlphaBetaNetwork(0, 10**9))
    assert trace.finish_ps == (9 * MS,) * 4
    spans = [span for span in trace.spans if span.rank == 2]
    assert [(span.operation, span.start_ps, span.end_ps) for span in spans] == [
        ("all_reduce", 0, 8 * MS),
        ("compute", 0, 3 * MS),
        ("compute", 8 * MS, 9 * MS),
    ]


def test_collectives_of_a_group_take_turns_and_those_of_other_groups_do_not():
    def over(axes):
        return {"all_reduce": {"size": "1 MB", "over": axes, "async": "g"}}

    network = AlphaBetaNetwork(0, 10**9)
    assert set(run(made_workload({"a": 2, "b": 2}, [over("a"), over("a")]), network).finish_ps) == {
        16 * MS
    }
    network = AlphaBetaNetwork(0, 10**9)
    assert set(run(made_workload({"a": 2, "b": 2}, [over("a"), over("b")]), network).finish_ps) == {
        8 * MS
    }


def test_lanes_of_a_group_run_at_once_and_are_matched_apart():
    gather = {"all_gather": {"size": "2 MB", "over": "a", "lane": "gathers", "async": "g"}}
    scatter = {"reduce_scatter": {"size": "1 MB", "over": "a", "async": "g"}}
    # The ranks begin them in different orders.
    step = [{"when": "a", "do": [gather]}, scatter, scatter, {"when": "not a", "do": [gather]}]
    trace = run(made_workload({"a": 2}, step), AlphaBetaNetwork(0, 10**9))
    ends = [(span.operation, span.end_ps) for span in trace.spans if span.rank == 0]
    assert sorted(ends) == [
        ("all_gather", 16 * MS),
        ("reduce_scatter", 8 * MS),
        ("reduce_scatter", 16 * MS),
    ]


def test_a_collective_waits_for_its_slowest_rank():
    step = [{"compute": "rank*1 ms"}, {"reduce_scatter": {"size": 1, "over": "dp"}}]
    trace = run(made_workload({"dp": 3}, step), AlphaBetaNetwork(latency_ps=5 * NS))
    assert trace.finish_ps == (2 * MS + 5 * NS,) * 3


def test_gradients_go_in_pytorchs_buckets_while_backward_goes_on():
    sizes = [4000, 2048000, *[9437184] * 3, *[2359296] * 5]
    layers = [TimedLayer(str(size), 0, 1 * MS, (size,), size // 4) for size in reversed(sizes)]
    gradient = {"size": "layer.grad", "over": "dp", "bucket": "25 MiB", "async": "g"}
    step = [
        {"each": "layer reversed", "do": [{"compute": "layer.bwd"}, {"all_reduce": gradient}]},
        {"wait": "g"},
    ]
    trace = run(made_workload({"dp": 2}, step, layers=layers))
    found = [span for span in trace.spans if span.operation == "all_reduce" and span.rank == 1]
    # Case D7: the buckets of PyTorch 48880, each when its last gradient is ready.
    assert [(span.size_bytes, span.start_ps) for span in found] == [
        (2052000, 2 * MS),
        (28311552, 5 * MS),
        (11796480, 10 * MS),
    ]
    (decision,) = trace.decisions
    assert (decision.calls, decision.size_bytes) == (3, sum(sizes))


def test_a_group_of_one_and_a_size_of_nothing_take_no_time():
    step = [
        {"all_reduce": {"size": "1 GB", "over": "tp"}},
        {"all_reduce": {"size": 0, "over": "dp"}},
        {"send": {"to": {"dp": "dp+1"}, "size": 0}},
        {"recv": {"from": {"dp": "dp-1"}, "size": 0}},
    ]
    trace = run(made_workload({"dp": 3, "tp": 1}, step), AlphaBetaNetwork(latency_ps=NS))
    assert trace.finish_ps == (0, 0, 0)
    assert trace.spans == trace.decisions == ()


def test_a_different_order_names_both_ranks_with_their_lines():
    step = [
        {"when": "dp == 0", "do": [{"all_reduce": {"size": 8, "over": "dp"}}]},
        {"broadcast": {"size": 8, "over": "dp"}},
        {"when": "dp == 1", "do": [{"all_reduce": {"size": 8, "over": "dp"}}]},
    ]
    with pytest.raises(ConfigurationError) as failed:
        run(made_workload({"dp": 2}, step))
    assert str(failed.value).startswith("step.yaml:2: rank 1 calls broadcast of 8 B over dp")
    assert "but rank 0 calls all_reduce of 8 B over dp (step.yaml:1)" in str(failed.value)


def test_ranks_that_wait_for_each_other_are_named_with_what_they_wait_for():
    def receive(peer):
        return {"recv": {"from": {"dp": peer}, "size": 8}}

    step = [receive("1-dp"), {"send": {"to": {"dp": "1-dp"}, "size": 8}}]
    with pytest.raises(UnfinishedError) as failed:
        run(made_workload({"dp": 2}, step))
    assert str(failed.value).splitlines() == [
        "deadlock at 0 ps",
        "  rank 0 waits in recv of 8 B from rank 1 (step.yaml:1); not entered by rank 1",
        "  rank 1 waits in recv of 8 B from rank 0 (step.yaml:1); not entered by rank 0",
    ]


def test_a_rank_that_does_fewer_rounds_is_named():
    """Case D8: worker 2 does 3 rounds, the others 4."""
    gradient = {"all_reduce": {"size": 8, "over": "dp"}}
    step = [{"repeat": "4 - (dp == 2)", "do": [gradient]}]
    with pytest.raises(UnfinishedError, match=r"not entered by rank 2 \(ended\)"):
        run(made_workload({"dp": 4}, step))


def test_a_message_that_nobody_receives_is_an_error_of_its_line():
    step = [{"send": {"to": {"dp": "dp+1"}, "size": 8}}]
    with pytest.raises(ConfigurationError, match=r"^step.yaml:1: rank 0 .*rank 1 never enters"):
        run(made_workload({"dp": 2}, step))


def starts(trace, rank):
    return [
        span.start_ps // MS
        for span in trace.spans
        if (span.rank, span.operation) == (rank, "compute")
    ]


def test_slack_lets_a_rank_run_ahead_of_the_slowest_and_no_further():
    body = [{"compute": "(1 + 2*rank)*1 ms"}, {"all_reduce": {"size": 8, "over": "w"}}]
    trace = run(made_workload({"w": 2}, [{"repeat": 5, "slack": 2, "do": body}]))
    # Sum i is complete at 3(i+1) ms; rank 0 ends turn i when sum i-2 is.
    assert starts(trace, 0) == [0, 1, 2, 3, 6]
    assert starts(trace, 1) == [0, 3, 6, 9, 12]
    assert trace.finish_ps == (15 * MS, 15 * MS)


@pytest.mark.parametrize(("slack", "expected_ms"), [(0, 12), (1, 8)])
def test_slack_evens_out_ranks_that_are_slow_in_turns(slack, expected_ms):
    body = [{"compute": "1 ms + 2 ms*((i + rank) % 2)"}, {"all_reduce": {"size": 8, "over": "w"}}]
    trace = run(made_workload({"w": 2}, [{"repeat": 4, "slack": slack, "do": body}]))
    assert trace.finish_ps == (expected_ms * MS,) * 2


def quorum_of(quorum, third_ms, turns):
    times = {"first": "1 ms", "second": "2 ms", "third": f"{third_ms} ms"}
    mine = "first*(w == 0) + second*(w == 1) + third*(w == 2)"
    body = [{"compute": mine}, {"all_reduce": {"size": 8, "over": "w", "quorum": quorum}}]
    step = [{"repeat": turns, "do": body}]
    return run(made_workload({"w": 3}, step, let=times), AlphaBetaNetwork(latency_ps=5 * MS))


@pytest.mark.parametrize(
    ("quorum", "third_ms", "turns", "expected_ms"),
    [
        (3, 9, 1, (14, 14, 14)),
        # Two have entered after 2 ms, so that all have the sum 5 ms later; a late rank goes on.
        (2, 9, 1, (7, 7, 9)),
        (2, 4, 1, (7, 7, 7)),
        # The second sum has its two at 7 + 2 ms.
        (2, 9, 2, (14, 14, 18)),
        # Rank 0 alone sets the pace of sums: 1 + 5, again and again.
        (1, 9, 2, (12, 12, 18)),
    ],
)
def test_a_quorum_completes_an_operation_for_all(quorum, third_ms, turns, expected_ms):
    trace = quorum_of(quorum, third_ms, turns)
    assert trace.finish_ps == tuple(time * MS for time in expected_ms)


def test_a_quorum_is_shown_as_what_is_modelled():
    assert [each.modelled for each in quorum_of(3, 9, 1).decisions] == [""]
    (decision,) = quorum_of(2, 4, 1).decisions
    assert decision.modelled.startswith("the members' times of entry; all take part once")
    assert decision.calls == 1
    late = [span for span in quorum_of(2, 4, 1).spans if span.rank == 2]
    assert [(span.operation, span.start_ps, span.end_ps) for span in late] == [
        ("all_reduce", 4 * MS, 7 * MS),
        ("compute", 0, 4 * MS),
    ]


def test_the_absent_take_part_when_they_notice():
    body = [{"compute": "w*10 ms"}, {"all_reduce": {"size": 8, "over": "w", "quorum": 1}}]
    workload = made_workload({"w": 2}, body)
    trace = run_step(workload, AlphaBetaNetwork(5 * MS), PlainLowering(), Limits(notice_ps=2 * MS))
    assert trace.finish_ps == (7 * MS, 10 * MS)


def test_different_quorums_and_types_name_both_ranks():
    call = {"size": 8, "over": "w", "quorum": "1 + (w > 0)", "dtype": "float16"}
    with pytest.raises(ConfigurationError) as failed:
        run(made_workload({"w": 3}, [{"reduce": call}]))
    assert "rank 1 calls reduce (float16, quorum 2) of 8 B over w" in str(failed.value)
    assert "rank 0 calls reduce (float16, quorum 1) of 8 B" in str(failed.value)


def test_a_rank_that_never_calls_is_named_though_a_quorum_was_there():
    call = {"all_reduce": {"size": 8, "over": "w", "quorum": 1}}
    with pytest.raises(ConfigurationError, match=r"rank 0 calls all_reduce .*which rank 1 never"):
        run(made_workload({"w": 2}, [{"when": "w == 0", "do": [call]}]))
