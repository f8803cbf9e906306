"""Costs per packet on a host's cores, stalled windows and queues, against closed forms."""

from pathlib import Path

import pytest

from innet.engine.simulate import simulate
from innet.scenario.build import build_plan
from innet.scenario.load import parse_scenario
from tests.engine.made_scenarios import PACKET_PS, ROUND_TRIP_PS, finish_ps, summed, timing


@pytest.mark.parametrize(
    ("send_ns", "receive_ns", "time_ps"),
    [
        (0, 500, ROUND_TRIP_PS + 4 * 500_000),
        (200, 0, ROUND_TRIP_PS + 4 * 200_000),
        (200, 100, ROUND_TRIP_PS + 4 * 200_000 + 100_000),
        (200, 500, ROUND_TRIP_PS + 200_000 + 4 * 500_000),
        (50, 20, ROUND_TRIP_PS + 50_000 + 3 * PACKET_PS + 20_000),
    ],
)
def test_the_slower_of_host_and_link_sets_the_pace(send_ns, receive_ns, time_ps):
    trace = timing(chunks=4, more=f"host: {{send: {send_ns} ns, receive: {receive_ns} ns}}")
    assert finish_ps(trace) == time_ps
    busy_ps = 4 * 1000 * (send_ns + receive_ns)
    assert [rank.cpu_busy_ps for rank in trace.ranks] == [busy_ps, busy_ps]


def test_two_cores_share_the_work():
    more = "host: {send: 0 ns, receive: 500 ns, cores: 2}"
    # Each core takes two of four results; the second core's first one comes two packets later.
    assert finish_ps(timing(chunks=4, more=more)) == ROUND_TRIP_PS + 2 * PACKET_PS + 2 * 500_000


def test_a_core_receives_and_answers_one_packet_after_another():
    """One slot: a round trip with both costs for every chunk."""
    trace = timing(chunks=5, slots=1, more="host: {send: 300 ns, receive: 200 ns}")
    assert finish_ps(trace) == 5 * (ROUND_TRIP_PS + 500_000)


@pytest.mark.parametrize("algorithm", ["ring", "double_tree", "sharded_parameter_server"])
def test_costs_do_not_change_the_sums(algorithm):
    more = "host: {send: 300 ns, receive: 200 ns, cores: 2}"
    tensors, trace = summed(5000, algorithm, workers=3, loss="0.01", more=more)
    for result in trace.results:
        assert (result == sum(tensors)).all()
    assert all(rank.cpu_busy_ps > 0 for rank in trace.ranks)


def test_a_ring_of_two_pays_both_costs_in_every_step():
    """One packet a step: reduce-scatter and all-gather, each there and acknowledged for free."""
    more = "host: {send: 300 ns, receive: 200 ns}\nmessage: {payload: 128 B, overhead: 76 B}"
    free = timing(2, "ring", more="message: {payload: 128 B, overhead: 76 B}")
    costly = timing(2, "ring", more=more)
    # Step 2's packet is sent after the acknowledgement of step 1's has been sent, 300 ns more.
    assert finish_ps(costly) - finish_ps(free) == 2 * 500_000 + 300_000


def test_a_window_of_one_stalls_for_a_round_trip_less_a_packet():
    trace = timing(chunks=10, slots=1)
    assert [rank.window_stalled_ps for rank in trace.ranks] == [9 * (ROUND_TRIP_PS - PACKET_PS)] * 2


def test_a_stream_stalls_while_its_window_is_full():
    """One packet of 204 bytes at a time each way, acknowledged for nothing, through a switch."""
    more = "message: {payload: 128 B, overhead: 76 B, window: 1}"
    trace = timing(20, "recursive_doubling", more=more)
    there_and_back = 2 * PACKET_PS + 4 * 1_000_000 + 2 * 1_000_000
    assert trace.ranks[0].window_stalled_ps == 19 * (there_and_back - PACKET_PS)


def test_a_queue_that_overflows_drops_and_the_run_recovers():
    text = """
version: 1
name: incast
topology: {kind: star, workers: 8, link: {rate: 10 Gbps, delay: 1 us, loss: 0, queue: 20 KB}}
switch: {latency: 1 us, slots: 64}
collective: {op: all_reduce, size: 400 KB, dtype: int32}
algorithms: [parameter_server]
message: {window: 64}
"""
    case = parse_scenario(text, "test.yaml", (), Path("."))
    plan = build_plan(case, "parameter_server", False, 100_000)
    trace = simulate(plan)
    server_down = plan.graph.links_into[plan.hosts[8].node][0]
    assert trace.links[server_down].queue_dropped > 0
    assert sum(rank.retransmissions for rank in trace.ranks) > 0
    assert finish_ps(trace) > 0
