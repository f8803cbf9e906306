"""A lower switch alone: what it sends on one packet after another. Two children unless said.

Conversations of whole trees are in golden/tree_*.txt, all states of small ones in model/.
"""

import numpy as np
import pytest

from innet.protocol.endpoint import (
    HELP,
    RESULT,
    TO_ALL,
    TO_PARENT,
    UPDATE,
    AggregationPacket,
    StaleDropped,
)
from innet.protocol.lower_switch import LowerSwitch

BOTH_PROTOCOLS = pytest.mark.parametrize("guard", [True, False], ids=["guarded", "published"])
PLACE = 5


def packet(kind, value=None, *, child=0, in_set=0, number=0, asks_help=False, exponent=0, slot=0):
    values = None if value is None else np.array([value], dtype=np.int32)
    return AggregationPacket(kind, 0, child, slot, in_set, number, asks_help, exponent, values)


def update(child, value, **fields):
    return packet(UPDATE, value, child=child, **fields)


def sent(switch, given):
    """What the switch sends: (destination, kind, value)."""
    switch.receive(given, 0)
    return [
        (destination, answer.kind, None if answer.values is None else int(answer.values[0]))
        for destination, answer in switch.packets_to_send()
    ]


def completed(guard=True, **fields):
    """A switch that has sent up the sum of 1 and 2."""
    switch = LowerSwitch(2, 2, PLACE, guard)
    assert sent(switch, update(0, 1, **fields)) == []
    assert sent(switch, update(1, 2, **fields)) == [(TO_PARENT, UPDATE, 3)]
    return switch


def answered(guard=True, **fields):
    """One that has passed down the result 33."""
    switch = completed(guard, **fields)
    assert sent(switch, packet(RESULT, 33, **fields)) == [(TO_ALL, RESULT, 33)]
    return switch


def test_a_complete_set_is_one_contribution_of_the_switch_to_its_parent():
    switch = LowerSwitch(2, 2, PLACE)
    switch.receive(update(0, 1, in_set=1, number=7, slot=1, exponent=-3), 0)
    switch.receive(update(1, 2, in_set=1, number=7, slot=1, exponent=4, asks_help=True), 0)
    ((destination, up),) = switch.packets_to_send()
    assert destination == TO_PARENT
    assert up[:-1] == (UPDATE, 0, PLACE, 1, 1, 7, True, 4)
    assert switch.completed == 1


@BOTH_PROTOCOLS
def test_a_repeat_before_the_result_sends_the_sum_up_again(guard):
    switch = completed(guard)
    assert sent(switch, update(1, 2)) == [(TO_PARENT, UPDATE, 3)]
    switch.receive(update(0, 1, asks_help=True), 0)
    ((destination, up),) = switch.packets_to_send()
    assert (destination, up.asks_help, up.values.tolist()) == (TO_PARENT, guard, [3])
    assert (switch.completed, switch.repeats_passed_up) == (1, 2)


def test_children_that_ask_at_the_same_time_make_the_switch_ask_once():
    switch = completed()
    asks = []
    for child in (0, 1, 1, 0, 0):
        switch.receive(update(child, 1 + child, asks_help=True), 0)
        asks += [up.asks_help for _, up in switch.packets_to_send()]
    assert asks == [True, False, True, False, True]


@BOTH_PROTOCOLS
def test_a_repeat_after_the_result_is_answered_by_the_switch_itself(guard):
    switch = answered(guard)
    assert sent(switch, update(1, 2)) == [(1, RESULT, 33)]
    assert (switch.unicasts, switch.repeats_passed_up) == (1, 0)


@BOTH_PROTOCOLS
def test_a_second_result_is_stale(guard):
    switch = answered(guard)
    assert sent(switch, packet(RESULT, 33)) == []
    assert switch.next_event() == StaleDropped(0, 0)
    assert (switch.stale_dropped, switch.results_passed_down) == (1, 1)


@BOTH_PROTOCOLS
def test_sets_are_used_again_after_their_result(guard):
    switch = answered(guard)
    assert sent(switch, update(0, 10, in_set=1, number=1)) == []
    assert sent(switch, update(1, 20, in_set=1, number=1)) == [(TO_PARENT, UPDATE, 30)]
    assert sent(switch, packet(RESULT, 330, in_set=1, number=1)) == [(TO_ALL, RESULT, 330)]
    assert sent(switch, update(0, 100, number=2)) == []
    assert switch.missing(0, 0, 2) == [1]
    assert sent(switch, update(1, 200, number=2)) == [(TO_PARENT, UPDATE, 300)]


def test_the_published_switch_takes_a_result_only_for_a_complete_set():
    switch = LowerSwitch(2, 2, PLACE, guard=False)
    assert sent(switch, packet(RESULT, 33)) == []
    assert sent(switch, update(0, 1)) == []
    assert sent(switch, packet(RESULT, 33)) == []
    assert switch.stale_dropped == 2


def test_a_result_is_the_sum_of_all_even_where_contributions_were_lost():
    switch = LowerSwitch(2, 2, PLACE)
    assert sent(switch, update(0, 1)) == []
    assert sent(switch, packet(RESULT, 33)) == [(TO_ALL, RESULT, 33)]
    assert switch.missing(0, 0, 0) == []
    assert switch.missing(0, 0, 2) == [0, 1]
    assert sent(switch, update(1, 2)) == [(1, RESULT, 33)]  # not added to it
    assert sent(switch, update(1, 2)) == [(1, RESULT, 33)]


