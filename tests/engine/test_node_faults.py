"""Pauses, crashes and restarts of workers and of the switch."""

import pytest

from innet.errors import UnfinishedError
from tests.engine.made_scenarios import (
    DELAY_PS,
    LATENCY_PS,
    PACKET_PS,
    ROUND_TRIP_PS,
    fault,
    finish_ps,
    summed,
    timing,
)


def test_a_paused_worker_takes_its_result_when_it_goes_on():
    trace = timing(chunks=1, more=fault("{pause: {node: 1, at: 1 us, for: 100 us}}"))
    assert [rank.finish_ps for rank in trace.ranks] == [ROUND_TRIP_PS, 101_000_000]


def test_a_worker_paused_at_its_start_starts_later():
    more = fault("{pause: {node: 1, at: 1 us, for: 9 us}}") + "\nworkers: {1: {start: 5 us}}"
    assert finish_ps(timing(chunks=1, more=more)) == 10_000_000 + ROUND_TRIP_PS


def test_a_paused_switch_handles_later_what_has_arrived():
    trace = timing(chunks=4, more=fault("{pause: {node: switch, at: 500 ns, for: 50 us}}"))
    assert finish_ps(trace) == 50_500_000 + LATENCY_PS + 4 * PACKET_PS + DELAY_PS


def test_overlapping_pauses_end_with_the_later_one():
    more = fault(
        "{pause: {node: 0, at: 1 us, for: 100 us}}, {pause: {node: 0, at: 2 us, for: 20 us}}"
    )
    assert finish_ps(timing(chunks=1, more=more)) == 101_000_000


@pytest.mark.parametrize("algorithm", ["in_network", "ring"])
def test_a_crashed_worker_is_named(algorithm):
    with pytest.raises(UnfinishedError, match=r"(worker|rank) 1"):
        timing(100, algorithm, more=fault("{crash: {node: 1, at: 2 us}}"))


def test_a_crashed_switch_leaves_everybody_waiting():
    with pytest.raises(UnfinishedError, match="worker 0 waits for slot 0"):
        timing(100, more=fault("{crash: {node: switch, at: 2 us}}"))


def test_a_crash_after_the_end_does_no_harm():
    assert finish_ps(timing(more=fault("{crash: {node: 0, at: 1 s}}"))) > 0


def test_what_a_crashed_host_had_queued_is_lost_and_what_it_was_sending_arrives():
    more = fault("{crash: {node: 0, at: 200 ns}}")
    with pytest.raises(UnfinishedError, match="worker 0"):
        timing(more=more)


def test_a_worker_that_restarts_in_time_gets_the_result_again():
    """Its packet was on the way; the one after the restart is answered from the full set."""
    trace = timing(chunks=1, more=fault("{restart: {node: 1, at: 100 ns, for: 50 us}}"))
    assert trace.ranks[1].finish_ps == 50_100_000 + ROUND_TRIP_PS
    assert trace.switches[0].unicasts == 1


def test_a_worker_that_restarts_too_late_never_gets_a_wrong_sum():
    """Case 25: its chunk 0 is over, so it is stale, and the job stops."""
    with pytest.raises(UnfinishedError, match="worker 1 waits for slot 0"):
        timing(chunks=40, slots=1, more=fault("{restart: {node: 1, at: 20 us}}"))


@pytest.mark.parametrize("at", range(2, 40, 3))
def test_a_switch_that_loses_its_registers_in_a_lossy_run_costs_no_sum(at):
    more = fault(f"{{restart: {{node: switch, at: {at} us, for: 3 us}}}}")
    tensors, trace = summed(2003, workers=3, loss="0.05", more=more)
    for result in trace.results:
        assert (result == sum(tensors)).all()


def test_help_is_called_for_and_given():
    """Worker 0 has the first result, worker 1 has not, when the switch forgets it."""
    more = fault(
        "{drop: {from: switch, to: 1, packet: first}}, {restart: {node: switch, at: 5 us}}"
    )
    tensors, trace = summed(320, slots=1, more=more)
    assert (trace.results[1] == sum(tensors)).all()
    assert trace.switches[0].helps_sent >= 1
    assert [rank.helps_answered for rank in trace.ranks] == [1, 0]


def test_the_published_switch_stays_silent_after_it_lost_its_state():
    """Case 26."""
    more = fault(
        "{drop: {from: switch, to: 1, packet: first}}, {restart: {node: switch, at: 5 us}}"
    )
    with pytest.raises(UnfinishedError, match="nothing has moved"):
        timing(chunks=10, slots=1, guard="off", more=more)


def test_a_forwarding_switch_that_restarts_only_loses_packets():
    more = fault("{restart: {node: switch, at: 20 us, for: 50 us}}")
    tensors, trace = summed(20_000, "ring", workers=3, more=more)
    assert (trace.results[0] == sum(tensors)).all()
    assert sum(rank.retransmissions for rank in trace.ranks) > 0


def test_a_rank_that_restarts_has_lost_its_streams():
    with pytest.raises(UnfinishedError, match="rank 1 restarted and lost its streams"):
        timing(1000, "ring", more=fault("{restart: {node: 1, at: 2 us, for: 10 us}}"))


def test_a_rank_that_restarts_before_it_has_said_anything_just_starts():
    more = fault("{restart: {node: 1, at: 2 us, for: 10 us}}") + "\nworkers: {1: {start: 50 us}}"
    tensors, trace = summed(320, "ring", more=more)
    assert (trace.results[1] == sum(tensors)).all()


def test_calls_for_help_are_no_progress():
    """They must not keep a dead run alive."""
    with pytest.raises(UnfinishedError, match="nothing has moved"):
        timing(40, more=fault("{drop: {from: 1, to: switch, packet: all}}"))


def test_a_run_ends_although_acknowledgements_are_lost_for_ever():
    """All data arrives, so everybody is done; its senders never learn it."""
    more = fault("{drop: {from: switch, to: all, packet: all, kind: ack}}")
    trace = timing(40, "ring", more=more)
    assert all(rank.finish_ps > 0 for rank in trace.ranks)
    assert all(rank.retransmissions > 0 for rank in trace.ranks)
