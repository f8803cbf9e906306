"""A host in compiled code: its members' streams, schedules, timers and beginnings.

Whatever happens at a host ends with streams that may send: `begin_event` returns the first of
them and `next_stream` the others, so that what sends stands in one place.
"""

from innet.collectives import progress
from innet.collectives.progress import NOTHING, SEND
from innet.engine.compiled.jit import as_it_is, inlined
from innet.engine.compiled.jobs import workers
from innet.engine.compiled.messages.lanes import pop, release
from innet.engine.compiled.messages.state import (
    ACK,
    AGGREGATED,
    MOST_STREAMS,
    STREAM,
    State,
)
from innet.engine.compiled.messages.streams import (
    begin_next,
    drop_timer,
    hand_over,
    overdue,
    pump,
    take_ack,
    take_data,
)
from innet.protocol.machine import NEVER

# Called by the functions below.
for _called in (
    progress.push,
    progress.push_users,
    progress.push_own,
    progress.release,
    progress.become_ready,
    progress.may_send,
    progress.may_apply,
    progress.note_sent,
    progress.note_applied,
):
    as_it_is(_called)
_member_wakes = as_it_is(progress.member_wakes)
_message_arrives = as_it_is(progress.message_arrives)
_next_action = as_it_is(progress.next_action)

# What happens at one instant, in this order.
DELIVERY, TIMER, BEGINNING = range(3)


@inlined
def run_host(state: State, node: int, until: int, last_kind: int, most: int) -> int:
    """Handle a host's events before `until` in order, `most` of them, up to those of a kind.

    Returns their number, or -1 when there are not enough free packets for the next one.
    """
    net, host = state.net, state.hosts[state.nodes[node].host]
    first, end = state.nodes[node].first_lane, state.nodes[node].end_lane
    handled = 0
    while True:
        now, lane = NEVER, first
        for other in range(first, end):
            if net.lanes[other].arrival < now:
                now, lane = net.lanes[other].arrival, other
        kind = DELIVERY
        if host.timer < now:
            now, kind = host.timer, TIMER
        if host.begin >= 0 and state.members[host.begin].start_ps < now:
            now, kind = state.members[host.begin].start_ps, BEGINNING
        net.due[node] = now
        if now >= until or kind > last_kind or handled >= most:
            return handled
        if now > host.stopped_at or (now == host.stopped_at and kind == BEGINNING):
            return handled
        if net.pool[0].count < state.settings.need:
            return -1
        handled += 1
        host.reached = now
        stream = begin_event(state, state.nodes[node].host, lane, kind, now)
        if not end_event(state, stream, kind, now):
            return -1


@inlined
def end_event(state: State, stream: int, kind: int, now: int) -> bool:
    """Send what streams may, from `stream` on; return whether there were packets for all of it."""
    while stream >= 0:
        if not pump(state, stream, now):
            state.work[0].broken_off = stream
            state.work[0].kind = kind
            state.work[0].now = now
            return False
        source = state.streams.rows.source[stream]
        if state.operations[state.members[source].operation].ends_sent:
            note_finish(state, source, now)
        stream = next_stream(state, stream, kind, now)
    return True


@inlined
def go_on(state: State) -> bool:
    """Finish the event that was broken off; return whether there were packets for all of it."""
    work = state.work[0]
    stream = work.broken_off
    if stream < 0:
        return True
    work.broken_off = -1
    return end_event(state, stream, work.kind, work.now)


