"""Hosts whose cores take time for every packet, as `reference/core.py` has them, on arrays.

A core's work is a row of LINK from the host to itself: sending a packet occupies it for the send
cost, its ring has the packets by the time at which they leave, and receiving occupies it too. What
has arrived and waits to be received is in the ring of another row, the core's inbox.
"""

from innet.engine.compiled.hosts import start, take, time_out
from innet.engine.compiled.jit import called, inlined
from innet.engine.compiled.lines import head_time, pop, put, room_of, send
from innet.engine.compiled.state import SLOT, SLOT_BITS, Hosts, Net, Records, Settings
from innet.protocol.machine import NEVER

# What a host does next. At one instant in this order, and the first two core by core.
ARRIVE, RECEIVE, LEAVE, TIME_OUT, START = range(5)


@called
def run_busy_host(
    settings: Settings, net: Net, hosts: Hosts, cores: Records, worker: int, until: int
) -> int:
    """Handle a host's events before `until` in order; return their number.

    Returns -1 when a ring has no room for what the next one sends.
    """
    host = hosts.workers[worker]
    events = 0
    while True:
        now, what, shard = next_event(net, hosts, cores, worker)
        net.due[host.node] = now
        if now >= until:
            return events
        if not has_room(settings, net, hosts, cores, worker, now):
            return -1
        events += 1
        if what == ARRIVE:
            arrive(settings, net, hosts, cores, worker, pop(net, host.downlink), now)
        elif what == RECEIVE:
            receive(settings, net, hosts, cores, worker, shard, now)
        elif what == LEAVE:
            send(net, host.uplink, pop(net, cores[shard].work), now)
        elif what == TIME_OUT:
            time_out(settings, net, hosts, worker, shard, now)
        else:
            start(settings, net, hosts, worker, now)


@inlined
def next_event(net: Net, hosts: Hosts, cores: Records, worker: int) -> tuple[int, int, int]:
    """When and what a host's next event is, and on which shard's core."""
    host = hosts.workers[worker]
    now, what, due = head_time(net, host.downlink), ARRIVE, host.first_shard
    for shard in range(host.first_shard, host.end_shard):
        if cores[shard].received_at < now:
            now, what, due = cores[shard].received_at, RECEIVE, shard
        leaves = head_time(net, cores[shard].work)
        if leaves < now:
            now, what, due = leaves, LEAVE, shard
    for shard in range(host.first_shard, host.end_shard):
        if hosts.shards[shard].earliest < now:
            now, what, due = hosts.shards[shard].earliest, TIME_OUT, shard
    if not host.started and host.start_ps < now:
        now, what = host.start_ps, START
    return now, what, due


@inlined
def has_room(
    settings: Settings, net: Net, hosts: Hosts, cores: Records, worker: int, now: int
) -> bool:
    """Whether all rings of a host have room for what any of its events puts there."""
    host = hosts.workers[worker]
    room = room_of(net, host.uplink, now)
    for shard in range(host.first_shard, host.end_shard):
        room = min(room, room_of(net, cores[shard].work, now))
        room = min(room, room_of(net, cores[shard].inbox, now))
    return bool(room >= settings.slots)


@inlined
def arrive(
    settings: Settings, net: Net, hosts: Hosts, cores: Records, worker: int, word: int, now: int
) -> None:
    """Receive a packet at once if that costs nothing and its core is free, else in its turn."""
    slot = word >> SLOT & ((1 << SLOT_BITS) - 1)
    shard = hosts.workers[worker].first_shard
    while slot > hosts.shards[shard].last_slot:
        shard += 1
    core = cores[shard]
    receives = core.received_at < NEVER
    if core.receive_ps == 0 and not receives and net.links[core.work].free_at <= now:
        take(settings, net, hosts, worker, word, now)
        return
    put(net, core.inbox, word, now)
    if not receives:
        begin(net, cores, shard, now)


@inlined
def begin(net: Net, cores: Records, shard: int, now: int) -> None:
    """Let a core receive the first packet of its inbox when it is free."""
    core = cores[shard]
    work = net.links[core.work]
    work.free_at = max(work.free_at, now) + core.receive_ps
    core.received_at = work.free_at
    core.receptions += 1


@inlined
def receive(
    settings: Settings, net: Net, hosts: Hosts, cores: Records, worker: int, shard: int, now: int
) -> None:
    """Take the packet that a core has received, and begin with the next."""
    core = cores[shard]
    core.received_at = NEVER
    take(settings, net, hosts, worker, pop(net, core.inbox), now)
    if head_time(net, core.inbox) < NEVER:
        begin(net, cores, shard, now)
