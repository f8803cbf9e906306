"""A switch that forwards, in compiled code: packets of all ports in order of time, then of port.

As at the switch that sums (`switches.py`), one pass over the ports handles an instant; where
packets come one by one at many ports, those of a window are sorted instead.
"""

from innet.engine.compiled.jit import inlined
from innet.engine.compiled.jobs.switches import onward
from innet.engine.compiled.messages.lanes import pop, send
from innet.engine.compiled.messages.state import (
    ACK,
    AGGREGATED,
    HOPS,
    MOST_HOPS,
    MOST_STREAMS,
    STREAM,
    State,
)
from innet.engine.compiled.state import DIGIT_BITS, PORT_BITS
from innet.engine.compiled.switches import sort_by_digit
from innet.protocol.machine import NEVER

_FEW_LANES = 16  # looking at all of them is as fast as sorting
_CROWD = 8  # an instant at which one lane in so many has a packet is worth a pass


@inlined
def forward(state: State, node: int, lane: int, now: int) -> None:
    """Send the first packet of a lane on along its path, or take it where this ends here."""
    net, streams = state.net, state.streams.rows
    packet = pop(net, lane)
    word = net.packets[packet].word + (1 << HOPS)
    net.packets[packet].word = word
    stream, hops = word >> STREAM & (MOST_STREAMS - 1), word >> HOPS & (MOST_HOPS - 1)
    if word >> AGGREGATED:
        place = onward(state.jobs, state, packet, now)
        if place < 0:
            return
    else:
        place = (streams.way_back[stream] if word >> ACK else streams.way[stream]) + hops
    arrives = send(net, net.path[place], packet, now + state.nodes[node].latency_ps)
    if not arrives and not word >> AGGREGATED:
        member = state.members[streams.source[stream]]
        state.operations[member.operation].under_way -= 1


@inlined
def run_switch(state: State, node: int, until: int, most: int) -> int:
    """Handle a switch's packets before `until` in order, `most` of them; return their number.

    Returns -1 when there are not enough free packets for the next one.
    """
    first, end = state.nodes[node].first_lane, state.nodes[node].end_lane
    handled = 0
    while True:
        now = NEVER
        for lane in range(first, end):
            now = min(now, state.net.lanes[lane].arrival)
        state.net.due[node] = now
        if now >= until or handled >= most:
            return handled
        count = run_instant(state, node, now, most - handled)
        if count < 0:
            return -1
        handled += count
        if end - first > _FEW_LANES and count * _CROWD < end - first and handled < most:
            count = run_sorted(state, node, now, until)
            if count < 0:
                return -1
            handled += count


@inlined
def run_instant(state: State, node: int, now: int, most: int) -> int:
    """Handle `most` packets of one instant; return their number, -1 without free packets."""
    handled = 0
    for lane in range(state.nodes[node].first_lane, state.nodes[node].end_lane):
        while state.net.lanes[lane].arrival == now and handled < most:
            if state.net.pool[0].count < state.settings.need:
                return -1
            forward(state, node, lane, now)
            handled += 1
    return handled


@inlined
def run_sorted(state: State, node: int, first: int, until: int) -> int:
    """Handle the packets from `first` to before `until`, sorted beforehand; return their number.

    Returns -1 when there are not enough free packets for the next one.
    """
    net = state.net
    count = collect(state, node, first, until)
    shift, span = PORT_BITS, until - first
    while span > 0:
        sort_by_digit(net.order, net.scratch, net.digits, count, shift)
        shift += DIGIT_BITS
        span >>= DIGIT_BITS
    first_lane = state.nodes[node].first_lane
    for place in range(count):
        if net.pool[0].count < state.settings.need:
            return -1
        key = net.order[place]
        lane = first_lane + (key & ((1 << PORT_BITS) - 1))
        forward(state, node, lane, first + (key >> PORT_BITS))
    return count


@inlined
def collect(state: State, node: int, first: int, until: int) -> int:
    """Write a key for every packet before `until`, lane by lane; return their number."""
    net = state.net
    first_lane, count = state.nodes[node].first_lane, 0
    for lane in range(first_lane, state.nodes[node].end_lane):
        packet = net.lanes[lane].head
        while packet >= 0 and net.packets[packet].arrival < until:
            net.order[count] = (net.packets[packet].arrival - first) << PORT_BITS | (
                lane - first_lane
            )
            count += 1
            packet = net.packets[packet].next
    return count