@inlined
def begin_event(state: State, number: int, lane: int, kind: int, now: int) -> int:
    """Do what happens at a host; return the first stream that may send something, or -1."""
    host, work = state.hosts[number], state.work[0]
    work.follows = 0
    if kind == DELIVERY:
        net = state.net
        packet = pop(net, lane)
        word, load = net.packets[packet].word, net.packets[packet].load
        release(net, packet)
        if word >> AGGREGATED:
            workers.take(state.jobs, state, word, load, now)
            return -1
        if word >> ACK:
            work.follows = 1
            return word >> STREAM & (MOST_STREAMS - 1) if take_ack(state, word, load, now) else -1
        message = take_data(state, word, load, now)
        if message < 0:
            return -1
        _message_arrives(state.steps, message)
    elif kind == TIMER:
        begin_timeout(state, number, now)
    else:
        entering = host.begin
        host.begin = state.members[entering].next_to_begin
        wake(state, entering, now)
    return next_of_work(state, kind, now)


@inlined
def next_stream(state: State, stream: int, kind: int, now: int) -> int:
    """Return the next stream that may send something, after one that has, or -1."""
    if state.work[0].follows:
        following = begin_next(state, state.streams.rows.queue[stream])
        if following >= 0:
            return following
    return next_of_work(state, kind, now)


@inlined
def next_of_work(state: State, kind: int, now: int) -> int:
    """Return the next stream of a timeout, or of what schedules have to do, or -1."""
    if kind == TIMER:
        return next_overdue(state, now)
    state.work[0].follows = 1
    while True:
        action = _next_action(state.steps)
        if action == NOTHING:
            return -1
        message = action // 2
        if action % 2 == SEND:
            stream = begin_next(state, hand_over(state, message))
            note_finish(state, state.steps.messages.source[message], now)
            if stream >= 0:
                return stream
        else:
            note_finish(state, state.steps.messages.target[message], now)


@inlined
def note_finish(state: State, number: int, now: int) -> None:
    """Note when a member that is awake has nothing more to send or to apply."""
    member, pool = state.members[number], state.net.pool[0]
    if state.steps.members.left[number] != 0 or member.finish >= 0:
        return
    if state.operations[member.operation].ends_sent and is_sending(state, number):
        return
    member.finish = now
    state.hosts[member.host].stopped_at = now
    state.finished[pool.finished] = number
    pool.finished += 1


@inlined
def is_sending(state: State, number: int) -> bool:
    """Whether a member has packets that were never sent, of messages begun or not."""
    streams = state.streams.rows
    for stream in range(state.members[number].first_stream, state.members[number].end_stream):
        if streams.waiting[stream] >= 0 or streams.highest[stream] < streams.end[stream]:
            return True
    return False


@inlined
def wake(state: State, number: int, now: int) -> None:
    """Let a member begin."""
    if state.members[number].worker >= 0:
        workers.enter(state.jobs, state, number, now)
        return
    _member_wakes(state.steps, number)
    note_finish(state, number, now)


@inlined
def begin_timeout(state: State, number: int, now: int) -> None:
    """Find the first member of a host that has something overdue."""
    host, work = state.hosts[number], state.work[0]
    earliest, found, member = NEVER, -1, host.timed
    while member >= 0:
        if state.members[member].earliest <= now and found < 0:
            found = member
        else:
            earliest = min(earliest, state.members[member].earliest)
        member = state.members[member].next_timed
    host.timer = earliest
    work.member, work.place = found, 0
    if found >= 0 and state.members[found].worker >= 0:
        work.member = -1
        workers.time_out(state.jobs, state, state.members[found].worker, now)
    elif found >= 0:
        state.members[found].earliest = NEVER


@inlined
def next_overdue(state: State, now: int) -> int:
    """Return the member's next stream, in order of opening, that is overdue, or -1."""
    work, streams = state.work[0], state.streams.rows
    if work.member < 0:
        return -1
    member = state.members[work.member]
    while work.place < member.opened:
        stream = streams.opened[member.first_stream + work.place]
        work.place += 1
        deadline = streams.deadlines[stream]
        if deadline <= now:
            overdue(state, stream, now)
            return int(stream)
        member.earliest = min(member.earliest, deadline)
    if member.earliest == NEVER:
        drop_timer(state, work.member)
    state.hosts[member.host].timer = min(state.hosts[member.host].timer, member.earliest)
    return -1
