"""The switch alone: what it answers to one update after another. Two workers unless said."""

from itertools import permutations

import numpy as np
import pytest

from innet.protocol.endpoint import HELP, RESULT, TO_ALL, UPDATE, AggregationPacket, StaleDropped
from innet.protocol.switch import AggregationSwitch
from innet.wire.fixed_point import decode, encode

BOTH_PROTOCOLS = pytest.mark.parametrize("guard", [True, False], ids=["guarded", "published"])


def update(worker, value, *, slot=0, in_set=0, number=0, job=0, asks_help=False, exponent=0):
    values = np.array(np.atleast_1d(value), dtype=np.int32)
    return AggregationPacket(UPDATE, job, worker, slot, in_set, number, asks_help, exponent, values)


def answers(switch, packet):
    """What the switch sends on a packet: (destination, kind, its values)."""
    switch.receive(packet, 0)
    return [
        (destination, answer.kind, None if answer.values is None else answer.values.tolist())
        for destination, answer in switch.packets_to_send()
    ]


@BOTH_PROTOCOLS
def test_case_14_the_last_update_brings_the_sum_to_all(guard):
    switch = AggregationSwitch(2, 1, guard)
    assert answers(switch, update(0, [1, -5])) == []
    assert switch.missing(0, 0, 0) == [1]
    assert answers(switch, update(1, [2, 3])) == [(TO_ALL, RESULT, [3, -2])]
    assert switch.missing(0, 0, 0) == []
    assert switch.completed == 1


@BOTH_PROTOCOLS
def test_case_15_a_repeat_after_completion_is_answered_to_its_sender_alone(guard):
    switch = AggregationSwitch(2, 1, guard)
    answers(switch, update(0, 1))
    answers(switch, update(1, 2))
    for times in range(1, 4):
        assert answers(switch, update(1, 2)) == [(1, RESULT, [3])]
        assert switch.unicasts == times
    assert switch.completed == 1


@BOTH_PROTOCOLS
def test_case_16_a_repeat_before_completion_is_dropped_and_counted_once(guard):
    switch = AggregationSwitch(2, 1, guard)
    for _ in range(3):
        assert answers(switch, update(0, 1)) == []
    assert switch.repeats_dropped == 2
    assert answers(switch, update(1, 2)) == [(TO_ALL, RESULT, [3])]


@BOTH_PROTOCOLS
def test_case_17_the_old_result_is_there_while_a_peer_is_one_chunk_ahead(guard):
    switch = AggregationSwitch(2, 1, guard)
    answers(switch, update(0, 1, in_set=1, number=1))
    answers(switch, update(1, 2, in_set=1, number=1))
    assert answers(switch, update(1, 20, in_set=0, number=2)) == []
    assert answers(switch, update(0, 1, in_set=1, number=1)) == [(0, RESULT, [3])]
    assert answers(switch, update(0, 10, in_set=0, number=2)) == [(TO_ALL, RESULT, [30])]


@BOTH_PROTOCOLS
@pytest.mark.parametrize("first_set", [0, 1])
def test_case_18_the_sets_take_turns_without_residue(guard, first_set):
    switch = AggregationSwitch(2, 1, guard)
    for number in range(6):
        in_set = (first_set + number) % 2
        mine, theirs = 3**number, 5**number
        assert answers(switch, update(number % 2, mine, in_set=in_set, number=number)) == []
        last = update(1 - number % 2, theirs, in_set=in_set, number=number)
        assert answers(switch, last) == [(TO_ALL, RESULT, [mine + theirs])]


@BOTH_PROTOCOLS
def test_case_19_one_worker_gets_its_own_values_and_a_repeat_by_unicast(guard):
    switch = AggregationSwitch(1, 1, guard)
    for number in range(4):
        own = update(0, [number, 7], in_set=number % 2, number=number)
        assert answers(switch, own) == [(TO_ALL, RESULT, [number, 7])]
        assert answers(switch, own) == [(0, RESULT, [number, 7])]


