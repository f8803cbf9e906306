"""What a lower switch of an aggregation tree does, as plain functions over flat sequences.

A lower switch counts the contributions of its children (workers or switches below it) like any
switch. A complete set is its own contribution: one packet to its parent, for which it plays a
worker. The result comes down and takes the place of the partial sum.

State and words are those of transitions.py, with one thing more: `count` of a set is the number
of children while it holds their partial sum, and one more (ANSWERED, the parent is counted too)
once it holds the result. Like there, only integers, indexing and arithmetic are used.

Repeats are answered at the lowest level that has the result and otherwise handed on upwards, so
a lower switch needs no timer: the workers' timers repeat for all levels. A switch whose registers
were lost, or whose partial sum has given way to the result, collects the sum again by calling its
children for help.
"""

from collections.abc import Sequence

from innet.protocol.transitions import (
    BITS_PER_WORD,
    CALL_HELP,
    STALE,
    UNICAST,
    Ints,
    is_newer,
    switch_calls,
    switch_receive,
)

ANSWERED = 1  # what a result adds to the count of a complete set

# Besides the flags of switch_receive, of which COMPLETE here means: send the partial sum up.
# With CALL_HELP it asks the parent for help.
SEND_UP_AGAIN = 128  # send the partial sum up once more: what came of it is not known


def lower_receive(
    bitmap: Ints,
    count: Ints,
    numbers: Ints,
    asked: Ints,
    children: int,
    words: int,
    here: int,
    other: int,
    child: int,
    number: int,
    guard: bool,
    asks_help: bool,
) -> int:
    """Take a contribution of `child`, as switch_receive does; return flags.

    Guarded, whoever contributes to a set that holds the result is answered with it, counted or
    not, since a wiped switch may have got the result before all contributions. Children that
    wait for the parent ask it for help as they would call their own switch: once for every round.
    """
    if count[here] == children + ANSWERED:
        if guard:
            answer = numbers[here] == number
        else:
            word = here * words + child // BITS_PER_WORD
            answer = bitmap[word] >> child % BITS_PER_WORD & 1 == 1
            if not answer:  # the set's next use begins
                count[here] = children
        if answer:
            return UNICAST
    flags = switch_receive(
        bitmap,
        count,
        numbers,
        asked,
        children,
        words,
        here,
        other,
        child,
        number,
        guard,
        asks_help,
    )
    if flags != UNICAST:
        return flags
    if guard and asks_help and switch_calls(asked, words, here, child):
        return SEND_UP_AGAIN | CALL_HELP
    return SEND_UP_AGAIN


def lower_result(
    count: Ints, numbers: Ints, children: int, here: int, number: int, guard: bool
) -> bool:
    """Take the parent's result for set `here`; return whether to keep it and multicast it.

    Otherwise it is stale. Guarded, a set that holds nothing, an older number or an incomplete sum
    takes it too: it is the sum of all that was ever contributed under its number.
    """
    held = count[here]
    if guard:
        if held > 0:
            if numbers[here] == number:
                if held == children + ANSWERED:
                    return False
            elif not is_newer(number, numbers[here]):
                return False
    elif held != children:
        return False
    numbers[here] = number
    count[here] = children + ANSWERED
    return True


def lower_help(
    bitmap: Ints,
    count: Ints,
    numbers: Sequence[int],
    children: int,
    words: int,
    here: int,
    number: int,
) -> int:
    """Take the parent's call for help with `number` in set `here`; return one flag.

    SEND_UP_AGAIN: the partial sum is there. CALL_HELP: the children are to contribute; where
    the result has overwritten their sum, it is forgotten, and the sum collected afresh. STALE:
    the set holds a newer number, so nobody waits for this one.
    """
    held = count[here]
    if held > 0 and numbers[here] != number and is_newer(numbers[here], number):
        return STALE
    if held > 0 and numbers[here] == number:
        if held == children:
            return SEND_UP_AGAIN
        if held == children + ANSWERED:
            count[here] = 0
            for index in range(here * words, (here + 1) * words):
                bitmap[index] = 0
    return CALL_HELP
