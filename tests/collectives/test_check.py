"""The symbolic check refuses every schedule that is not an all-reduce, and says where."""

from dataclasses import replace

import pytest

from innet.collectives.algorithms import ALGORITHMS, build_schedule
from innet.collectives.check import ScheduleError, check_schedule
from innet.collectives.schedule import Message, Schedule


def made(*messages: Message, workers: int = 2, ranks: int = 2, blocks: int = 1) -> Schedule:
    return Schedule("made", workers, ranks, blocks, messages)


SWAP = (Message(0, 0, 1, 0, 1, True), Message(0, 1, 0, 0, 1, True))


def test_two_ranks_that_swap_and_add_are_right():
    check_schedule(made(*SWAP))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("workers", [2, 3, 4, 5])
def test_a_schedule_without_any_one_of_its_messages_is_refused(algorithm, workers):
    schedule = build_schedule(algorithm, workers, 20, 4)
    for index in range(len(schedule.messages)):
        rest = schedule.messages[:index] + schedule.messages[index + 1 :]
        with pytest.raises(ScheduleError):
            check_schedule(replace(schedule, messages=rest))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_schedule_with_a_message_sent_again_is_refused(algorithm):
    schedule = build_schedule(algorithm, 4, 20, 4)
    last = schedule.messages[-1].step
    for message in schedule.messages:
        if message.reduce:
            again = (*schedule.messages, replace(message, step=last + 1))
            with pytest.raises(ScheduleError, match="a second time"):
                check_schedule(replace(schedule, messages=again))


def test_what_is_missing_is_named():
    with pytest.raises(
        ScheduleError, match="rank 0 ends with block 0 without the part of worker 1"
    ):
        check_schedule(made(SWAP[0]))


def test_who_is_counted_twice_is_named_with_step_block_and_rank():
    twice = replace(SWAP[0], step=3)
    text = "step 3: .* adds the part of worker 0 a second time to block 0 of rank 1"
    with pytest.raises(ScheduleError, match=text):
        check_schedule(made(*SWAP, twice))


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (Message(-1, 0, 1, 0, 1, True), "negative step"),
        (Message(0, 0, 2, 0, 1, True), "leaves ranks 0 to 1"),
        (Message(0, -1, 1, 0, 1, True), "leaves ranks 0 to 1"),
        (Message(0, 1, 1, 0, 1, True), "its own source"),
        (Message(0, 0, 1, 0, 2, True), "leaves blocks 0 to 0"),
        (Message(0, 0, 1, -1, 1, True), "leaves blocks 0 to 0"),
        (Message(0, 0, 1, 0, 0, True), "leaves blocks 0 to 0"),
    ],
)
def test_indices_out_of_range_are_refused(message, text):
    with pytest.raises(ScheduleError, match=text):
        check_schedule(made(message))


def test_messages_out_of_order_or_given_twice_are_refused():
    with pytest.raises(ScheduleError, match="must be sorted"):
        check_schedule(made(SWAP[1], SWAP[0]))
    with pytest.raises(ScheduleError, match="must be sorted"):
        check_schedule(made(SWAP[0], SWAP[0]))


@pytest.mark.parametrize("first_reduces", [True, False])
def test_a_block_that_is_replaced_after_a_receipt_of_the_same_step_is_refused(first_reduces):
    pair = (Message(0, 0, 2, 0, 1, first_reduces), Message(0, 1, 2, 0, 1, False))
    with pytest.raises(ScheduleError, match="to block 0 in the same step"):
        check_schedule(made(*pair, workers=3, ranks=3))


def test_a_helper_cannot_send_before_it_has_received():
    with pytest.raises(ScheduleError, match="nothing in block 0 to send"):
        check_schedule(made(Message(0, 2, 0, 0, 1, True), ranks=3))


@pytest.mark.parametrize(("workers", "ranks", "blocks"), [(0, 0, 1), (3, 2, 1), (2, 2, -1)])
def test_impossible_numbers_of_ranks_and_blocks_are_refused(workers, ranks, blocks):
    with pytest.raises(ScheduleError, match="there must be a worker"):
        check_schedule(made(workers=workers, ranks=ranks, blocks=blocks))