@BOTH_PROTOCOLS
def test_case_20_slots_know_nothing_of_each_other(guard):
    switch = AggregationSwitch(2, 2, guard)
    assert answers(switch, update(0, 1, slot=0)) == []
    assert answers(switch, update(1, 20, slot=1, number=1)) == []
    assert answers(switch, update(1, 2, slot=0)) == [(TO_ALL, RESULT, [3])]
    assert answers(switch, update(0, 10, slot=1, number=1)) == [(TO_ALL, RESULT, [30])]


@BOTH_PROTOCOLS
@pytest.mark.parametrize(
    "foreign",
    [
        update(1, 2, slot=2),
        update(1, 2, slot=0xFFFF),
        update(1, 2, slot=-1),
        update(1, 2, job=1),
        update(1, 2)._replace(kind=RESULT),
        update(1, 2)._replace(kind=HELP),
    ],
    ids=["slot 2 of 2", "slot 0xFFFF", "slot -1", "another job", "a result", "a call for help"],
)
def test_case_d14_what_is_not_an_update_of_this_job_is_counted_and_changes_nothing(guard, foreign):
    switch = AggregationSwitch(2, 2, guard)
    answers(switch, update(0, 1))
    assert answers(switch, foreign) == []
    assert switch.foreign_dropped == 1
    assert switch.missing(0, 0, 0) == [1]
    assert answers(switch, update(1, 2)) == [(TO_ALL, RESULT, [3])]
    assert switch.foreign_dropped == 1


@pytest.mark.parametrize("job", [0, 1, 255, 513])
def test_case_29_a_job_that_has_the_same_low_byte_is_another_job(job):
    switch = AggregationSwitch(1, 1, job=257)
    assert answers(switch, update(0, 9, job=job)) == []
    assert switch.foreign_dropped == 1
    assert answers(switch, update(0, 9, job=257)) == [(TO_ALL, RESULT, [9])]


@pytest.mark.parametrize(("guard", "came"), [(False, 102), (True, 300)])
def test_case_23_an_overtaken_repeat(guard, came):
    switch = AggregationSwitch(2, 1, guard)
    for number, mine, theirs in ((0, 1, 2), (1, 10, 20)):
        answers(switch, update(1, theirs, in_set=number, number=number))
        if number == 1:
            answers(switch, update(1, 2, in_set=0, number=0))  # overtaken by chunk 1
        answers(switch, update(0, mine, in_set=number, number=number))
    first = answers(switch, update(0, 100, in_set=0, number=2))
    second = answers(switch, update(1, 200, in_set=0, number=2))
    (result,) = [answer for answer in first + second if answer[0] == TO_ALL]
    assert result == (TO_ALL, RESULT, [came])


def test_case_23_a_stale_update_is_never_answered_with_another_chunks_sum():
    switch = AggregationSwitch(2, 1)
    for number in (0, 1, 2):
        answers(switch, update(0, 1, in_set=number % 2, number=number))
        answers(switch, update(1, 2, in_set=number % 2, number=number))
    assert answers(switch, update(1, 2, in_set=0, number=0, asks_help=True)) == []
    assert switch.stale_dropped == 1
    assert switch.next_event() == StaleDropped(0, 0)
    assert switch.next_event() is None


def test_case_24_a_tensor_that_begins_again_at_set_0_gets_a_stale_sum_when_published():
    switch = AggregationSwitch(2, 1, guard=False)
    answers(switch, update(0, 1))
    answers(switch, update(1, 2))
    assert answers(switch, update(0, 100, number=1)) == [(0, RESULT, [3])]


def test_case_24_a_tensor_that_begins_again_at_set_0_gets_its_own_sum_when_guarded():
    switch = AggregationSwitch(2, 1, guard=True)
    answers(switch, update(0, 1))
    answers(switch, update(1, 2))
    assert answers(switch, update(0, 100, number=1)) == []
    assert answers(switch, update(1, 200, number=1)) == [(TO_ALL, RESULT, [300])]


