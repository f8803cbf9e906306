"""The aggregation protocol as plain functions over flat sequences of integers.

What a switch does with a contribution, what a worker does with a result, a call for help or
a timeout. Nothing here knows a clock, a socket, a payload or a packet's bytes: the caller
passes the time, moves the values as the returned flags say, and sends what follows. The
functions use only integers, indexing and arithmetic, so that they run on lists and, compiled
by Numba, on arrays.

Words. A pool has `slots` slots with two *sets* each; the set of a slot has the index
`set * slots + slot`. A chunk's *number* is its sequence number, 32 bits on the wire, counted
over the life of the job. Published protocol: Sapio et al., "Scaling Distributed Machine
Learning with In-Network Aggregation", NSDI 2021, algorithms 3 and 4. The guard and help are
innet's own.
"""

from collections.abc import MutableSequence, Sequence

Ints = MutableSequence[int]

NUMBER_MASK = 0xFFFFFFFF
HALF_RANGE = 0x80000000
BITS_PER_WORD = 32  # contributions are marked in words as wide as a switch's registers

# What switch_receive tells its caller to do with a contribution: flags.
STORE = 1  # replace the set's values by the packet's
ADD = 2  # add the packet's values to the set's
COMPLETE = 4  # multicast the set's values
UNICAST = 8  # send the set's values to this worker alone
CALL_HELP = 16  # multicast a call for help with this number
REPEAT = 32  # drop: already counted, not complete, and no call for help
STALE = 64  # drop: older than what the set holds


def is_newer(number: int, than: int) -> bool:
    """Serial-number arithmetic of RFC 1982 on 32 bits."""
    ahead = (number - than) & NUMBER_MASK
    return 0 < ahead < HALF_RANGE


def words_per_set(workers: int) -> int:
    """How many words mark the contributions of `workers` workers."""
    return (workers + BITS_PER_WORD - 1) // BITS_PER_WORD


