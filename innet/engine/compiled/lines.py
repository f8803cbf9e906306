"""Link directions in compiled code: what `reference/link.py` does, on arrays."""

import numpy as np

from innet import draws
from innet.engine.compiled.jit import as_it_is, inlined
from innet.engine.compiled.state import HELP, KIND, Net
from innet.protocol.machine import NEVER

as_it_is(draws.mix)  # called by draw
_draw = as_it_is(draws.draw)

DROPPED = -1


@inlined
def room_of(net: Net, index: int, now: int) -> int:
    """How many more packets the link's rings hold."""
    link = net.links[index]
    room = net.capacity - (link.tail - link.head)
    if link.limit >= 0:
        drain(net, index, now)
        room = min(room, net.capacity - (link.wait_tail - link.wait_head))
    return int(room)


@inlined
def drain(net: Net, index: int, now: int) -> None:
    """Forget the packets that no longer wait at `now`."""
    link = net.links[index]
    while link.wait_head < link.wait_tail:
        entry = net.waits[index * net.stride + (link.wait_head & (net.capacity - 1))]
        if entry >> 1 > now:
            break
        link.wait_bytes -= link.help_bytes if entry & 1 else link.packet_bytes
        link.wait_head += 1


@inlined
def admit(net: Net, index: int, is_help: int, now: int, start: int) -> bool:
    """Queue a packet at a limited link that is busy until `start`, if it fits."""
    drain(net, index, now)
    link = net.links[index]
    size = link.help_bytes if is_help else link.packet_bytes
    if link.wait_bytes + size > link.limit:
        return False
    net.waits[index * net.stride + (link.wait_tail & (net.capacity - 1))] = 2 * start + is_help
    link.wait_tail += 1
    link.wait_bytes += size
    return True


@inlined
def send(net: Net, index: int, word: int, now: int) -> None:
    """Put a packet at the end of the link's queue; the caller has seen that there is room."""
    end = occupy(net, index, word, now)
    if end >= 0:
        link = net.links[index]
        if is_lost(net, index):
            link.lost += 1
        else:
            put(net, index, word, end + link.delay_ps)


@inlined
def occupy(net: Net, index: int, word: int, now: int) -> int:
    """Queue a packet; return when it has been sent, or DROPPED if the queue is full."""
    link = net.links[index]
    is_help = 1 if word >> KIND == HELP else 0
    start = link.free_at
    if start <= now:
        start = now
        if link.first_sent < 0:
            link.first_sent = now
    elif link.limit >= 0 and not admit(net, index, is_help, now, start):
        link.queue_dropped += 1
        return DROPPED
    elif start - now > link.queued_ps:
        link.queued_ps = start - now
    end = start + link.time_ps
    if is_help:
        end = start + link.help_ps
        link.help_packets += 1
    link.free_at = end
    link.packets += 1
    return int(end)


@inlined
def is_lost(net: Net, index: int) -> bool:
    """Whether the link loses the packet that has just occupied it."""
    link = net.links[index]
    return bool(link.loss and _draw(link.key, np.uint64(link.packets)) < link.loss)


@inlined
def put(net: Net, index: int, word: int, arrival: int) -> None:
    """Let a packet arrive at `arrival`, behind those on their way."""
    link = net.links[index]
    place = index * net.stride + (link.tail & (net.capacity - 1))
    net.rings[place].arrival = arrival
    net.rings[place].word = word
    link.tail += 1
    if arrival < net.due[link.target]:
        net.due[link.target] = arrival


@inlined
def head_time(net: Net, index: int) -> int:
    """When the first packet on its way arrives, NEVER if there is none."""
    link = net.links[index]
    if link.head == link.tail:
        return NEVER
    return int(net.rings[index * net.stride + (link.head & (net.capacity - 1))].arrival)


@inlined
def pop(net: Net, index: int) -> int:
    """Take the first packet on its way."""
    link = net.links[index]
    place = index * net.stride + (link.head & (net.capacity - 1))
    link.head += 1
    return int(net.rings[place].word)
