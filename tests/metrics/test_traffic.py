"""Bytes and packets of a run, and the rows of the CSV files."""

from made_traces import plan_of, trace_of

from innet.metrics.rows import link_rows, worker_rows
from innet.metrics.traffic import (
    busiest_link,
    link_name,
    packets_dropped,
    packets_sent,
    rank_name,
    retransmissions,
    wire_bytes_per_nic,
)


def test_wire_bytes_are_the_busier_direction_of_the_busiest_host():
    plan = plan_of()
    trace = trace_of(plan, 10, links={2: {"bytes": 5000}, 5: {"bytes": 7000}})
    assert wire_bytes_per_nic(plan, trace) == 7000


def test_everything_that_did_not_arrive_whole_is_dropped():
    links = {0: {"lost": 1}, 1: {"queue_dropped": 20}, 2: {"corrupted": 300}, 3: {"duplicated": 9}}
    assert packets_dropped(trace_of(plan_of(), 10, links=links)) == 321


def test_packets_and_repeats_are_summed_over_the_hosts():
    ranks = {0: {"packets_sent": 3, "retransmissions": 1}, 3: {"packets_sent": 4}}
    trace = trace_of(plan_of(), 10, ranks=ranks)
    assert packets_sent(plan_of(), trace) == 7
    assert retransmissions(trace) == 1


def test_the_first_of_equally_busy_links_is_the_busiest():
    busy = {2: {"busy_ps": 9}, 4: {"busy_ps": 9}}
    assert busiest_link(trace_of(plan_of(), 10, links=busy)).link == 2


def test_names_are_those_of_the_graph():
    plan = plan_of()
    assert link_name(plan, 3) == "switch -> worker1"
    assert rank_name(plan, 3) == "worker 3"


def test_a_row_for_every_rank_and_link():
    plan = plan_of()
    trace = trace_of(plan, 10, ranks={2: {"finish_ps": 8}})
    workers, links = worker_rows(plan, trace), link_rows(plan, trace)
    assert [row["rank"] for row in workers] == [0, 1, 2, 3]
    told = {"algorithm": "in_network", "rank": 2, "node": "worker2", "finish_ps": 8}
    assert workers[2] == {**dict.fromkeys(workers[2], 0), **told}
    assert list(workers[2]) == [
        *("algorithm", "rank", "node", "helper", "start_ps", "finish_ps"),
        *("packets_sent", "packets_received", "retransmissions", "timeouts", "stale"),
        *("helps_answered", "window_stalled_ps", "cpu_busy_ps"),
    ]
    assert len(links) == 8
    assert links[1]["direction"] == "switch -> worker0"
    assert links[1]["busy_share"] == 0.5


def test_links_of_a_run_without_time_have_no_share():
    plan = plan_of()
    assert link_rows(plan, trace_of(plan, 0))[0]["busy_share"] == 0.0
