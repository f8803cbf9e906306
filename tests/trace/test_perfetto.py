"""Timelines in the Trace Event Format: what the format asks for, and what a viewer makes of it."""

import itertools
import json
from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from innet.trace.lanes import lanes_of
from innet.trace.perfetto import perfetto_file, trace_events
from innet.trace.spans_file import StoredSpan


def span(rank, operation, start, duration, number=-1, axes="", how=""):
    return StoredSpan("in_network", rank, operation, axes, start, duration, 1000, number, how)


PIPELINE = [
    span(0, "compute", 0, 4_000_400),
    span(0, "send", 4_000_400, 1_000_200, 0, "pp", "direct"),
    span(0, "compute", 4_000_400, 2_000_000),
    span(0, "all_reduce", 7_000_000, 500, 1, "dp", "in_network"),
    span(1, "recv", 0, 5_000_600, 0, "pp", "direct"),
    span(1, "compute", 5_000_600, 4_000_000),
]


def document(spans=PIPELINE, names=None):
    return json.loads(perfetto_file(spans, names or {}, {"scenario": "made"}))


def viewer_ns(microseconds):
    """How Perfetto reads a time: llround(value * 1000)."""
    return round(microseconds * 1000)


def require_valid(events):
    """Check what the format requires of each kind of event."""
    required = {
        "M": {"name", "cat", "pid", "tid", "ts", "args"},
        "X": {"name", "cat", "pid", "tid", "ts", "dur", "args"},
        "s": {"name", "cat", "id", "pid", "tid", "ts"},
        "f": {"name", "cat", "id", "pid", "tid", "ts", "bp"},
    }
    for event in events:
        assert set(event) == {"ph", *required[event["ph"]]}
        assert type(event["pid"]) is type(event["tid"]) is int
        assert event["pid"] > 0
        for key in {"ts", "dur"} & set(event):
            assert isinstance(event[key], int | float)
            assert event[key] >= 0
        if event["ph"] == "M":
            wanted = "sort_index" if event["name"].endswith("sort_index") else "name"
            assert set(event["args"]) == {wanted}

    owners = {(event["tid"], event["pid"]) for event in events}
    assert len(owners) == len({thread for thread, _ in owners})
    assert not {thread for thread, _ in owners} & {process for _, process in owners}


def require_apart(events):
    """Check that a thread's spans, as a viewer rounds them, neither nest nor overlap."""
    threads = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            start = viewer_ns(event["ts"])
            threads[event["tid"]].append((start, start + viewer_ns(event["dur"]), event["pid"]))
    for spans in threads.values():
        assert len({process for *_, process in spans}) == 1
        assert all(before[1] <= after[0] for before, after in itertools.pairwise(spans))


def test_ranks_are_processes_and_lanes_are_threads_with_names():
    events = document(names={1: "rank 1: pp 1"})["traceEvents"]
    require_valid(events)
    named = {
        (event["pid"], event["tid"] if event["name"] == "thread_name" else 0): event["args"]["name"]
        for event in events
        if event["name"] in ("process_name", "thread_name")
    }
    assert named == {
        (1, 0): "rank 0",
        (1, 3): "compute",
        (1, 4): "collective over dp",
        (1, 5): "send over pp",
        (2, 0): "rank 1: pp 1",
        (2, 6): "compute",
        (2, 7): "recv over pp",
    }


def test_times_are_microseconds_with_the_exact_ones_beside():
    (event,) = (each for each in document()["traceEvents"] if each["name"] == "all_reduce")
    assert (event["ts"], event["dur"]) == (7.0, 0.0)
    assert event["args"] == {
        "start_ps": 7_000_000,
        "duration_ps": 500,
        "bytes": 1000,
        "axes": "dp",
        "how": "in_network",
        "operation": 1,
    }
    assert document()["otherData"] == {"scenario": "made"}
    assert document()["displayTimeUnit"] == "ns"


def test_a_message_is_an_arrow_inside_its_send_and_its_receive():
    events = document()["traceEvents"]
    (start,) = (each for each in events if each["ph"] == "s")
    (end,) = (each for each in events if each["ph"] == "f")
    assert start["id"] == end["id"] == 0
    assert (start["pid"], start["ts"], end["pid"], end["ts"]) == (1, 4.0, 2, 4.0)
    assert end["bp"] == "e"


def test_an_arrow_that_could_not_end_in_its_receive_is_left_out():
    spans = [span(0, "send", 0, 5000, 0), span(1, "recv", 9000, 0, 0)]
    assert [each["ph"] for each in trace_events(spans, {})].count("s") == 0


def test_the_same_spans_give_the_same_bytes_an_event_a_line():
    content = perfetto_file(PIPELINE, {}, {})
    assert content == perfetto_file(list(reversed(PIPELINE)), {}, {})
    lines = content.decode().splitlines()
    assert all(json.loads(line.rstrip(",")) for line in lines[1:-1])


operations = st.tuples(
    st.integers(0, 2),
    st.sampled_from(["all_reduce", "send", "recv", "compute"]),
    st.integers(0, 20_000),
    st.integers(0, 5_000),
)


@given(st.lists(operations, max_size=12))
def test_no_spans_of_a_thread_overlap_however_they_are_rounded(drawn):
    spans = [span(*each, number) for number, each in enumerate(drawn)]
    events = list(trace_events(spans, {}))
    require_valid(events)
    require_apart(events)
    assert sum(event["ph"] == "X" for event in events) == len(spans)
    for lane in lanes_of(spans):
        ends = [(each.start_ps, each.end_ps) for each in lane.spans]
        assert all(a[1] <= b[0] for a, b in itertools.pairwise(ends))


@pytest.mark.parametrize(("start", "ts"), [(500, 0.0), (1500, 0.002), (501, 0.001), (2500, 0.002)])
def test_nanoseconds_are_rounded_half_to_even(start, ts):
    *_, event = trace_events([span(0, "compute", start, 0)], {})
    assert event["ts"] == ts
