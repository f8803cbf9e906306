"""The aggregating switch in compiled code: packets of all ports in order of time, then of port.

Ports whose packets come at the same instants are the usual case, and one pass over the ports
handles an instant. Where they come one by one the packets of a window are sorted instead.
"""

from innet.engine.compiled.account import keep_account
from innet.engine.compiled.jit import as_it_is, inlined
from innet.engine.compiled.lines import head_time, pop, room_of, send
from innet.engine.compiled.state import (
    ASKS_HELP,
    DIGIT_BITS,
    DIGITS,
    HELP,
    KIND,
    PORT_BITS,
    RESULT,
    SET,
    SLOT,
    SLOT_BITS,
    Ints,
    Net,
    Settings,
    Switch,
)
from innet.protocol import transitions
from innet.protocol.machine import NEVER
from innet.protocol.transitions import ADD, CALL_HELP, COMPLETE, NUMBER_MASK, REPEAT, STORE, UNICAST

as_it_is(transitions.is_newer)  # called by switch_receive
as_it_is(transitions.switch_calls)
as_it_is(transitions.switch_forgets_asks)
_switch_receive = as_it_is(transitions.switch_receive)

_FEW_PORTS = 16  # looking at all of them is as fast as sorting
_CROWD = 8  # an instant at which one port in so many has a packet is worth a pass


@inlined
def take(settings: Settings, net: Net, switch: Switch, word: int, worker: int, now: int) -> None:
    """Count a contribution and answer as the protocol says."""
    slot = word >> SLOT & ((1 << SLOT_BITS) - 1)
    in_set = word >> SET & 1
    here = in_set * settings.slots + slot
    flags = _switch_receive(
        switch.bitmap,
        switch.counts,
        switch.numbers,
        switch.asked,
        settings.workers,
        settings.words,
        here,
        (1 - in_set) * settings.slots + slot,
        worker,
        word & NUMBER_MASK,
        settings.guard,
        (word >> ASKS_HELP & 1) == 1,
    )
    if len(switch.account.held) > 0:
        keep_account(settings, switch, slot, here, worker, word & NUMBER_MASK, flags)
    plain = word & ((1 << ASKS_HELP) - 1)
    if flags & COMPLETE:
        switch.counters[0].completed += 1
        send_to_all(settings, net, switch, plain | RESULT << KIND, now + settings.latency_ps)
    elif not flags & (STORE | ADD):
        take_repeat(settings, net, switch, plain, worker, flags, now + settings.latency_ps)


@inlined
def take_repeat(
    settings: Settings, net: Net, switch: Switch, plain: int, worker: int, flags: int, leaves: int
) -> None:
    """Answer a contribution that is not counted, as `flags` say."""
    if flags & UNICAST:
        switch.counters[0].unicasts += 1
        switch.counters[0].room -= 1
        send(net, switch.down[worker], plain | RESULT << KIND, leaves)
    elif flags & CALL_HELP:
        switch.counters[0].helps_sent += 1
        send_to_all(settings, net, switch, plain | HELP << KIND, leaves)
    elif flags & REPEAT:
        switch.counters[0].repeats_dropped += 1
    else:
        switch.counters[0].stale_dropped += 1


@inlined
def send_to_all(settings: Settings, net: Net, switch: Switch, word: int, now: int) -> None:
    """Send a packet to every worker."""
    down = switch.down
    switch.counters[0].room -= 1
    switch.counters[0].sends_left -= len(down)
    for worker in range(len(down)):
        send(net, down[worker], word, now)


