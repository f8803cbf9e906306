"""Reliable streams in compiled code: both ends, as `protocol/stream.py` has them, on arrays."""

from innet.engine.compiled.jit import as_it_is, inlined
from innet.engine.compiled.messages.lanes import send, taken
from innet.engine.compiled.messages.state import (
    ACK,
    BYTES,
    GAP,
    MOST_STREAMS,
    NEED,
    NUMBER_MASK,
    REST_MASK,
    STREAM,
    State,
)
from innet.protocol import stream_transitions, transitions
from innet.protocol.machine import NEVER
from innet.protocol.stream_transitions import NOTHING
from innet.protocol.transitions import TIMER_STATE

# Called by the transitions below.
for _called in (
    transitions.rto_answered,
    transitions.rto_back_off,
    transitions.rto_repeated,
    transitions.rto_time,
    stream_transitions.stream_go_back,
    stream_transitions.stream_mark_lost,
    stream_transitions.stream_timeout_selective,
):
    as_it_is(_called)
_rto_interval = as_it_is(transitions.rto_interval)
_stream_next = as_it_is(stream_transitions.stream_next)
_stream_sent = as_it_is(stream_transitions.stream_sent)
_stream_data = as_it_is(stream_transitions.stream_data)
_stream_complains = as_it_is(stream_transitions.stream_complains)
_stream_ack_selective = as_it_is(stream_transitions.stream_ack_selective)
_stream_ack_go_back_n = as_it_is(stream_transitions.stream_ack_go_back_n)
_stream_answered = as_it_is(stream_transitions.stream_answered)
_stream_overdue = as_it_is(stream_transitions.stream_overdue)


@inlined
def begin_next(state: State, queue: int) -> int:
    """Begin with the next message of a queue if none of it is being sent; return its stream."""
    streams, messages = state.streams.rows, state.messages
    message, before = streams.waiting[queue], streams.sending[queue]
    if message < 0 or (before >= 0 and streams.highest[before] < streams.end[before]):
        return -1
    streams.waiting[queue] = messages.next[message]
    stream = messages.stream[message]
    if not streams.is_open[stream]:
        streams.is_open[stream] = 1
        member = state.members[streams.source[stream]]
        streams.opened[member.first_stream + member.opened] = stream
        member.opened += 1
    streams.sending[queue] = stream
    messages.first[message] = streams.end[stream]
    streams.current[stream] = message
    streams.end[stream] += messages.packets[message]
    return int(stream)


@inlined
def hand_over(state: State, message: int) -> int:
    """Put a message at the end of its queue; return the queue."""
    streams = state.streams.rows
    queue = streams.queue[state.messages.stream[message]]
    if streams.waiting[queue] < 0:
        streams.waiting[queue] = message
    else:
        state.messages.next[streams.last[queue]] = message
    streams.last[queue] = message
    return int(queue)


@inlined
def arm(state: State, stream: int, now: int) -> None:
    """Set a stream's timer."""
    streams = state.streams.rows
    member = state.members[streams.source[stream]]
    operation, host = state.operations[member.operation], state.hosts[member.host]
    deadline = now + _rto_interval(
        state.streams.timers,
        stream * TIMER_STATE,
        operation.adaptive,
        operation.initial_ps,
        operation.minimum_ps,
        operation.maximum_ps,
        streams.tries[stream],
    )
    streams.armed_at[stream] = now
    streams.deadlines[stream] = deadline
    if not member.has_timer:
        list_timer(state, streams.source[stream])
    if deadline < member.earliest:
        member.earliest = deadline
        if deadline < host.timer:
            host.timer = deadline
            if deadline < state.net.due[host.node]:
                state.net.due[host.node] = deadline


@inlined
def list_timer(state: State, number: int) -> None:
    """Put a member among those of its host that have timers, in order of operations."""
    members, member = state.members, state.members[number]
    host = state.hosts[member.host]
    member.has_timer = 1
    before, following = -1, host.timed
    while following >= 0 and members[following].number < member.number:
        before, following = following, members[following].next_timed
    member.next_timed = following
    if before < 0:
        host.timed = number
    else:
        members[before].next_timed = number


@inlined
def drop_timer(state: State, number: int) -> None:
    """Take a member away from those of its host that have timers."""
    members, member = state.members, state.members[number]
    host = state.hosts[member.host]
    member.has_timer = 0
    if host.timed == number:
        host.timed = member.next_timed
        return
    before = host.timed
    while members[before].next_timed != number:
        before = members[before].next_timed
    members[before].next_timed = member.next_timed