def test_case_25_a_restarted_workers_chunk_0_ends_in_chunk_2_when_published():
    switch = AggregationSwitch(2, 1, guard=False)
    for number, mine, theirs in ((0, 1, 2), (1, 10, 20)):
        answers(switch, update(0, mine, in_set=number, number=number))
        answers(switch, update(1, theirs, in_set=number, number=number))
    answers(switch, update(0, 100, in_set=0, number=2))
    assert answers(switch, update(1, 2, in_set=0, number=0)) == [(TO_ALL, RESULT, [102])]


def test_case_25_a_restarted_workers_chunk_0_is_stale_when_guarded():
    switch = AggregationSwitch(2, 1, guard=True)
    for number, mine, theirs in ((0, 1, 2), (1, 10, 20)):
        answers(switch, update(0, mine, in_set=number, number=number))
        answers(switch, update(1, theirs, in_set=number, number=number))
    answers(switch, update(0, 100, in_set=0, number=2))
    assert answers(switch, update(1, 2, in_set=0, number=0)) == []
    assert switch.missing(0, 0, 2) == [1]
    assert switch.missing(0, 0, 0) == [0, 1]


@pytest.mark.parametrize("first", [2**31 - 3, 2**32 - 3, 2**32 - 1, 0])
@pytest.mark.parametrize("wiped", [False, True])
def test_case_30_numbers_wrap(first, wiped):
    switch = AggregationSwitch(2, 1)
    for turn in range(6):
        number, in_set = (first + turn) % 2**32, turn % 2
        assert answers(switch, update(0, turn, in_set=in_set, number=number)) == []
        if turn >= 2:
            older = (number - 2) % 2**32
            assert answers(switch, update(1, 999, in_set=in_set, number=older)) == []
        if wiped and turn == 3:
            switch.wipe()
            assert switch.missing(0, in_set, number) == [0, 1]
            assert answers(switch, update(0, turn, in_set=in_set, number=number)) == []
        last = update(1, 100, in_set=in_set, number=number)
        assert answers(switch, last) == [(TO_ALL, RESULT, [turn + 100])]
    assert switch.stale_dropped == 4


@BOTH_PROTOCOLS
def test_case_41_sums_wrap(guard):
    switch = AggregationSwitch(2, 1, guard)
    answers(switch, update(0, [2147483647, -2147483648]))
    last = update(1, [1, -1])
    assert answers(switch, last) == [(TO_ALL, RESULT, [-2147483648, 2147483647])]


@BOTH_PROTOCOLS
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
def test_case_42_the_largest_exponent_is_taken_whoever_comes_first(guard, order):
    switch = AggregationSwitch(3, 1, guard)
    exponents = (-7, 5, -128)
    for worker in order:
        switch.receive(update(worker, 1, exponent=exponents[worker]), 0)
    ((_, result),) = switch.packets_to_send()
    assert result.exponent == 5
    for worker in order:  # the set's next use begins afresh
        switch.receive(update(worker, 1, in_set=1, number=1, exponent=-9), 0)
    for worker in order:
        switch.receive(update(worker, 1, in_set=0, number=2, exponent=-8), 0)
    assert [result.exponent for _, result in switch.packets_to_send()] == [-9, -8]


def test_case_d6_the_sum_is_the_same_in_every_order():
    exponent = 27  # 1e8 < 2^27
    values = [1e8, 1, -1e8, 1]
    codes = [encode(np.array([x], dtype=np.float32), exponent, 4) for x in values]
    for order in permutations(range(4)):
        switch = AggregationSwitch(4, 1)
        for worker in order:
            switch.receive(update(worker, codes[worker]), 0)
        ((_, result),) = switch.packets_to_send()
        assert decode(result.values, exponent, 4).tolist() == [2.0]


def test_what_is_sent_is_no_longer_the_switchs():
    switch = AggregationSwitch(1, 1)
    given = update(0, 5)
    switch.receive(given, 0)
    ((_, result),) = switch.packets_to_send()
    result.values[0] = 99
    assert given.values[0] == 5
    assert answers(switch, given) == [(0, RESULT, [5])]
    assert switch.packets_to_send() == []


# --- Help ---------------------------------------------------------------------------------


