"""A host in compiled code: the shards of a worker, as `protocol/worker.py` has them, on arrays."""

from innet.engine.compiled.jit import as_it_is, inlined
from innet.engine.compiled.lines import head_time, pop, room_of, send
from innet.engine.compiled.state import (
    ASKS_HELP,
    KIND,
    RESULT,
    SET,
    SLOT,
    SLOT_BITS,
    UPDATE,
    Hosts,
    Net,
    Settings,
)
from innet.protocol import transitions
from innet.protocol.machine import NEVER
from innet.protocol.transitions import IDLE, NUMBER_MASK, SMOOTHED, TIMED, TIMER_STATE
from innet.protocol.worker import TRIES_BEFORE_HELP

as_it_is(transitions.rto_time)  # called by worker_send
_rto_interval = as_it_is(transitions.rto_interval)
_rto_answered = as_it_is(transitions.rto_answered)
_rto_first_sample = as_it_is(transitions.rto_first_sample)
_rto_answered_again = as_it_is(transitions.rto_answered_again)
_worker_send = as_it_is(transitions.worker_send)
_worker_result = as_it_is(transitions.worker_result)
_worker_timeout = as_it_is(transitions.worker_timeout)
_worker_helps = as_it_is(transitions.worker_helps)


@inlined
def interval_of(settings: Settings, hosts: Hosts, shard: int, tries: int) -> int:
    """How long a shard waits for the answer to a packet that has timed out `tries` times."""
    interval = _rto_interval(
        hosts.pool.timers,
        shard * TIMER_STATE,
        settings.adaptive,
        settings.initial_ps,
        settings.minimum_ps,
        settings.maximum_ps,
        tries,
    )
    return int(interval)


@inlined
def contribute(
    settings: Settings,
    net: Net,
    hosts: Hosts,
    worker: int,
    shard: int,
    slot: int,
    asks_help: bool,
    now: int,
) -> None:
    """Send the packet that a slot of the pool now carries."""
    place = worker * settings.pool_stride + slot
    word = hosts.pool.numbers[place] | slot << SLOT | hosts.pool.sets[place] << SET
    word |= UPDATE << KIND
    if asks_help:
        word |= 1 << ASKS_HELP
    hosts.shards[shard].sent += 1
    send(net, hosts.shards[shard].outlet, word, now)


@inlined
def send_chunk(
    settings: Settings,
    net: Net,
    hosts: Hosts,
    worker: int,
    shard: int,
    slot: int,
    chunk: int,
    now: int,
) -> None:
    """Send a chunk for the first time, on a slot of the pool."""
    pool, machine = hosts.pool, hosts.shards[shard]
    place = worker * settings.pool_stride + slot
    number = (settings.first_number + chunk) & NUMBER_MASK
    timer = shard * TIMER_STATE
    _worker_send(
        pool.chunk, pool.numbers, pool.tries, pool.timers, timer, place, chunk, number, now
    )
    deadline = now + machine.interval
    pool.deadlines[place] = deadline
    if deadline < machine.earliest:
        machine.earliest = deadline
    contribute(settings, net, hosts, worker, shard, slot, False, now)


@inlined
def start(settings: Settings, net: Net, hosts: Hosts, worker: int, now: int) -> None:
    """Send the first window of every shard."""
    host = hosts.workers[worker]
    host.started = 1
    for shard in range(host.first_shard, host.end_shard):
        machine = hosts.shards[shard]
        count = machine.last_slot - machine.first_slot + 1
        if machine.chunks == 0:
            shard_done(hosts, worker, now)
        for chunk in range(machine.window):
            slot = machine.first_slot + (settings.first_number + chunk) % count
            send_chunk(settings, net, hosts, worker, shard, slot, chunk, now)


@inlined
def shard_done(hosts: Hosts, worker: int, now: int) -> None:
    """A shard has its whole result."""
    host = hosts.workers[worker]
    host.left -= 1
    if host.left == 0:
        host.finish = now


@inlined
def take(settings: Settings, net: Net, hosts: Hosts, worker: int, word: int, now: int) -> None:
    """Take a packet that has arrived."""
    slot = word >> SLOT & ((1 << SLOT_BITS) - 1)
    shard = hosts.workers[worker].first_shard
    while slot > hosts.shards[shard].last_slot:
        shard += 1
    hosts.shards[shard].received += 1
    if word >> KIND == RESULT:
        take_result(settings, net, hosts, worker, shard, slot, word, now)
    else:
        take_call(settings, net, hosts, worker, shard, slot, word, now)