def test_an_empty_set_takes_any_result():
    switch = LowerSwitch(2, 2, PLACE)
    assert sent(switch, packet(RESULT, 33, number=8)) == [(TO_ALL, RESULT, 33)]
    assert sent(switch, update(0, 1, number=8)) == [(0, RESULT, 33)]
    assert sent(switch, update(0, 5, number=10)) == []
    assert sent(switch, update(1, 6, number=10)) == [(TO_PARENT, UPDATE, 11)]


@pytest.mark.parametrize("held", [2, 0])
def test_a_result_for_what_the_set_held_before_is_stale(held):
    switch = answered(number=(held - 2) % 2**32)
    sent(switch, update(0, 100, number=held))
    sent(switch, update(1, 200, number=held))
    assert sent(switch, packet(RESULT, 33, number=(held - 2) % 2**32)) == []
    assert sent(switch, update(1, 200, number=held)) == [(TO_PARENT, UPDATE, 300)]


def test_a_newer_result_replaces_what_an_overtaken_contribution_began():
    switch = LowerSwitch(2, 2, PLACE)
    sent(switch, update(0, 1, number=0))
    assert sent(switch, packet(RESULT, 66, number=2)) == [(TO_ALL, RESULT, 66)]
    assert sent(switch, update(0, 1, number=0)) == []
    assert sent(switch, update(1, 9, number=2)) == [(1, RESULT, 66)]


@BOTH_PROTOCOLS
def test_contributions_that_are_late_change_nothing(guard):
    switch = completed(guard, number=2)
    if guard:
        assert sent(switch, update(0, 1, number=0)) == []
        assert switch.stale_dropped == 1
    assert sent(switch, packet(RESULT, 33, number=2)) == [(TO_ALL, RESULT, 33)]


# --- Help ---------------------------------------------------------------------------------


def test_a_child_that_asks_for_help_has_the_others_called():
    switch = LowerSwitch(2, 2, PLACE)
    sent(switch, update(0, 1, number=2))
    assert sent(switch, update(0, 1, number=2)) == []
    assert sent(switch, update(0, 1, number=2, asks_help=True)) == [(TO_ALL, HELP, None)]
    assert (switch.repeats_dropped, switch.helps_sent) == (1, 1)


def test_a_call_from_above_is_answered_with_the_sum():
    switch = completed()
    switch.receive(packet(HELP), 0)
    ((destination, up),) = switch.packets_to_send()
    assert (destination, up.kind, up.worker, up.values.tolist()) == (TO_PARENT, UPDATE, PLACE, [3])
    assert not up.asks_help


@pytest.mark.parametrize("begun", [False, True], ids=["nothing", "an older sum"])
def test_a_call_from_above_goes_down_where_the_sum_is_not_there(begun):
    switch = answered() if begun else LowerSwitch(2, 2, PLACE)
    assert sent(switch, packet(HELP, number=2)) == [(TO_ALL, HELP, None)]
    assert sent(switch, update(1, 2, number=2)) == []
    assert sent(switch, packet(HELP, number=2)) == [(TO_ALL, HELP, None)]
    assert sent(switch, update(0, 1, number=2)) == [(TO_PARENT, UPDATE, 3)]


def test_a_call_from_above_makes_a_switch_collect_again_what_the_result_has_overwritten():
    switch = answered()
    assert sent(switch, packet(HELP)) == [(TO_ALL, HELP, None)]
    assert switch.missing(0, 0, 0) == [0, 1]
    assert sent(switch, update(0, 1)) == []
    assert sent(switch, packet(HELP)) == [(TO_ALL, HELP, None)]  # keeps what it has
    assert sent(switch, update(1, 2)) == [(TO_PARENT, UPDATE, 3)]


def test_a_call_for_what_is_over_is_stale():
    switch = completed(number=2)
    assert sent(switch, packet(HELP, number=0)) == []
    assert switch.stale_dropped == 1
    assert switch.missing(0, 0, 2) == []


@pytest.mark.parametrize("kind", [UPDATE, RESULT, HELP])
@pytest.mark.parametrize("foreign", [{"slot": 2}, {"slot": -1}, {"job": 1}])
def test_what_is_not_this_jobs_changes_nothing(kind, foreign):
    switch = completed()
    assert sent(switch, packet(kind, 9)._replace(**foreign)) == []
    assert switch.foreign_dropped == 1
    assert sent(switch, update(1, 2)) == [(TO_PARENT, UPDATE, 3)]


def test_a_restart_empties_all_sets():
    switch = answered()
    switch.wipe()
    assert switch.missing(0, 0, 0) == [0, 1]
    assert sent(switch, update(1, 2)) == []


def test_more_children_than_a_register_has_bits():
    switch = LowerSwitch(40, 1, PLACE, guard=False)
    for turn in range(4):
        for child in range(39):
            assert sent(switch, update(child, 1, in_set=turn % 2, number=turn)) == []
        last = update(39, 1, in_set=turn % 2, number=turn)
        assert sent(switch, last) == [(TO_PARENT, UPDATE, 40)]
        result = packet(RESULT, 80, in_set=turn % 2, number=turn)
        assert sent(switch, result) == [(TO_ALL, RESULT, 80)]
        assert sent(switch, last) == [(39, RESULT, 80)]


def test_timing_alone_needs_no_values():
    switch = LowerSwitch(1, 1, PLACE)
    assert sent(switch, update(0, None)) == [(TO_PARENT, UPDATE, None)]
    assert sent(switch, packet(RESULT)) == [(TO_ALL, RESULT, None)]
