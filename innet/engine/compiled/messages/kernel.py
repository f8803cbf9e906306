"""Windows of simulated time for hosts that exchange messages and switches that forward, compiled.

See `compiled/kernel.py`. Where a target's readiness lets its source send at the same instant,
the hosts are simulated instant by instant; where packets may arrive at the instant at which
they are sent, all nodes are, packet by packet.
"""

import inspect
import zlib
from collections.abc import Callable
from typing import Any

from innet import draws, units
from innet.collectives import progress
from innet.engine.compiled import jit, switches
from innet.engine.compiled import state as compiled_state
from innet.engine.compiled.jit import inlined, kernel
from innet.engine.compiled.jobs import state as jobs_state
from innet.engine.compiled.jobs import switches as jobs_switches
from innet.engine.compiled.jobs import workers
from innet.engine.compiled.kernel import FULL, MORE, QUIET, REACHED
from innet.engine.compiled.messages import forwards, hosts, lanes, streams
from innet.engine.compiled.messages import state as messages_state
from innet.engine.compiled.messages.forwards import run_switch
from innet.engine.compiled.messages.hosts import BEGINNING, DELIVERY, go_on, run_host
from innet.engine.compiled.messages.state import APART, HOSTS_TOGETHER, TOGETHER, State
from innet.protocol import level_transitions, machine, stream_transitions, transitions, worker
from innet.protocol.machine import NEVER

FOUND = 4  # what run_windows returns when a member has finished

_SOURCES = (
    compiled_state,
    draws,
    forwards,
    hosts,
    jit,
    jobs_state,
    jobs_switches,
    lanes,
    level_transitions,
    machine,
    messages_state,
    progress,
    stream_transitions,
    streams,
    switches,
    transitions,
    units,
    worker,
    workers,
)


def _fingerprint() -> int:
    """A number of the sources that are compiled into the kernel from other modules."""
    text = "".join(inspect.getsource(module) for module in _SOURCES)
    return zlib.crc32(text.encode())


@inlined
def run_window(state: State, until: int) -> int:
    """Handle the events of all nodes before `until`; return their number.

    Returns -1 when there are not enough free packets for the next one.
    """
    order = state.settings.order
    hosts_until = until if order == APART else 0
    switches_until = 0 if order == TOGETHER else until
    kind, most, events = BEGINNING, 1 if order == TOGETHER else NEVER, 0
    while True:
        handled = run_nodes(state, switches_until, hosts_until, kind, most)
        if handled < 0:
            return -1
        events += handled
        if order == APART:
            return events
        now = first_due(state, order == HOSTS_TOGETHER)
        found = state.net.pool[0].finished > 0
        if now < hosts_until:  # what is left of this instant comes later in its order
            kind += 1
            if found and kind >= BEGINNING:
                return events
        elif now < until and not found:
            kind, hosts_until = DELIVERY, now + 1
            switches_until = now + 1 if order == TOGETHER else 0
        else:
            return events


@inlined
def run_nodes(
    state: State, switches_until: int, hosts_until: int, last_kind: int, most: int
) -> int:
    """Let the nodes handle their events, at hosts up to those of a kind; return their number.

    With `most` of 1 each is handled by itself, and the first node that has one comes next.
    Returns -1 when there are not enough free packets for the next one.
    """
    due, pool = state.net.due, state.net.pool[0]
    stops = last_kind == BEGINNING and state.settings.order != APART
    node, events = 0, 0
    while node < len(due):
        handled = 0
        if state.nodes[node].host < 0:
            if due[node] < switches_until:
                handled = run_switch(state, node, switches_until, most)
        elif due[node] < hosts_until:
            handled = run_host(state, node, hosts_until, last_kind, most)
        if handled < 0:
            return -1
        events += handled
        if stops and pool.finished > 0:
            return events
        node = 0 if most == 1 and handled > 0 else node + 1
    return events


@inlined
def first_due(state: State, hosts_alone: bool) -> int:
    """When the next event of all nodes, or of all hosts, is; NEVER if there is none."""
    first = NEVER
    for node in range(len(state.net.due)):
        if not hosts_alone or state.nodes[node].host >= 0:
            first = min(first, state.net.due[node])
    return first


def _build(fingerprint: int) -> Callable[..., Any]:
    """Compile the kernel; Numba's cache knows it by its own source and by the fingerprint."""

    @kernel
    def run_windows(state: State, last: int, events: int) -> int:
        """Handle events up to the instant `last`, some `events` of them in one call.

        Returns FOUND as soon as members have finished, MORE when there are others, REACHED when
        all of them are after `last`, QUIET when there are none, and FULL when more room for
        packets is needed to go on.
        """
        if fingerprint < 0 or not go_on(state):
            return FULL
        while events > 0:
            first = first_due(state, False)
            if first > last:
                return QUIET if first == NEVER else REACHED
            state.net.pool[0].window_ps = first
            lookahead_ps = max(1, state.settings.lookahead_ps)
            handled = run_window(state, min(first + lookahead_ps, last + 1))
            if handled < 0:
                return FULL
            if state.net.pool[0].finished > 0:
                return FOUND
            events -= handled
        return MORE

    built: Callable[..., Any] = run_windows
    return built


run_windows = _build(_fingerprint())
