"""A reliable stream's two ends as plain functions over flat sequences of integers.

A stream carries packets numbered from 0 from one rank to another, at most `window` of them
unacknowledged. Several streams share the sequences: stream `s` has its scalars at index `s`
and packet `p` has its state at `s * room + p % room`, where `room` = room_of(window) is a power
of two, so that no division is needed. Same rules as transitions.py: no clock, no payload, only
integers.

Selective repeat: every packet is acknowledged by its own number, and a packet is taken for
lost when its timer runs out or when a packet sent three places later has been acknowledged
(as TCP's fast retransmit). Go-back-N: the receiver takes packets in order only and
acknowledges what it expects next; a gap or a timeout makes the sender start again from there,
as RoCE's adapters do.
"""

from collections.abc import MutableSequence, Sequence

from innet.protocol.transitions import (
    TIMED,
    TIMER_STATE,
    UNTIMED,
    rto_answered,
    rto_back_off,
    rto_repeated,
    rto_time,
)

Ints = MutableSequence[int]

UNSENT, IN_FLIGHT, LOST, ACKED = 0, 1, 2, 3
REORDER_DEGREE = 3  # how many later packets must be acknowledged before one counts as lost
NOTHING = -1


def room_of(window: int) -> int:
    """How many places the packets of a window of at least 1 have: the next power of two."""
    return 1 << (window - 1).bit_length()


def stream_next(
    state: Ints,
    base: Sequence[int],
    following: Ints,
    highest: Ints,
    lost: Ints,
    end: Sequence[int],
    stream: int,
    window: int,
    room: int,
) -> int:
    """The packet to send now, or NOTHING; it counts as in flight from here on.

    `base` is the oldest packet not yet acknowledged, `following` the next to send in order,
    `highest` one more than the highest ever sent, `lost` how many are marked lost, `end` how
    many packets the messages handed over so far make.
    """
    offset = stream * room
    if lost[stream] > 0:
        number = base[stream]
        while state[offset + (number & room - 1)] != LOST:
            number += 1
        state[offset + (number & room - 1)] = IN_FLIGHT
        lost[stream] -= 1
        return number
    number = following[stream]
    if number >= end[stream] or number >= base[stream] + window:
        return NOTHING
    following[stream] = number + 1
    highest[stream] = max(highest[stream], number + 1)
    state[offset + (number & room - 1)] = IN_FLIGHT
    return number


def stream_data(
    received: Ints,
    expected: Ints,
    stream: int,
    window: int,
    room: int,
    number: int,
    in_order_only: bool,
) -> bool:
    """Whether data packet `number` is new to its receiver and to be kept.

    `expected` is the oldest packet that is missing; `received` marks those beyond it.
    """
    if number < expected[stream] or number >= expected[stream] + window:
        return False
    if in_order_only and number != expected[stream]:
        return False
    offset = stream * room
    if received[offset + (number & room - 1)]:
        return False
    received[offset + (number & room - 1)] = 1
    while received[offset + (expected[stream] & room - 1)]:
        received[offset + (expected[stream] & room - 1)] = 0
        expected[stream] += 1
    return True


def stream_ack_selective(
    state: Ints,
    base: Ints,
    following: Sequence[int],
    lost: Ints,
    repeated: Ints,
    stream: int,
    room: int,
    number: int,
) -> bool:
    """Take the acknowledgement of packet `number`; return whether it was news.

    Packets sent at least REORDER_DEGREE places before it, once, and still in flight are marked
    lost. `repeated` marks packets that were sent more than once.
    """
    offset = stream * room
    if number < base[stream] or state[offset + (number & room - 1)] == ACKED:
        return False
    if state[offset + (number & room - 1)] == LOST:
        lost[stream] -= 1
    state[offset + (number & room - 1)] = ACKED
    while base[stream] < following[stream] and state[offset + (base[stream] & room - 1)] == ACKED:
        state[offset + (base[stream] & room - 1)] = UNSENT
        repeated[offset + (base[stream] & room - 1)] = 0
        base[stream] += 1
    for earlier in range(base[stream], number - REORDER_DEGREE + 1):
        place = offset + (earlier & room - 1)
        if state[place] == IN_FLIGHT and not repeated[place]:
            stream_mark_lost(state, lost, repeated, place, stream)
    return True