def test_a_repeat_that_asks_for_help_is_a_call_to_all():
    switch = AggregationSwitch(2, 1)
    switch.receive(update(1, 2, in_set=1, number=7), 0)
    switch.receive(update(1, 2, in_set=1, number=7, asks_help=True, exponent=3), 0)
    ((destination, call),) = switch.packets_to_send()
    assert destination == TO_ALL
    assert (call.kind, call.slot, call.set, call.number) == (HELP, 0, 1, 7)
    assert call.values is None
    assert not call.asks_help
    assert call.exponent == 0
    assert switch.helps_sent == 1
    assert switch.repeats_dropped == 0


def test_an_update_that_asks_for_help_counts_first():
    switch = AggregationSwitch(2, 1)
    assert answers(switch, update(0, 1, asks_help=True)) == []
    assert answers(switch, update(1, 2, asks_help=True)) == [(TO_ALL, RESULT, [3])]
    assert answers(switch, update(1, 2, asks_help=True)) == [(1, RESULT, [3])]
    assert switch.helps_sent == 0


def test_the_published_switch_knows_no_help():
    switch = AggregationSwitch(2, 1, guard=False)
    answers(switch, update(0, 1))
    assert answers(switch, update(0, 1, asks_help=True)) == []
    assert switch.repeats_dropped == 1


@pytest.mark.parametrize("workers", [3, 33, 65])
def test_one_call_is_enough_for_all_that_ask_at_the_same_time(workers):
    switch = AggregationSwitch(workers, 1)
    waiting = range(workers - 1)
    for worker in waiting:
        switch.receive(update(worker, 1), 0)
    for order in (waiting, reversed(waiting), waiting):
        calls = [answers(switch, update(worker, 1, asks_help=True)) for worker in order]
        assert [len(call) for call in calls] == [1] + [0] * (workers - 2)
    assert switch.helps_sent == 3
    assert switch.repeats_dropped == 3 * (workers - 2)


def test_who_asks_twice_is_heard_whoever_asked_before():
    switch = AggregationSwitch(3, 1)
    for worker in (0, 1):
        switch.receive(update(worker, 1), 0)
    assert answers(switch, update(0, 1, asks_help=True)) != []  # and is never heard of again
    assert answers(switch, update(1, 1, asks_help=True)) == []
    assert answers(switch, update(1, 1, asks_help=True)) != []
    assert answers(switch, update(1, 1, asks_help=True)) != []


def test_who_asked_for_an_earlier_chunk_is_forgotten():
    switch = AggregationSwitch(2, 1)
    answers(switch, update(0, 1))
    assert answers(switch, update(0, 1, asks_help=True)) != []
    answers(switch, update(1, 1))
    answers(switch, update(1, 1, number=2))
    assert answers(switch, update(1, 1, number=2, asks_help=True)) != []


# --- More workers than a register has bits -------------------------------------------------


@BOTH_PROTOCOLS
@pytest.mark.parametrize("workers", [31, 32, 33, 64, 65])
def test_any_number_of_workers(guard, workers):
    switch = AggregationSwitch(workers, 2, guard)
    for number in range(4):
        in_set = number % 2
        everybody = [update(w, w, slot=1, in_set=in_set, number=number) for w in range(workers)]
        for packet in everybody[:-1]:
            assert answers(switch, packet) == []
            assert answers(switch, packet) == []
        assert switch.missing(1, in_set, number) == [workers - 1]
        total = workers * (workers - 1) // 2
        assert answers(switch, everybody[-1]) == [(TO_ALL, RESULT, [total])]


def test_a_newer_number_clears_every_worker():
    switch = AggregationSwitch(40, 1)
    for worker in range(39):
        switch.receive(update(worker, 1), 0)
    switch.receive(update(39, 1, number=2), 0)
    assert switch.missing(0, 0, 2) == list(range(39))


def test_a_switch_has_no_timers():
    switch = AggregationSwitch(2, 1)
    switch.receive(update(0, 1), 0)
    assert switch.next_deadline() is None
    switch.handle_timeout(10**12)
    assert switch.packets_to_send() == []