@inlined
def has_room(settings: Settings, net: Net, switch: Switch, now: int) -> bool:
    """Whether the switch may send, and its links have room for, what one more packet calls for."""
    if switch.counters[0].room > 0:
        return True
    room = -(-switch.counters[0].sends_left // settings.workers)
    for worker in range(len(switch.down)):
        room = min(room, room_of(net, switch.down[worker], now))
    switch.counters[0].room = room
    return bool(room > 0)


@inlined
def run_switch(settings: Settings, net: Net, switch: Switch, until: int) -> int:
    """Handle the switch's events before `until` in order; return their number.

    Returns -1 when a link's ring has no room for what the next one sends.
    """
    ports = len(switch.ports)
    switch.counters[0].room = 0
    now = load_heads(settings, net, switch)
    events = 0
    while now < until:
        handled = run_instant(settings, net, switch, now)
        if handled < 0:
            return -1
        events += handled
        now = net.due[settings.switch]
        if now < until and ports > _FEW_PORTS and handled * _CROWD < ports:
            handled = run_sorted(settings, net, switch, now, until)
            if handled < 0:
                return -1
            events += handled
            now = load_heads(settings, net, switch)
    return events


@inlined
def load_heads(settings: Settings, net: Net, switch: Switch) -> int:
    """Note the next arrival of every port; return the first."""
    first = NEVER
    for port in range(len(switch.ports)):
        time = head_time(net, switch.ports[port].link)
        switch.ports[port].next = time
        first = min(first, time)
    net.due[settings.switch] = first
    return first


@inlined
def run_instant(settings: Settings, net: Net, switch: Switch, now: int) -> int:
    """Handle all packets of one instant, note the next instant, and return how many there were.

    Returns -1 when a link's ring has no room for what the next packet sends.
    """
    handled = 0
    following = NEVER
    for port in range(len(switch.ports)):
        time = switch.ports[port].next
        while time == now:
            if not has_room(settings, net, switch, now):
                return -1
            link = switch.ports[port].link
            take(settings, net, switch, pop(net, link), switch.ports[port].worker, now)
            handled += 1
            time = head_time(net, link)
            switch.ports[port].next = time
        following = min(following, time)
    net.due[settings.switch] = following
    return handled


@inlined
def run_sorted(settings: Settings, net: Net, switch: Switch, first: int, until: int) -> int:
    """Handle the packets from `first` to before `until`, sorted beforehand; return their number.

    Returns -1 when a link's ring has no room for what the next packet sends.
    """
    count = collect(settings, net, switch, first, until)
    sort(switch, count, until - first)
    for place in range(count):
        now = first + (switch.order[place] >> PORT_BITS)
        if not has_room(settings, net, switch, now):
            net.due[settings.switch] = now
            return -1
        port = switch.order[place] & ((1 << PORT_BITS) - 1)
        take(
            settings, net, switch, pop(net, switch.ports[port].link), switch.ports[port].worker, now
        )
    return int(count)


@inlined
def collect(settings: Settings, net: Net, switch: Switch, first: int, until: int) -> int:
    """Write a key for every packet before `until`, port by port; return their number."""
    count = 0
    for port in range(len(switch.ports)):
        link = switch.ports[port].link
        for place in range(net.links[link].head, net.links[link].tail):
            arrival = net.rings[link * net.stride + (place & (net.capacity - 1))].arrival
            if arrival >= until:
                break
            switch.order[count] = (arrival - first) << PORT_BITS | port
            count += 1
    return int(count)


@inlined
def sort(switch: Switch, count: int, span: int) -> None:
    """Sort `count` keys by their time, below `span`; equal ones stay in order of port."""
    shift = PORT_BITS
    while span > 0:
        sort_by_digit(switch.order, switch.scratch, switch.digits, count, shift)
        shift += DIGIT_BITS
        span >>= DIGIT_BITS


@inlined
def sort_by_digit(keys: Ints, scratch: Ints, digits: Ints, count: int, shift: int) -> None:
    """One pass of a radix sort, the least digit first."""
    digits[:] = 0
    for place in range(count):
        digits[keys[place] >> shift & (DIGITS - 1)] += 1
    before = 0
    for digit in range(DIGITS):
        here = digits[digit]
        digits[digit] = before
        before += here
    for place in range(count):
        digit = keys[place] >> shift & (DIGITS - 1)
        scratch[digits[digit]] = keys[place]
        digits[digit] += 1
    for place in range(count):
        keys[place] = scratch[place]
