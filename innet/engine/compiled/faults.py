"""Packet faults in compiled code: what `reference/faulty_lane.py` does, on arrays.

What is sent on a link with faults waits in its entry until the end of the window. Then it is put
on the link itself, whose ring is in order of arrival, and of sending at one instant. So neither
who sends nor who receives need know, and links without faults are as fast as ever. This is in
time, since nothing that is sent in a window arrives in it.
"""

import numpy as np

from innet import draws
from innet.engine.compiled.jit import as_it_is, called, inlined
from innet.engine.compiled.lines import DROPPED, head_time, is_lost, occupy, pop, room_of
from innet.engine.compiled.state import KIND, Faults, Ints, Net
from innet.plan import link_faults
from innet.plan.link_faults import (
    BY,
    CORRUPT,
    DELAY,
    DROP,
    DUPLICATE,
    KEY,
    LAST,
    MEETS,
    REORDER,
    RULE_WORDS,
    VERB,
)
from innet.protocol.transitions import NUMBER_MASK

as_it_is(draws.mix)  # called by draw
_draw = as_it_is(draws.draw)
_choose = as_it_is(link_faults.choose)
_is_met = as_it_is(link_faults.is_met)
_total_by = as_it_is(link_faults.total_by)


@called
def leave_entries(net: Net, faults: Faults) -> bool:
    """Put on their links what waits in all entries; return whether their rings had room."""
    for place in range(len(faults.links)):
        link = faults.links[place]
        while net.links[link.entry].head < net.links[link.entry].tail:
            now = head_time(net, link.entry)
            if room_of(net, link.link, now) <= link.copies:
                return False
            word = pop(net, link.entry)
            send(net, faults, place, word, word >> KIND, word & NUMBER_MASK, now)
    return True


@inlined
def send(net: Net, faults: Faults, place: int, word: int, kind: int, number: int, now: int) -> None:
    """Send a packet of a kind, a place in link_faults.KINDS, and a number on a faulty link.

    Lost ones are shown to the faults as well, since these count what is sent.
    """
    faulty, rules = faults.links[place], faults.rules
    first, last = faulty.first_rule, faulty.end_rule
    end = occupy(net, faulty.link, word, now)
    if end == DROPPED:
        return
    show(rules, first, last, kind, number, now)
    if is_lost(net, faulty.link) or _is_met(rules, first, last, DROP):
        net.links[faulty.link].lost += 1
    elif _is_met(rules, first, last, CORRUPT):
        faulty.corrupted += 1
    else:
        deliver(net, faults, place, word, end + net.links[faulty.link].delay_ps)


@inlined
def show(rules: Ints, first: int, last: int, kind: int, number: int, now: int) -> None:
    """Show a packet to the rules from `first` to before `last`; note which of them meet it."""
    for at in range(first, last, RULE_WORDS):
        ordinal = _choose(rules, at, kind, number, now)
        meets = 0
        if ordinal:
            key, most = np.uint64(rules[at + KEY]), np.uint64(rules[at + LAST])
            meets = int(_draw(key, np.uint64(ordinal)) <= most)
        rules[at + MEETS] = meets


@inlined
def deliver(net: Net, faults: Faults, place: int, word: int, arrival: int) -> None:
    """Deliver a packet that would arrive at `arrival`, and its copies, as the rules have it."""
    faulty, rules = faults.links[place], faults.rules
    first, last = faulty.first_rule, faulty.end_rule
    faulty.held_until = max(faulty.held_until, arrival + _total_by(rules, first, last, DELAY))
    time = faulty.held_until + _total_by(rules, first, last, REORDER)
    put_in_order(net, faulty.link, word, time)
    for at in range(first, last, RULE_WORDS):
        if rules[at + VERB] == DUPLICATE and rules[at + MEETS]:
            faulty.duplicated += 1
            put_in_order(net, faulty.link, word, time + rules[at + BY])


@inlined
def put_in_order(net: Net, index: int, word: int, arrival: int) -> None:
    """Let a packet arrive at `arrival`, behind those that arrive no later."""
    link, rings = net.links[index], net.rings
    base, mask = index * net.stride, net.capacity - 1
    place = link.tail
    while place > link.head and rings[base + ((place - 1) & mask)].arrival > arrival:
        before, here = base + ((place - 1) & mask), base + (place & mask)
        rings[here].arrival = rings[before].arrival
        rings[here].word = rings[before].word
        place -= 1
    rings[base + (place & mask)].arrival = arrival
    rings[base + (place & mask)].word = word
    link.tail += 1
    if arrival < net.due[link.target]:
        net.due[link.target] = arrival
