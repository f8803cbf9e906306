"""The packets of a ring's messages one after another, compiled.

What `ring.py` does with a pass over all packets for each operation is done here for a window of
them, whose times stay in the processor's cache; as whole numbers, so that both come to the same.
"""

from innet.engine.compiled.jit import kernel
from innet.engine.recurrence.tree import Times


@kernel
def send_packets(
    first: int,
    most: int,
    packets: Times,
    full_ps: Times,
    last_ps: Times,
    onward_ps: Times,
    ack_ps: Times,
    handed: Times,
    answered: Times,
    answers: Times,
    free_ps: Times,
    queued_ps: Times,
    stalled_ps: Times,
    arrived: Times,
    ready: Times,
    at: Times,
) -> int:
    """Send the packets `first` .. `first + most - 1` of every row's message, as far as it has them.

    `packets` and `handed` have an entry a row, times of packets on links [rows, hops].
    `answered` keeps when a window of packets was answered, [rows, window], with a place for each
    packet in turn, of which `answers` is the next. Those that follow are brought up to date;
    `arrived` is when the last packet of each row arrives; `ready` and `at` are room for a window.
    Returns the longest time from when a packet may be sent to its answer.
    """
    window, longest = answered.shape[1], 0
    for row in range(len(packets)):
        start, place, end = handed[row], answers[row], min(packets[row], first + most)
        for begin in range(first, end, window):
            count, before = min(window, end - begin), place
            for packet in range(count):
                ready[packet] = at[packet] = max(start, answered[row, place])
                place = place + 1 if place + 1 < window else 0
            for hop in range(full_ps.shape[1]):
                free, queued, stalled = free_ps[row, hop], queued_ps[row, hop], 0
                service, onward = full_ps[row, hop], onward_ps[row, hop]
                for packet in range(count):
                    if begin + packet == packets[row] - 1:
                        service = last_ps[row, hop]
                    if hop == 0:
                        stalled += max(0, at[packet] - max(free, start))
                    begun = max(at[packet], free)
                    queued = max(queued, begun - at[packet])
                    free = begun + service
                    at[packet] = free + onward
                free_ps[row, hop], queued_ps[row, hop] = free, queued
                stalled_ps[row] += stalled
            place = before
            for packet in range(count):
                answer = at[packet] + ack_ps[row]
                answered[row, place] = answer
                longest = max(longest, answer - ready[packet])
                place = place + 1 if place + 1 < window else 0
            arrived[row] = at[count - 1]
        answers[row] = place
    return longest