def switch_receive(
    bitmap: Ints,
    count: Ints,
    numbers: Ints,
    asked: Ints,
    workers: int,
    words: int,
    here: int,
    other: int,
    worker: int,
    number: int,
    guard: bool,
    asks_help: bool,
) -> int:
    """Take a contribution of `worker` to set `here`, whose slot's other set is `other`.

    `bitmap` holds `words` = words_per_set(workers) words a set, `count` the contributions
    counted (equal to `workers` while the sum is complete), `numbers` what each set holds.
    `asked` is a bitmap like the first: who has asked for help with a set since the last call.
    Returns flags.

    Guarded, a set belongs to one number: a newer one starts it afresh, an older one is stale,
    and an empty set takes any, so that wiped registers are as good as new. Published, a set is
    told from its next use only by the worker's own progress: being counted in one set clears
    its mark in the other.
    """
    word = here * words + worker // BITS_PER_WORD
    bit = 1 << (worker % BITS_PER_WORD)
    counted = count[here]
    if guard and counted > 0 and numbers[here] != number:
        if not is_newer(number, numbers[here]):
            return STALE
        counted = 0
        for index in range(here * words, (here + 1) * words):
            bitmap[index] = 0
    if bitmap[word] & bit:
        if counted == workers:
            return UNICAST
        if guard and asks_help and switch_calls(asked, words, here, worker):
            return CALL_HELP
        return REPEAT
    bitmap[word] |= bit
    numbers[here] = number
    if not guard:
        bitmap[other * words + worker // BITS_PER_WORD] &= ~bit
        if counted == workers:  # left over from an earlier use
            counted = 0
    count[here] = counted + 1
    if counted == 0:
        switch_forgets_asks(asked, words, here)
    flags = ADD if counted else STORE
    return flags | COMPLETE if counted + 1 == workers else flags


def switch_calls(asked: Ints, words: int, here: int, worker: int) -> bool:
    """Whether to call for help with set `here`, now that `worker` asks for it.

    All that wait for a set ask at about the same time, and a call to n workers for each of n
    is a flood. So the first to ask is heard, then the first that asks again: one call for every
    round of asking, and one between any two times that a worker asks, whoever else is gone.
    """
    first, last = here * words, (here + 1) * words
    word, bit = first + worker // BITS_PER_WORD, 1 << (worker % BITS_PER_WORD)
    calls = asked[word] & bit != 0
    if not calls:
        calls = True
        for index in range(first, last):
            calls = calls and asked[index] == 0
    if calls:
        switch_forgets_asks(asked, words, here)
    asked[word] |= bit
    return calls


def switch_forgets_asks(asked: Ints, words: int, here: int) -> None:
    """Forget who has asked for help with set `here`."""
    for index in range(here * words, (here + 1) * words):
        asked[index] = 0


# --- Retransmission timeout -------------------------------------------------------------

# Places in a timer's state: the estimate, the one packet whose round trip is measured, and the
# last that was measured in vain, since it was sent again.
SMOOTHED, VARIATION, BACKOFF, TIMED, TIMED_AT, AMBIGUOUS = 0, 1, 2, 3, 4, 5
NEW_TIMER = (0, 0, 0, -1, 0, -1)
TIMER_STATE = len(NEW_TIMER)
UNTIMED = -1
MOST_DOUBLINGS = 20  # more would only overflow; the maximum is reached long before


def rto_interval(
    timer: Sequence[int],
    at: int,
    adaptive: bool,
    initial: int,
    minimum: int,
    maximum: int,
    tries: int,
) -> int:
    """How long to wait for an answer to a packet that has timed out `tries` times so far.

    `timer[at:at + TIMER_STATE]` is the estimator's state. Adaptive, the interval is at least
    twice the smoothed round trip: the variation of a self-clocked window is almost nothing, and
    one late packet must not look like a loss. A back-off lasts until a packet that was sent
    once is answered (Karn), so that an interval below the real round trip cannot livelock.
    """
    interval = initial
    doublings = tries
    if adaptive:
        if timer[at + SMOOTHED] > 0:
            margin = max(4 * timer[at + VARIATION], timer[at + SMOOTHED])
            interval = max(minimum, timer[at + SMOOTHED] + margin)
        doublings = max(doublings, timer[at + BACKOFF])
    doublings = min(doublings, MOST_DOUBLINGS)
    # Compared before it is doubled, since compiled integers have 64 bits.
    return maximum if interval > maximum >> doublings else interval << doublings


def rto_time(timer: Ints, at: int, packet: int, now: int) -> None:
    """Measure the round trip of `packet`, sent now for the first time, if no other is measured.

    One measurement a round trip, as in RFC 6298: the estimate then looks back over several
    round trips, however many packets one has.
    """
    if timer[at + TIMED] == UNTIMED:
        timer[at + TIMED] = packet
        timer[at + TIMED_AT] = now


def rto_answered(timer: Ints, at: int, packet: int, now: int) -> bool:
    """Take the answer to `packet`; return whether it made a sample (RFC 6298, integer shifts)."""
    if timer[at + TIMED] != packet:
        return False
    timer[at + TIMED] = UNTIMED
    if timer[at + TIMED_AT] == UNTIMED:
        timer[at + AMBIGUOUS] = packet
        return False
    timer[at + AMBIGUOUS] = UNTIMED
    sample = now - timer[at + TIMED_AT]
    if timer[at + SMOOTHED] == 0:
        timer[at + SMOOTHED] = max(sample, 1)
        timer[at + VARIATION] = sample >> 1
    else:
        error = sample - timer[at + SMOOTHED]
        timer[at + VARIATION] += (abs(error) - timer[at + VARIATION]) >> 2
        timer[at + SMOOTHED] = max(timer[at + SMOOTHED] + (error >> 3), 1)
    timer[at + BACKOFF] = 0
    return True


def rto_first_sample(
    tries: Sequence[int], deadlines: Ints, first: int, last: int, latest: int, none: int
) -> int:
    """Take the first sample: no packet that was sent before it waits beyond `latest`.

    The initial interval is a guess, and a window was sent under it. TCP's one timer is set anew
    with every answer (RFC 6298, 5.3); here every slot has its own, so the first measured
    interval must reach those that run. `deadlines[first:last + 1]` are a shard's, `none` where
    nothing is outstanding. Returns the first of them.
    """
    earliest = none
    for slot in range(first, last + 1):
        if tries[slot] == 0 and latest < deadlines[slot] < none:
            deadlines[slot] = latest
        earliest = min(earliest, deadlines[slot])
    return earliest


def rto_repeated(timer: Ints, at: int, packet: int) -> None:
    """Do not measure `packet`, which is sent again: its answer could be to either (Karn)."""
    if timer[at + TIMED] == packet:
        timer[at + TIMED] = UNTIMED


def rto_answered_again(timer: Ints, at: int, packet: int) -> None:
    """Back off if the answer to `packet` was ambiguous: it comes twice, so the repeat was early."""
    if timer[at + AMBIGUOUS] == packet:
        timer[at + BACKOFF] = min(timer[at + BACKOFF] + 1, MOST_DOUBLINGS)


def rto_back_off(timer: Ints, at: int, tries: int) -> None:
    """Remember that a packet has now timed out `tries` times."""
    timer[at + BACKOFF] = max(timer[at + BACKOFF], tries)


# --- Worker -----------------------------------------------------------------------------

IDLE = -1  # a slot with no packet outstanding


def worker_send(
    chunk: Ints,
    numbers: Ints,
    tries: Ints,
    timer: Ints,
    at: int,
    slot: int,
    next_chunk: int,
    number: int,
    now: int,
) -> None:
    """Note that `slot` now carries `next_chunk` of the tensor, under `number`, sent at `now`."""
    chunk[slot] = next_chunk
    numbers[slot] = number
    tries[slot] = 0
    if timer[at + TIMED] == UNTIMED:
        rto_time(timer, at, slot, now)


def worker_result(
    chunk: Ints,
    numbers: Sequence[int],
    sets: Ints,
    kept_chunk: Ints,
    kept_number: Ints,
    slot: int,
    in_set: int,
    number: int,
) -> int:
    """Take a result for `slot`; return the chunk it completes, or IDLE if it is stale.

    A result counts only if it carries the set and the number that the slot waits for. The
    slot's next chunk will use the other set; what was contributed is kept for calls for help.
    """
    done = chunk[slot]
    if done == IDLE or numbers[slot] != number or sets[slot] != in_set:
        return IDLE
    chunk[slot] = IDLE
    sets[slot] = 1 - in_set
    kept_chunk[slot] = done
    kept_number[slot] = number
    return done


def worker_timeout(tries: Ints, timer: Ints, at: int, slot: int) -> int:
    """Count a timeout of `slot`'s packet; return how many it has had.

    Only this packet's next interval doubles. What it waits for may be the contribution of
    another worker, and if that made all slots wait longer, and so their peers in turn, a few
    losses would slow a job down for good.
    """
    tries[slot] += 1
    if timer[at + TIMED] == slot:
        timer[at + TIMED_AT] = UNTIMED
    return tries[slot]


def worker_helps(
    kept_chunk: Sequence[int],
    kept_number: Sequence[int],
    sets: Sequence[int],
    slot: int,
    in_set: int,
    number: int,
) -> int:
    """The chunk to contribute again on a call for help, or IDLE to ignore the call.

    Only the last chunk that `slot` completed can be asked for: whoever still waits for it keeps
    the others from completing the next one. A worker that waits for the chunk itself ignores
    the call, since its own timer repeats the packet.
    """
    if kept_chunk[slot] == IDLE or kept_number[slot] != number or sets[slot] == in_set:
        return IDLE
    return kept_chunk[slot]
