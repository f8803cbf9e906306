"""Workers of in-network jobs in compiled code, as `protocol/worker.py` has them, on arrays.

What takes `jobs` as an argument is nothing in a kernel for networks that have None.
"""

from typing import Any

from innet.engine.compiled.jit import as_it_is, called, inlined
from innet.engine.compiled.jobs.state import (
    ASKS_HELP,
    KIND,
    MOST_SLOTS,
    RESULT,
    SET,
    UPDATE,
    Jobs,
)
from innet.engine.compiled.messages.lanes import send, taken
from innet.engine.compiled.messages.state import (
    AGGREGATED,
    BYTES,
    MOST_STREAMS,
    NUMBER_MASK,
    REST_MASK,
    STREAM,
    State,
)
from innet.protocol import transitions
from innet.protocol.machine import NEVER
from innet.protocol.transitions import IDLE, SMOOTHED, TIMED, TIMER_STATE
from innet.protocol.worker import TRIES_BEFORE_HELP

Row = Any  # one row of records, by attribute

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
def interval_of(state: State, shard: int, tries: int) -> int:
    """How long a shard waits for the answer to a packet that has timed out `tries` times."""
    jobs = state.jobs
    job = jobs.jobs[jobs.workers[jobs.shards[shard].worker].job]
    interval = _rto_interval(
        jobs.pool.timers,
        shard * TIMER_STATE,
        job.adaptive,
        job.initial_ps,
        job.minimum_ps,
        job.maximum_ps,
        tries,
    )
    return int(interval)


@inlined
def send_on_edge(state: State, edge: int, link: int, word: int, load: int, now: int) -> None:
    """Put a packet of an edge on a link; `word` and `load` are without the edge's number."""
    packet = taken(state.net)
    state.net.packets[packet].word = word | edge << STREAM | 1 << AGGREGATED
    state.net.packets[packet].load = load
    send(state.net, link, packet, now)


@inlined
def contribute(state: State, shard: int, number: int, rest: int, now: int) -> None:
    """Send a contribution to the switch above."""
    jobs = state.jobs
    worker = jobs.workers[jobs.shards[shard].worker]
    link = state.net.path[jobs.edges[worker.edge].way]
    load = jobs.jobs[worker.job].packet_bytes << BYTES | rest | UPDATE << KIND
    jobs.shards[shard].sent += 1
    send_on_edge(state, worker.edge, link, number, load, now)


@inlined
def slot_rest(state: State, shard: int, slot: int) -> int:
    """The slot and the set of a packet of `slot`, counted from the shard's first."""
    row = state.jobs.shards[shard]
    return int(row.first_slot + slot | state.jobs.pool.sets[row.place + slot] << SET)


@inlined
def note_sending(state: State, shard: int, slot: int, chunk: int, now: int) -> int:
    """Let a slot carry a chunk, sent for the first time; return its number."""
    pool, row = state.jobs.pool, state.jobs.shards[shard]
    place, number = row.place + slot, (row.first_number + chunk) & NUMBER_MASK
    timer = shard * TIMER_STATE
    _worker_send(
        pool.chunk, pool.numbers, pool.tries, pool.timers, timer, place, chunk, number, now
    )
    deadline = now + row.interval
    pool.deadlines[place] = deadline
    if deadline < row.earliest:
        row.earliest = deadline
    return int(number)


@called
def enter(jobs: Jobs | None, state: State, entering: int, now: int) -> None:
    """Let a member enter its operation, which begins after those that its worker runs."""
    if jobs is None:
        return
    worker = jobs.workers[state.members[entering].worker]
    if state.members[entering].is_next or (worker.left == 0 and worker.waiting < 0):
        begin(jobs, state, entering, now)
        return
    state.members[entering].next_to_begin = -1
    if worker.waiting < 0:
        worker.waiting = entering
    else:
        state.members[worker.last].next_to_begin = entering
    worker.last = entering