@inlined
def take_result(
    settings: Settings,
    net: Net,
    hosts: Hosts,
    worker: int,
    shard: int,
    slot: int,
    word: int,
    now: int,
) -> None:
    """Take a result and send the slot's next chunk."""
    pool, machine = hosts.pool, hosts.shards[shard]
    timer = shard * TIMER_STATE
    place = worker * settings.pool_stride + slot
    number = word & NUMBER_MASK
    chunk = _worker_result(
        pool.chunk,
        pool.numbers,
        pool.sets,
        pool.kept_chunk,
        pool.kept_number,
        place,
        word >> SET & 1,
        number,
    )
    if chunk == IDLE:
        machine.stale += 1
        if number == pool.kept_number[place]:
            _rto_answered_again(pool.timers, timer, place)
            machine.interval = interval_of(settings, hosts, shard, 0)
        return
    if pool.timers[timer + TIMED] == place:
        measure(settings, hosts, worker, shard, place, now)
    machine.left -= 1
    machine.completed += 1
    following = chunk + machine.window
    if following < machine.chunks:
        send_chunk(settings, net, hosts, worker, shard, slot, following, now)
    else:
        pool.deadlines[place] = NEVER
        if machine.left == 0:
            shard_done(hosts, worker, now)


@inlined
def measure(
    settings: Settings, hosts: Hosts, worker: int, shard: int, place: int, now: int
) -> None:
    """Take the answer to the packet whose round trip is measured."""
    pool, machine, timer = hosts.pool, hosts.shards[shard], shard * TIMER_STATE
    first = pool.timers[timer + SMOOTHED] == 0
    if not _rto_answered(pool.timers, timer, place, now):
        return
    machine.interval = interval_of(settings, hosts, shard, 0)
    if first and settings.adaptive:
        pool.deadlines[place] = NEVER
        base = worker * settings.pool_stride
        machine.earliest = _rto_first_sample(
            pool.tries,
            pool.deadlines,
            base + machine.first_slot,
            base + machine.last_slot,
            now + machine.interval,
            NEVER,
        )


@inlined
def take_call(
    settings: Settings,
    net: Net,
    hosts: Hosts,
    worker: int,
    shard: int,
    slot: int,
    word: int,
    now: int,
) -> None:
    """Answer a call for help if the worker can."""
    pool = hosts.pool
    place = worker * settings.pool_stride + slot
    number = word & NUMBER_MASK
    in_set = word >> SET & 1
    chunk = _worker_helps(pool.kept_chunk, pool.kept_number, pool.sets, place, in_set, number)
    if chunk == IDLE:
        return
    hosts.shards[shard].helps_answered += 1
    hosts.shards[shard].sent += 1
    again = number | slot << SLOT | in_set << SET | UPDATE << KIND
    send(net, hosts.shards[shard].outlet, again, now)


@inlined
def time_out(settings: Settings, net: Net, hosts: Hosts, worker: int, shard: int, now: int) -> None:
    """Send again, in order of slot, every packet whose answer is overdue."""
    pool, machine = hosts.pool, hosts.shards[shard]
    base = worker * settings.pool_stride
    earliest = NEVER
    for slot in range(machine.first_slot, machine.last_slot + 1):
        place = base + slot
        if pool.deadlines[place] <= now:
            tries = _worker_timeout(pool.tries, pool.timers, shard * TIMER_STATE, place)
            machine.timeouts += 1
            machine.retransmissions += 1
            machine.interval = interval_of(settings, hosts, shard, 0)
            pool.deadlines[place] = now + interval_of(settings, hosts, shard, tries)
            asks_help = settings.guard and tries >= TRIES_BEFORE_HELP
            contribute(settings, net, hosts, worker, shard, slot, asks_help, now)
        earliest = min(earliest, pool.deadlines[place])
    machine.earliest = earliest


@inlined
def run_host(settings: Settings, net: Net, hosts: Hosts, worker: int, until: int) -> int:
    """Handle a host's events before `until` in order; return their number.

    Returns -1 when the uplink's ring has no room for what the next one sends.
    """
    host = hosts.workers[worker]
    waits = NEVER if host.started else host.start_ps
    room = room_of(net, host.uplink, 0)
    events = 0
    while True:
        arrival = head_time(net, host.downlink)
        timer, due_shard = NEVER, host.first_shard
        for shard in range(host.first_shard, host.end_shard):
            if hosts.shards[shard].earliest < timer:
                timer, due_shard = hosts.shards[shard].earliest, shard
        now = min(arrival, timer, waits)
        net.due[host.node] = now
        if now >= until:
            return events
        need = 1 if now == arrival else settings.slots
        if room < need:
            room = room_of(net, host.uplink, now)
            if room < need:
                return -1
        room -= need
        events += 1
        if now == arrival:
            take(settings, net, hosts, worker, pop(net, host.downlink), now)
        elif now == timer:
            time_out(settings, net, hosts, worker, due_shard, now)
        else:
            waits = NEVER
            start(settings, net, hosts, worker, now)
