"""What drawings of timelines show: bars as long as spans, and fewer where nobody could see them."""

import pytest

from innet.metrics.step_timeline import Bar, timelines_of
from innet.trace.spans_file import StoredSpan, spans_file

STEP = 1_500_000  # so that 1000 ps can be seen


def span(operation, start, end, number=-1, rank=0, algorithm="ring", axes="dp"):
    axes = "" if operation == "compute" else axes
    return StoredSpan(algorithm, rank, operation, axes, start, end - start, 8, number, "")


def bars_of(*spans):
    (timeline,) = timelines_of(spans_file([*spans, span("all_gather", 0, STEP, 99, 7)]), ["ring"])
    return [bar for lane in timeline.lanes if lane.rank == 0 for bar in lane.bars]


def test_lanes_and_kinds_of_two_algorithms_are_named_alike():
    spans = [
        span("all_reduce", 500_000, STEP, 0),
        span("all_reduce", 900_000, STEP, 0, 1),
        span("compute", 0, 500_000),
        span("compute", 0, 100, algorithm="in_network"),
        span("recv", 0, 50, 1, algorithm="other"),
    ]
    ours, ring = timelines_of(spans_file(spans), ["in_network", "ring"])
    assert ours.kinds == ring.kinds == ("compute", "all_reduce over dp")
    assert (ours.step_ps, ring.step_ps, ring.ranks) == (100, STEP, (0, 1))
    assert [(lane.rank, lane.category) for lane in ring.lanes] == [
        (0, "compute"),
        (0, "collective"),
        (1, "collective"),
    ]
    assert ring.lanes[1].bars == (Bar(500_000, 900_000, 1, True), Bar(900_000, STEP, 1, False))


def test_compute_without_gaps_is_one_bar():
    assert bars_of(*(span("compute", at, at + 9000) for at in range(0, 90_000, 9000))) == [
        Bar(0, 90_000, 0, False)
    ]


def test_long_operations_that_touch_are_parted():
    found = bars_of(span("all_reduce", 0, 500_000, 0), span("all_reduce", 500_000, 900_000, 1))
    assert [bar[:2] for bar in found] == [(0, 499_000), (500_000, 900_000)]


def test_short_operations_that_touch_are_one_bar_and_a_short_one_is_wide_enough_to_see():
    short = [span("all_reduce", at, at + 90, at) for at in range(0, 900, 100)]
    assert [bar[:2] for bar in bars_of(*short)] == [(0, 1000)]
    assert [bar[:2] for bar in bars_of(span("all_reduce", 0, 5, 0))] == [(0, 1000)]


def test_a_message_that_is_sent_at_once_is_seen():
    assert [bar[:2] for bar in bars_of(span("send", 700_000, 700_000, 0))] == [(700_000, 701_000)]


def test_a_million_operations_are_few_bars():
    many = [span("all_reduce", at, at + 50, at) for at in range(0, STEP, 100)]
    assert len(bars_of(*many)) < 1500


def test_of_more_bars_than_can_be_drawn_every_cell_shows_what_fills_most_of_it():
    """In each cell of 1000 ps, 600 of one operation and 400 of another, and never an empty one."""
    spans = []
    for at in range(0, STEP, 1000):
        spans.append(span("all_reduce", at, at + 600, at))
        spans.append(span("reduce", at + 600, at + 1000, at + 1))
    (timeline,) = timelines_of(spans_file([*spans, span("all_gather", 0, STEP, 99, 7)]), ["ring"])
    (bar,) = timeline.lanes[0].bars
    assert (bar.start_ps, bar.end_ps) == (0, STEP)
    assert timeline.kinds[bar.kind] == "all_reduce over dp"


def test_what_is_no_file_of_spans_is_an_error():
    with pytest.raises(ValueError, match="line 1: the columns"):
        timelines_of(b"", ["ring"])
