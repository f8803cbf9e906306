"""The figures of training steps, worked out by hand and instant by instant."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_steps import RING, link_record, opened, star, step_trace, work

from innet.metrics.step_figures import OpenTimes, RankTimes
from innet.metrics.step_gain import Gain, OffloadingLoss, gain_of, offloading_losses
from innet.metrics.step_rows import operation_rows, rank_rows, step_link_rows
from innet.metrics.step_summary import rank_times, summarise_step
from innet.topology.graph import Graph, Link, Node


def summary(trace, algorithm="in_network", ranks=2):
    return summarise_step(trace, star(ranks), algorithm, "made")


def test_an_operation_under_compute_is_hidden_and_the_rest_exposed():
    spans = [work(0, 0, 60), opened(0, 20, 100, 0), work(1, 0, 60), opened(1, 20, 100, 0)]
    found = summary(step_trace(spans))
    times = RankTimes(compute_ps=60, exposed_ps=40, waiting_ps=0, hidden_ps=40, idle_ps=0)
    assert (found.step_ps, found.bound_ps, found.slowest_rank) == (100, 60, 0)
    assert found.mean == found.slowest == times
    (own,) = found.operations
    assert own.mean == own.slowest == OpenTimes(exposed_ps=40, waiting_ps=0, hidden_ps=40)
    assert (own.name, own.calls, own.size_bytes, own.offloaded) == (
        "all_reduce over dp",
        1,
        100,
        True,
    )


def test_overlapping_operations_are_exposed_once_in_all_and_each_by_itself():
    spans = [
        *(opened(rank, 0, 50, 0) for rank in range(2)),
        *(opened(rank, 30, 90, 1, "all_gather", 1, "tp") for rank in range(2)),
    ]
    found = summary(step_trace(spans))
    assert found.mean.exposed_ps == 90
    assert [each.mean.exposed_ps for each in found.operations] == [50, 60]


def test_waiting_is_open_before_the_last_rank_enters():
    spans = [work(1, 0, 70), opened(0, 10, 100, 0), opened(1, 70, 100, 0)]
    assert rank_times(step_trace(spans)) == [
        RankTimes(compute_ps=0, exposed_ps=90, waiting_ps=60, hidden_ps=0, idle_ps=10),
        RankTimes(compute_ps=70, exposed_ps=30, waiting_ps=0, hidden_ps=0, idle_ps=0),
    ]


def test_a_receiver_waits_for_its_sender_but_no_sender_for_its_receiver():
    spans = [opened(0, 30, 80, 0, "send"), opened(1, 0, 80, 0, "recv")]
    assert [each.waiting_ps for each in rank_times(step_trace(spans))] == [0, 30]
    for end, entered in ((80, 30), (40, 60)):
        spans = [opened(0, 0, end, 0, "send"), opened(1, entered, 80, 0, "recv")]
        assert [each.waiting_ps for each in rank_times(step_trace(spans))] == [0, 0]


def test_one_operation_under_way_ends_the_waiting_in_another():
    spans = [
        opened(0, 0, 100, 0),
        opened(1, 60, 100, 0),
        *(opened(rank, 20, 40, 1, "all_gather", 1, "tp") for rank in range(2)),
    ]
    assert rank_times(step_trace(spans))[0].waiting_ps == 40


def test_nobody_waits_for_a_rank_that_comes_after_an_end():
    """A quorum of rank 0 alone: rank 1 finds the result there; and a root that has sent all."""
    spans = [opened(0, 0, 40, 0), opened(1, 70, 70, 0)]
    assert [each.waiting_ps for each in rank_times(step_trace(spans, finish=(70, 70)))] == [0, 0]
    spans = [opened(0, 10, 40, 0, "broadcast"), opened(1, 0, 60, 0, "broadcast")]
    assert [each.waiting_ps for each in rank_times(step_trace(spans))] == [0, 10]


def test_messages_of_both_ends_are_one_row():
    spans = [opened(0, 0, 40, 0, "send"), opened(1, 10, 40, 0, "recv")]
    (own,) = summary(step_trace(spans)).operations
    assert (own.operation, own.calls, own.mean.exposed_ps, own.slowest.exposed_ps) == (
        "send",
        1,
        35,
        40,
    )


def test_idle_is_all_the_rest():
    found = summary(step_trace([work(0, 0, 30), work(1, 10, 100)], finish=(30, 100)))
    assert found.mean == RankTimes(60, 0, 0, 0, 40)
    assert found.slowest == RankTimes(90, 0, 0, 0, 10)
    assert found.slowest_rank == 1


def test_a_step_without_anything_takes_no_time():
    found = summary(step_trace([], links=[]))
    assert (found.step_ps, found.bound_ps, found.mean) == (0, 0, RankTimes(0, 0, 0, 0, 0))
    assert (found.limited_by, found.because) == (
        "compute",
        "Rank 0, the last to end, computed no time.",
    )


def test_bytes_are_told_by_class_with_the_busiest_link():
    nodes = (Node("a", "host"), Node("leaf0", "switch"), Node("spine0", "switch"))
    graph = Graph(
        nodes,
        (
            Link(0, 1, 10**10, 0, link_class="rack"),
            Link(1, 0, 10**10, 0, link_class="rack"),
            Link(1, 2, 10**11, 0, link_class="spine"),
        ),
    )
    links = [link_record(link, bytes=10 + link, busy_ps=20 - link, lost=1) for link in range(3)]
    found = summarise_step(step_trace([], 1, links=links), graph, "ring", "made")
    rack, spine = found.link_classes
    assert (rack.link_class, rack.bytes, rack.busiest, rack.busiest_ps) == (
        "rack",
        21,
        "a -> leaf0",
        20,
    )
    assert (spine.bytes, spine.busiest, spine.busiest_rate_bps) == (12, "leaf0 -> spine0", 10**11)
    assert found.dropped == 3


# --- instant by instant -------------------------------------------------------------------

LENGTH = 20


@st.composite
def traces(draw):
    """Ranks that compute one piece after another, and operations of several of them."""
    ranks = draw(st.integers(1, 3))
    spans = []
    for rank in range(ranks):
        cuts = sorted(draw(st.lists(st.integers(0, LENGTH), max_size=6, unique=True)))
        spans += [work(rank, *pair) for pair in zip(cuts[::2], cuts[1::2], strict=False)]
    for number in range(draw(st.integers(0, 5))):
        decision = draw(st.integers(0, 1))
        for rank in draw(st.sets(st.integers(0, ranks - 1), min_size=1)):
            start = draw(st.integers(0, LENGTH))
            end = draw(st.integers(start, LENGTH))
            kind = ("all_reduce", "all_gather")[decision]
            spans.append(opened(rank, start, end, number, kind, decision))
    return step_trace(spans, ranks, finish=(LENGTH,) * ranks)


def counted(trace, rank, decision=None):
    """Exposed, waiting and hidden of a rank by looking at every instant."""
    entered = {}
    for span in trace.spans:
        ends = [other.end_ps for other in trace.spans if other.number == span.number]
        if span.start_ps <= min(ends):
            entered[span.number] = max(span.start_ps, entered.get(span.number, 0))
    counts = {"exposed": 0, "waiting": 0, "hidden": 0, "compute": 0}
    for now in range(LENGTH):
        here = [s for s in trace.spans if s.rank == rank and s.start_ps <= now < s.end_ps]
        computes = any(s.operation == "compute" for s in here)
        ours = [s for s in here if s.decision >= 0 and decision in (None, s.decision)]
        counts["compute"] += computes
        counts["hidden"] += bool(ours and computes)
        counts["exposed"] += bool(ours and not computes)
        late = all(now < entered[s.number] for s in ours)
        counts["waiting"] += bool(ours and not computes and late)
    return counts


@given(traces())
def test_every_figure_is_what_a_count_of_instants_gives(trace):
    ranks = len(trace.finish_ps)
    for rank, times in enumerate(rank_times(trace)):
        counts = counted(trace, rank)
        assert (times.compute_ps, times.exposed_ps, times.waiting_ps, times.hidden_ps) == (
            counts["compute"],
            counts["exposed"],
            counts["waiting"],
            counts["hidden"],
        )
        assert times.compute_ps + times.exposed_ps + times.idle_ps == LENGTH
    found = summarise_step(trace, star(ranks), "made", "made")
    for own in found.operations:
        place = ("all_reduce", "all_gather").index(own.operation)
        counts = [counted(trace, rank, place) for rank in range(ranks)]
        means = [
            round(Fraction(sum(each[key] for each in counts), ranks))
            for key in ("exposed", "waiting", "hidden")
        ]
        assert own.mean == OpenTimes(*means)


# --- gain -----------------------------------------------------------------------------------


def ran(algorithm, step_ps, how=RING):
    return summary(step_trace([opened(0, 0, step_ps, 0)], ran=how), algorithm)


def test_the_gain_is_over_the_best_point_to_point_algorithm():
    runs = [ran("in_network", 100, ("in_network", "")), ran("ring", 300), ran("other", 200)]
    assert gain_of(runs) == Gain("other", 2.0, True, 2)


def test_a_loss_is_below_one_and_what_was_not_offloaded_is_said():
    assert gain_of([ran("ring", 90), ran("in_network", 120)]) == Gain("ring", 0.75, False, 1)


@pytest.mark.parametrize("algorithms", [["in_network"], ["ring", "other"], []])
def test_there_is_no_gain_without_both(algorithms):
    assert gain_of([ran(algorithm, 100) for algorithm in algorithms]) is None


def test_a_step_of_no_time_has_no_gain():
    assert gain_of([ran("in_network", 0), ran("ring", 0)]) is None


def test_an_operation_that_is_exposed_longer_in_the_network_is_told():
    def run(algorithm, shared_ps, own_ps, how):
        spans = [
            opened(0, 0, shared_ps, 0),
            opened(0, shared_ps, shared_ps + own_ps, 1, "reduce_scatter", 1, "tp"),
        ]
        return summary(step_trace(spans, ran=how), algorithm)

    ours, ring = run("in_network", 50, 200, ("in_network", "")), run("ring", 60, 188, RING)
    assert offloading_losses([ours, ring]) == [
        OffloadingLoss("reduce_scatter over tp", "ring", 100, 94)
    ]
    assert offloading_losses([ours, run("ring", 60, 190, RING)]) == []
    # What ran point to point anyway, or is not there in both, cannot lose by offloading.
    assert offloading_losses([run("in_network", 50, 200, RING), ring]) == []
    assert offloading_losses([ours, ran("ring", 60)]) == []
    assert offloading_losses([ours]) == []


# --- rows -----------------------------------------------------------------------------------


def test_rows_hold_what_ranks_operations_and_links_did():
    trace = step_trace([work(0, 0, 60), opened(0, 20, 100, 0), opened(1, 50, 90, 0)], ran=RING)
    ranks = rank_rows(trace, "ring")
    assert ranks[1] == {
        "algorithm": "ring",
        "rank": 1,
        "finish_ps": 90,
        "compute_ps": 0,
        "exposed_ps": 40,
        "waiting_ps": 0,
        "hidden_ps": 0,
        "idle_ps": 60,
    }
    (operation,) = operation_rows(summary(trace, "ring"))
    assert (operation["offloaded"], operation["why"], operation["exposed_ps"]) == (0, RING[1], 40)
    links = step_link_rows(trace, star(), "ring")
    assert (links[3]["direction"], links[3]["link_class"], links[3]["busy_share"]) == (
        "switch -> worker1",
        "link",
        0.05,
    )