@inlined
def pump(state: State, stream: int, now: int) -> bool:
    """Send what the window allows: first what is lost, then what is new.

    Returns False when there are not enough free packets for all of it.
    """
    streams, room = state.streams.rows, state.settings.room
    member = state.members[streams.source[stream]]
    window = state.operations[member.operation].window
    while True:
        if state.net.pool[0].count < NEED:
            return False
        known = streams.highest[stream]
        number = _stream_next(
            state.streams.places.state,
            streams.base,
            streams.following,
            streams.highest,
            streams.lost,
            streams.end,
            stream,
            window,
            room,
        )
        if number == NOTHING:
            break
        if streams.deadlines[stream] == NEVER:
            arm(state, stream, now)
        place = stream * room + (number & room - 1)
        again = number < known
        if again:
            member.retransmissions += 1
        else:
            state.streams.places.content[place] = streams.current[stream]
        _stream_sent(
            state.streams.places.sent_at, state.streams.timers, stream, room, number, again, now
        )
        send_data(state, stream, number, state.streams.places.content[place], now)
    if has_unsent(state, streams.source[stream]):
        member.full_since = min(member.full_since, now)
    return True


@inlined
def has_unsent(state: State, number: int) -> bool:
    """Whether a member has something to send for the first time that must wait for a window."""
    streams, member = state.streams.rows, state.members[number]
    if state.operations[member.operation].in_turn:
        stream = streams.sending[member.first_stream]
        return bool(stream >= 0 and streams.highest[stream] < streams.end[stream])
    for place in range(member.first_stream, member.first_stream + member.opened):
        stream = streams.opened[place]
        if streams.highest[stream] < streams.end[stream]:
            return True
    return False


@inlined
def send_data(state: State, stream: int, number: int, message: int, now: int) -> None:
    """Send a packet of a message."""
    streams, messages, net = state.streams.rows, state.messages, state.net
    member = state.members[streams.source[stream]]
    operation = state.operations[member.operation]
    start = (number - messages.first[message]) * operation.payload_bytes
    size = min(operation.payload_bytes, messages.bytes[message] - start)
    link = net.path[streams.way[stream]]
    idle_since = max(net.links[link].free_at, member.full_since)
    if idle_since < now:
        member.stalled_ps += now - idle_since
    member.full_since = NEVER
    member.sent += 1
    packet = taken(net)
    net.packets[packet].word = number | stream << STREAM
    net.packets[packet].load = (size + operation.overhead_bytes) << BYTES | message
    if send(net, link, packet, now):
        operation.under_way += 1


@inlined
def take_data(state: State, word: int, load: int, now: int) -> int:
    """Take a data packet and acknowledge it; return the message that it completes, or -1."""
    streams, messages, net = state.streams.rows, state.messages, state.net
    number, stream = word & NUMBER_MASK, word >> STREAM & (MOST_STREAMS - 1)
    member = state.members[streams.target[stream]]
    operation = state.operations[member.operation]
    gap = number > streams.expected[stream]
    kept = _stream_data(
        state.streams.places.received,
        streams.expected,
        stream,
        operation.window,
        state.settings.room,
        number,
        operation.go_back_n,
    )
    answer = number | stream << STREAM | 1 << ACK
    if operation.go_back_n and _stream_complains(streams.complained, stream, gap, kept):
        answer |= 1 << GAP
    member.received += 1
    member.sent += 1
    packet = taken(net)
    net.packets[packet].word = answer
    net.packets[packet].load = operation.ack_bytes << BYTES | streams.expected[stream]
    # This packet is no longer under way, but its acknowledgement is.
    if not send(net, net.path[streams.way_back[stream]], packet, now):
        operation.under_way -= 1
    if not kept:
        return -1
    message = load & REST_MASK
    messages.missing[message] -= 1
    return int(message) if messages.missing[message] == 0 else -1


@inlined
def take_ack(state: State, word: int, load: int, now: int) -> bool:
    """Take an acknowledgement; return whether its stream may send something now."""
    streams, room = state.streams.rows, state.settings.room
    number, stream = word & NUMBER_MASK, word >> STREAM & (MOST_STREAMS - 1)
    gap = (word >> GAP & 1) == 1
    member = state.members[streams.source[stream]]
    operation = state.operations[member.operation]
    member.received += 1
    operation.under_way -= 1
    if operation.go_back_n:
        news = _stream_ack_go_back_n(
            state.streams.places.state,
            streams.base,
            streams.following,
            stream,
            room,
            load & REST_MASK,
            gap,
        )
    else:
        news = _stream_ack_selective(
            state.streams.places.state,
            streams.base,
            streams.following,
            streams.lost,
            state.streams.places.repeated,
            stream,
            room,
            number,
        )
    if not news:
        member.stale += 1
        return gap
    _stream_answered(state.streams.timers, streams.base, streams.tries, stream, number, now)
    if streams.base[stream] == streams.following[stream]:
        streams.deadlines[stream] = NEVER
    else:
        arm(state, stream, now)
    return True


@inlined
def overdue(state: State, stream: int, now: int) -> None:
    """Mark as lost what a stream waits for in vain, and set its timer again."""
    streams = state.streams.rows
    member = state.members[streams.source[stream]]
    member.timeouts += 1
    _stream_overdue(
        state.streams.places.state,
        state.streams.places.sent_at,
        streams.base,
        streams.following,
        streams.lost,
        state.streams.places.repeated,
        streams.tries,
        state.streams.timers,
        stream,
        state.settings.room,
        streams.armed_at[stream],
        state.operations[member.operation].go_back_n,
    )
    arm(state, stream, now)
