"""Switches that sum for jobs in compiled code, at any level of a tree, on arrays."""

from typing import Any

from innet.engine.compiled.jit import as_it_is, called, inlined
from innet.engine.compiled.jobs.state import (
    ASKS_HELP,
    HELP,
    KIND,
    MOST_SLOTS,
    RESULT,
    SET,
    UPDATE,
    Jobs,
)
from innet.engine.compiled.jobs.workers import send_on_edge
from innet.engine.compiled.messages.lanes import release
from innet.engine.compiled.messages.state import (
    ACK,
    BYTES,
    HOPS,
    MOST_HOPS,
    MOST_STREAMS,
    NUMBER_MASK,
    REST_MASK,
    STREAM,
    State,
)
from innet.protocol import level_transitions, transitions
from innet.protocol.level_transitions import SEND_UP_AGAIN
from innet.protocol.transitions import CALL_HELP, COMPLETE, REPEAT, STALE, UNICAST

# Called by the functions below.
as_it_is(transitions.is_newer)
as_it_is(transitions.switch_calls)
as_it_is(transitions.switch_forgets_asks)
_switch_receive = as_it_is(transitions.switch_receive)
_lower_receive = as_it_is(level_transitions.lower_receive)
_lower_result = as_it_is(level_transitions.lower_result)
_lower_help = as_it_is(level_transitions.lower_help)

Row = Any  # one row of records, by attribute

_PLACE = (1 << ASKS_HELP) - 1  # of a packet's rest: its slot and set
_PASS_DOWN = 1 << 20  # a flag beside the protocol's: the result from above goes to the children


@inlined
def onward(jobs: Jobs | None, state: State, packet: int, now: int) -> int:
    """Return where in Net.path the next link of a job's packet is; -1 if a switch has taken it."""
    if jobs is None:
        return -1
    word, load = state.net.packets[packet].word, state.net.packets[packet].load
    edge, hops = jobs.edges[word >> STREAM & (MOST_STREAMS - 1)], word >> HOPS & (MOST_HOPS - 1)
    down = word >> ACK & 1 == 1
    if hops < (edge.hops_back if down else edge.hops):
        return int((edge.way_back if down else edge.way) + hops)
    release(state.net, packet)
    answer(jobs, state, word, load, now)
    return -1


@called
def answer(jobs: Jobs, state: State, word: int, load: int, now: int) -> None:
    """Take a packet that has come to the end of its edge at a switch, and answer it."""
    rest = load & REST_MASK
    edge = jobs.edges[word >> STREAM & (MOST_STREAMS - 1)]
    from_above = word >> ACK & 1 == 1
    switch = jobs.switches[edge.below if from_above else edge.above]
    flags = decide(state, switch, edge.child, from_above, word & NUMBER_MASK, rest)
    count(switch, flags)
    job = jobs.jobs[switch.job]
    first, end, size = switch.first_edge, switch.end_edge, job.packet_bytes
    down, told = 1, rest & _PLACE | RESULT << KIND
    if flags & SEND_UP_AGAIN or (flags & COMPLETE and switch.up >= 0):
        first, end, down = switch.up, switch.up + 1, 0
        told = rest & ((1 << KIND) - 1) | UPDATE << KIND
        if flags & SEND_UP_AGAIN:
            told = rest & _PLACE | UPDATE << KIND | (flags & CALL_HELP != 0) << ASKS_HELP
    elif flags & UNICAST:
        first += edge.child
        end = first + 1
    elif flags & CALL_HELP:
        size, told = job.help_bytes, rest & _PLACE | HELP << KIND
    elif not flags & (COMPLETE | _PASS_DOWN):
        return
    number, leaves = word & NUMBER_MASK, now + state.nodes[switch.node].latency_ps
    for out in range(first, end):
        way = jobs.edges[out].way_back if down else jobs.edges[out].way
        send_on_edge(
            state, out, state.net.path[way], number | down << ACK, size << BYTES | told, leaves
        )


@inlined
def decide(state: State, switch: Row, child: int, from_above: bool, number: int, rest: int) -> int:
    """Have the protocol decide about a packet; return its flags."""
    registers, job = state.jobs.registers, state.jobs.jobs[switch.job]
    slot, in_set = rest & (MOST_SLOTS - 1), rest >> SET & 1
    here = switch.first_set + in_set * job.slots + slot
    children = switch.end_edge - switch.first_edge
    words = state.settings.words
    if not from_above:
        other = switch.first_set + (1 - in_set) * job.slots + slot
        asks_help = (rest >> ASKS_HELP & 1) == 1
        if switch.up < 0:
            flags = _switch_receive(
                registers.bitmap,
                registers.counts,
                registers.numbers,
                registers.asked,
                children,
                words,
                here,
                other,
                child,
                number,
                job.guard,
                asks_help,
            )
        else:
            flags = _lower_receive(
                registers.bitmap,
                registers.counts,
                registers.numbers,
                registers.asked,
                children,
                words,
                here,
                other,
                child,
                number,
                job.guard,
                asks_help,
            )
        return int(flags)
    if rest >> KIND == RESULT:
        kept = _lower_result(registers.counts, registers.numbers, children, here, number, job.guard)
        return _PASS_DOWN if kept else STALE
    flags = _lower_help(
        registers.bitmap, registers.counts, registers.numbers, children, words, here, number
    )
    return int(flags)


@inlined
def count(switch: Row, flags: int) -> None:
    """Count what the flags say."""
    switch.completed += flags & COMPLETE != 0
    switch.unicasts += flags & UNICAST != 0
    switch.helps_sent += flags & (CALL_HELP | SEND_UP_AGAIN) == CALL_HELP
    switch.repeats_dropped += flags & REPEAT != 0
    switch.stale_dropped += flags & STALE != 0
