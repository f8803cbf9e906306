"""Every verb for packets, with the time that follows from it to the picosecond.

Two workers, four chunks in four slots, so a run without faults takes three packets more than a
round trip.
"""

import pytest

from tests.engine.made_scenarios import PACKET_PS, ROUND_TRIP_PS, fault, finish_ps, summed, timing

UNDISTURBED_PS = ROUND_TRIP_PS + 3 * PACKET_PS
UP_0, DOWN_0, UP_1 = 0, 1, 2


def test_nothing_happens_without_a_fault():
    assert finish_ps(timing()) == UNDISTURBED_PS


def test_a_delayed_packet_holds_up_those_behind_it():
    trace = timing(more=fault("{delay: {from: 0, to: switch, packet: first, by: 10 us}}"))
    assert finish_ps(trace) == UNDISTURBED_PS + 10_000_000


def test_a_reordered_packet_is_overtaken():
    trace = timing(more=fault("{reorder: {from: 0, to: switch, packet: first, by: 10 us}}"))
    assert finish_ps(trace) == ROUND_TRIP_PS + 10_000_000


def test_packets_that_meet_at_one_instant_are_taken_in_the_order_of_sending():
    """The first packet comes exactly with the last one, and goes on before it."""
    by = f"{3 * PACKET_PS} ps"
    trace = timing(more=fault(f"{{reorder: {{from: 0, to: switch, packet: first, by: {by}}}}}"))
    assert finish_ps(trace) == UNDISTURBED_PS + PACKET_PS


def test_a_copy_of_an_update_takes_no_bandwidth_and_is_not_counted_again():
    trace = timing(more=fault("{duplicate: {from: 1, to: switch, packet: 2}}"))
    assert (trace.links[UP_1].packets, trace.links[UP_1].duplicated) == (4, 1)
    assert trace.switches[0].unicasts == 1
    # The sum is complete when the copy comes, so worker 1 gets it twice.
    finishes = [rank.finish_ps for rank in trace.ranks]
    assert finishes == [UNDISTURBED_PS, UNDISTURBED_PS + PACKET_PS]


def test_a_copy_of_a_result_is_stale():
    trace = timing(more=fault("{duplicate: {from: switch, to: 0, packet: all, by: 1 us}}"))
    assert trace.links[DOWN_0].duplicated == 4
    assert [rank.stale for rank in trace.ranks] == [4, 0]


def test_a_corrupted_packet_is_discarded_and_sent_again():
    trace = timing(more=fault("{corrupt: {from: switch, to: 0, packet: 3, kind: result}}"))
    assert trace.links[DOWN_0].corrupted == 1
    assert trace.links[DOWN_0].lost == 0
    assert trace.ranks[0].retransmissions == 1
    assert trace.switches[0].unicasts == 1


def test_a_lost_packet_counts_in_the_order_that_faults_go_by():
    more = fault(
        "{drop: {from: 0, to: switch, packet: first}},{corrupt: {from: 0, to: switch, packet: 2}}"
    )
    trace = timing(more=more)
    assert (trace.links[UP_0].lost, trace.links[UP_0].corrupted) == (1, 1)


@pytest.mark.parametrize("window", ["after: 200 ns", "until: 100 ns"])
def test_a_fault_ends_and_begins_in_time(window):
    trace = timing(more=fault(f"{{drop: {{from: 0, to: switch, packet: first, {window}}}}}"))
    assert trace.links[UP_0].lost == (0 if "after" in window else 1)


def test_a_fault_with_a_chance_meets_about_its_share():
    more = fault("{duplicate: {from: 0, to: switch, packet: all, probability: 0.25}}")
    trace = timing(chunks=4000, more=more)
    assert 900 < trace.links[UP_0].duplicated < 1100


def test_one_fault_does_not_shift_the_draws_of_another():
    copies = "{duplicate: {from: 0, to: switch, packet: all, probability: 0.25}}"
    later = "{reorder: {from: 0, to: switch, packet: all, probability: 0.5, by: 1 ps}}"
    alone, both = (timing(chunks=400, more=fault(text)) for text in (copies, f"{copies}, {later}"))
    assert alone.links[UP_0].duplicated == both.links[UP_0].duplicated


@pytest.mark.parametrize("algorithm", ["in_network", "ring", "halving_doubling"])
def test_sums_are_right_whatever_the_links_do(algorithm):
    more = fault(
        "{duplicate: {from: all, to: switch, packet: all, probability: 0.2, by: 3 us}},"
        "{reorder: {from: switch, to: all, packet: all, probability: 0.2, by: 7 us}},"
        "{corrupt: {from: switch, to: all, packet: all, probability: 0.05}},"
        "{delay: {from: all, to: switch, packet: all, probability: 0.05, by: 5 us}}"
    )
    tensors, trace = summed(3001, algorithm, workers=4, loss="0.02", more=more)
    for result in trace.results:
        assert (result == sum(tensors)).all()