def stream_mark_lost(state: Ints, lost: Ints, repeated: Ints, place: int, stream: int) -> None:
    """Mark the packet at `place` for sending again."""
    state[place] = LOST
    repeated[place] = 1
    lost[stream] += 1


def stream_ack_go_back_n(
    state: Ints, base: Ints, following: Ints, stream: int, room: int, expected: int, gap: bool
) -> bool:
    """Take "I expect `expected`"; on a `gap` start again from there. Return if it was news."""
    news = expected > base[stream]
    offset = stream * room
    while base[stream] < expected:
        state[offset + (base[stream] & room - 1)] = UNSENT
        base[stream] += 1
    following[stream] = max(following[stream], expected)
    if gap and expected == base[stream]:
        stream_go_back(base, following, stream)
    return news


def stream_go_back(base: Sequence[int], following: Ints, stream: int) -> None:
    """Send again everything that is not acknowledged."""
    following[stream] = base[stream]


def stream_timeout_selective(
    state: Ints,
    sent_at: Sequence[int],
    base: Sequence[int],
    following: Sequence[int],
    lost: Ints,
    repeated: Ints,
    stream: int,
    room: int,
    armed_at: int,
) -> None:
    """Mark as lost what was already in flight when the stream's timer was set."""
    offset = stream * room
    for number in range(base[stream], following[stream]):
        place = offset + (number & room - 1)
        if state[place] == IN_FLIGHT and sent_at[place] <= armed_at:
            stream_mark_lost(state, lost, repeated, place, stream)


# --- What both ends keep in mind besides ------------------------------------------------


def stream_complains(complained: Ints, stream: int, gap: bool, kept: bool) -> bool:
    """Whether a go-back-N receiver complains of the `gap` before a packet: once until it closes.

    `kept` says that the packet was taken, so that nothing is missing before it.
    """
    if kept:
        complained[stream] = 0
    if not gap or complained[stream]:
        return False
    complained[stream] = 1
    return True


def stream_sent(
    sent_at: Ints, timers: Ints, stream: int, room: int, number: int, again: bool, now: int
) -> None:
    """Note that packet `number` has been sent, for the first time or `again`."""
    sent_at[stream * room + (number & room - 1)] = now
    if again:
        rto_repeated(timers, stream * TIMER_STATE, number)
    else:
        rto_time(timers, stream * TIMER_STATE, number, now)


def stream_answered(
    timers: Ints, base: Sequence[int], tries: Ints, stream: int, number: int, now: int
) -> None:
    """Note that the answer to packet `number` brought news: measure, and end the back-off."""
    at = stream * TIMER_STATE
    rto_answered(timers, at, number, now)
    if timers[at + TIMED] < base[stream]:
        # Go-back-N may have acknowledged it together with a later one.
        timers[at + TIMED] = UNTIMED
    tries[stream] = 0


def stream_overdue(
    state: Ints,
    sent_at: Sequence[int],
    base: Sequence[int],
    following: Ints,
    lost: Ints,
    repeated: Ints,
    tries: Ints,
    timers: Ints,
    stream: int,
    room: int,
    armed_at: int,
    go_back_n: bool,
) -> None:
    """Back off, and send again what was in flight when the timer, which has run out, was set."""
    tries[stream] += 1
    rto_back_off(timers, stream * TIMER_STATE, tries[stream])
    if go_back_n:
        stream_go_back(base, following, stream)
    else:
        stream_timeout_selective(
            state, sent_at, base, following, lost, repeated, stream, room, armed_at
        )