@inlined
def begin(jobs: Jobs, state: State, entering: int, now: int) -> None:
    """Let a member begin its operation: its shards send their first windows."""
    member = state.members[entering]
    worker = jobs.workers[member.worker]
    worker.member, worker.left = entering, worker.end_shard - worker.first_shard
    for shard in range(worker.first_shard, worker.end_shard):
        row = jobs.shards[shard]
        blocks = jobs.blocks[member.first_blocks + shard - worker.first_shard]
        window = min(row.slots, blocks)
        chunks = blocks + window if jobs.jobs[worker.job].exponents else blocks
        row.first_number, row.first_of_tensor = row.next_number, row.next_slot
        row.blocks, row.window, row.chunks, row.left = blocks, window, chunks, chunks
        row.next_number += chunks
        row.next_slot = (row.next_slot + blocks) % row.slots
        if chunks == 0:
            shard_done(state, member.worker, now)
        for chunk in range(window):
            slot = (row.first_of_tensor + chunk) % row.slots
            number = note_sending(state, shard, slot, chunk, now)
            contribute(state, shard, number, slot_rest(state, shard, slot), now)
    set_timer(state, member.worker)


@inlined
def shard_done(state: State, number: int, now: int) -> None:
    """A shard has its whole result."""
    worker, pool = state.jobs.workers[number], state.net.pool[0]
    worker.left -= 1
    if worker.left > 0:
        return
    state.members[worker.member].finish = now
    state.hosts[worker.host].stopped_at = now
    state.finished[pool.finished] = worker.member
    pool.finished += 1
    if worker.waiting >= 0:
        begin_at_once(state, worker, now)


@inlined
def begin_at_once(state: State, worker: Row, now: int) -> None:
    """Let a worker begin what it has entered, as if it entered it now."""
    members, host, entering = state.members, state.hosts[worker.host], worker.waiting
    worker.waiting = members[entering].next_to_begin
    members[entering].start_ps, members[entering].is_next = now, 1
    before, following = -1, host.begin
    while following >= 0 and (
        members[following].start_ps < now
        or (
            members[following].start_ps == now
            and members[following].number < members[entering].number
        )
    ):
        before, following = following, members[following].next_to_begin
    members[entering].next_to_begin = following
    if before < 0:
        host.begin = entering
    else:
        members[before].next_to_begin = entering


@inlined
def set_timer(state: State, number: int) -> None:
    """Let a host know when the first packet of a worker is overdue."""
    jobs = state.jobs
    worker = jobs.workers[number]
    earliest = NEVER
    for shard in range(worker.first_shard, worker.end_shard):
        earliest = min(earliest, jobs.shards[shard].earliest)
    state.members[worker.holder].earliest = earliest
    host = state.hosts[worker.host]
    if earliest < host.timer:
        host.timer = earliest
        if earliest < state.net.due[host.node]:
            state.net.due[host.node] = earliest


@inlined
def take(jobs: Jobs | None, state: State, word: int, load: int, now: int) -> None:
    """Take a result or a call for help that has arrived at a worker, and answer it."""
    if jobs is None:
        return
    number, rest = word & NUMBER_MASK, load & REST_MASK
    edge, slot = word >> STREAM & (MOST_STREAMS - 1), rest & (MOST_SLOTS - 1)
    shard = jobs.workers[jobs.edges[edge].worker].first_shard
    while slot >= jobs.shards[shard].first_slot + jobs.shards[shard].slots:
        shard += 1
    row = jobs.shards[shard]
    row.received += 1
    slot, in_set, before = slot - row.first_slot, rest >> SET & 1, row.earliest
    if rest >> KIND == RESULT:
        chunk = next_chunk(state, shard, slot, in_set, number, now)
        answers = chunk != IDLE
        if answers:
            number = note_sending(state, shard, slot, chunk, now)
            in_set = jobs.pool.sets[row.place + slot]
    else:
        answers = helps(state, shard, slot, in_set, number)
    if answers:
        contribute(state, shard, number, row.first_slot + slot | in_set << SET, now)
    if row.earliest < before:
        set_timer(state, row.worker)


