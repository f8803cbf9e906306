"""Link directions in compiled code: what `reference/link.py` does, for packets of any length."""

import numpy as np

from innet import draws, units
from innet.engine.compiled.jit import as_it_is, inlined
from innet.engine.compiled.messages.state import ACK, BYTES, Net
from innet.protocol.machine import NEVER

as_it_is(draws.mix)  # called by draw
_draw = as_it_is(draws.draw)
_divide_half_even = as_it_is(units.divide_half_even)
_BITS = 8 * units.PS_PER_SECOND


@inlined
def taken(net: Net) -> int:
    """Take a free packet; the caller has seen that there is one."""
    pool = net.pool[0]
    packet = pool.free
    pool.free = net.packets[packet].next
    pool.count -= 1
    return int(packet)


@inlined
def release(net: Net, packet: int) -> None:
    """Free a packet."""
    pool = net.pool[0]
    net.packets[packet].next = pool.free
    pool.free = packet
    pool.count += 1


@inlined
def medium_ps(net: Net, index: int, is_ack: int, size: int) -> int:
    """The time of a packet of `size` bytes on a link."""
    link = net.links[index]
    if is_ack:
        if link.ack_bytes != size:
            link.ack_bytes = size
            link.ack_ps = _divide_half_even(size * _BITS, link.rate_bps)
        return int(link.ack_ps)
    if link.data_bytes != size:
        link.data_bytes = size
        link.data_ps = _divide_half_even(size * _BITS, link.rate_bps)
    return int(link.data_ps)


@inlined
def drain(net: Net, index: int, now: int) -> None:
    """Forget the packets that no longer wait at `now`."""
    link = net.links[index]
    while link.wait_head >= 0:
        first = link.wait_head
        if net.packets[first].arrival > now:
            break
        link.wait_bytes -= net.packets[first].load
        link.wait_head = net.packets[first].next
        release(net, first)


@inlined
def admit(net: Net, index: int, size: int, now: int, start: int) -> bool:
    """Queue a packet at a limited link that is busy until `start`, if it fits."""
    drain(net, index, now)
    link = net.links[index]
    if link.wait_bytes + size > link.limit:
        return False
    waits = taken(net)
    net.packets[waits].arrival = start
    net.packets[waits].load = size
    net.packets[waits].next = -1
    if link.wait_head < 0:
        link.wait_head = waits
    else:
        net.packets[link.wait_tail].next = waits
    link.wait_tail = waits
    link.wait_bytes += size
    return True


@inlined
def send(net: Net, index: int, packet: int, now: int) -> bool:
    """Put a packet at the end of the link's queue at `now`, never before an earlier call's.

    Returns whether it will arrive; it is free again if not.
    """
    link = net.links[index]
    size = net.packets[packet].load >> BYTES
    lane, end = link.lane, now
    if size == 0:
        lane += 1
    else:
        start = link.free_at
        if start <= now:
            start = now
            if link.first_sent < 0:
                link.first_sent = now
        elif link.limit >= 0 and not admit(net, index, size, now, start):
            link.queue_dropped += 1
            release(net, packet)
            return False
        elif start - now > link.queued_ps:
            link.queued_ps = start - now
        time = medium_ps(net, index, net.packets[packet].word >> ACK, size)
        end = start + time
        link.free_at = end
        link.bytes += size
        link.busy_ps += time
    link.packets += 1
    if link.loss and _draw(link.key, np.uint64(link.packets)) < link.loss:
        link.lost += 1
        release(net, packet)
        return False
    put(net, lane, packet, end + link.delay_ps)
    return True


@inlined
def put(net: Net, index: int, packet: int, arrival: int) -> None:
    """Let a packet arrive at `arrival`, behind those on their way."""
    lane = net.lanes[index]
    net.packets[packet].arrival = arrival
    net.packets[packet].next = -1
    if lane.head >= 0:
        net.packets[lane.tail].next = packet
    else:
        lane.head = packet
        lane.arrival = arrival
        if arrival < net.due[lane.node]:
            net.due[lane.node] = arrival
    lane.tail = packet


@inlined
def pop(net: Net, index: int) -> int:
    """Take the first packet on its way."""
    lane = net.lanes[index]
    packet = lane.head
    following = net.packets[packet].next
    lane.head = following
    lane.arrival = net.packets[following].arrival if following >= 0 else NEVER
    return int(packet)