@inlined
def next_chunk(state: State, shard: int, slot: int, in_set: int, number: int, now: int) -> int:
    """Take a result; return the chunk that the slot is to carry now, or IDLE."""
    pool, row = state.jobs.pool, state.jobs.shards[shard]
    timer, place = shard * TIMER_STATE, row.place + slot
    chunk = _worker_result(
        pool.chunk,
        pool.numbers,
        pool.sets,
        pool.kept_chunk,
        pool.kept_number,
        place,
        in_set,
        number,
    )
    if chunk == IDLE:
        row.stale += 1
        if number == pool.kept_number[place]:
            _rto_answered_again(pool.timers, timer, place)
            row.interval = interval_of(state, shard, 0)
        return IDLE
    if pool.timers[timer + TIMED] == place:
        measure(state, shard, place, now)
    row.left -= 1
    row.completed += 1
    if chunk + row.window < row.chunks:
        return int(chunk + row.window)
    pool.deadlines[place] = NEVER
    if row.left == 0:
        shard_done(state, row.worker, now)
    return IDLE


@inlined
def measure(state: State, shard: int, place: int, now: int) -> None:
    """Take the answer to the packet whose round trip is measured."""
    jobs, pool, row = state.jobs, state.jobs.pool, state.jobs.shards[shard]
    timer = shard * TIMER_STATE
    first = pool.timers[timer + SMOOTHED] == 0
    if not _rto_answered(pool.timers, timer, place, now):
        return
    row.interval = interval_of(state, shard, 0)
    if first and jobs.jobs[jobs.workers[row.worker].job].adaptive:
        pool.deadlines[place] = NEVER
        end = row.place + row.slots - 1
        latest = now + row.interval
        row.earliest = _rto_first_sample(pool.tries, pool.deadlines, row.place, end, latest, NEVER)


@inlined
def helps(state: State, shard: int, slot: int, in_set: int, number: int) -> bool:
    """Whether the worker can answer a call for help."""
    pool, row = state.jobs.pool, state.jobs.shards[shard]
    place = row.place + slot
    chunk = _worker_helps(pool.kept_chunk, pool.kept_number, pool.sets, place, in_set, number)
    if chunk == IDLE:
        return False
    row.helps_answered += 1
    return True


@called
def time_out(jobs: Jobs | None, state: State, number: int, now: int) -> None:
    """Send again, shard by shard and in order of slot, every packet whose answer is overdue."""
    if jobs is None:
        return
    worker = jobs.workers[number]
    for shard in range(worker.first_shard, worker.end_shard):
        if jobs.shards[shard].earliest <= now:
            time_out_shard(state, shard, now)
    set_timer(state, number)


@inlined
def time_out_shard(state: State, shard: int, now: int) -> None:
    """Send again what is overdue of one shard."""
    jobs, pool, row = state.jobs, state.jobs.pool, state.jobs.shards[shard]
    guard = jobs.jobs[jobs.workers[row.worker].job].guard
    earliest = NEVER
    for slot in range(row.slots):
        place = row.place + slot
        if pool.deadlines[place] <= now:
            tries = _worker_timeout(pool.tries, pool.timers, shard * TIMER_STATE, place)
            row.timeouts += 1
            row.retransmissions += 1
            row.interval = interval_of(state, shard, 0)
            pool.deadlines[place] = now + interval_of(state, shard, tries)
            rest = slot_rest(state, shard, slot)
            if guard and tries >= TRIES_BEFORE_HELP:
                rest |= 1 << ASKS_HELP
            contribute(state, shard, pool.numbers[place], rest, now)
        earliest = min(earliest, pool.deadlines[place])
    row.earliest = earliest
