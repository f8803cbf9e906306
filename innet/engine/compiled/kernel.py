"""Windows of simulated time, compiled.

Whatever a node emits arrives after the *lookahead* at the earliest: the smallest sum of a packet's
medium time and a link's delay. So in a window of that length every node can handle its own
events in its own order, without a heap of all events; the next window begins with the earliest
event that is left. This is conservative parallel simulation (Chandy and Misra, 1979) on one core.
"""

import inspect
import zlib
from collections.abc import Callable
from typing import Any

from innet import draws
from innet.engine.compiled import account, cores, faults, hosts, jit, lines, state, switches
from innet.engine.compiled.jit import inlined, kernel
from innet.engine.compiled.state import State
from innet.plan import link_faults
from innet.protocol import machine, transitions, worker
from innet.protocol.machine import NEVER

MORE, REACHED, QUIET, FULL = range(4)

_SOURCES = (
    account,
    cores,
    draws,
    faults,
    hosts,
    jit,
    lines,
    state,
    switches,
    link_faults,
    machine,
    transitions,
    worker,
)


def _fingerprint() -> int:
    """A number of the sources that are compiled into the kernel from other modules."""
    text = "".join(inspect.getsource(module) for module in _SOURCES)
    return zlib.crc32(text.encode())


@inlined
def run_window(state: State, until: int, most: int) -> int:
    """Handle the events of all nodes before `until`; return their number.

    Nodes that are left when there have been `most` wait for the next call. Returns -1 if a ring is
    full, or the switch may send no more in this slice.
    """
    due = state.net.due
    events = 0
    for node in range(len(due)):
        if due[node] < until and events < most:
            worker = state.worker_of[node]
            if worker < 0:
                handled = switches.run_switch(state.settings, state.net, state.switch, until)
            elif state.hosts.workers[worker].is_busy:
                handled = cores.run_busy_host(
                    state.settings, state.net, state.hosts, state.cores, worker, until
                )
            else:
                handled = hosts.run_host(state.settings, state.net, state.hosts, worker, until)
            if handled < 0:
                return -1
            events += handled
    return events


@inlined
def first_due(state: State) -> int:
    """When the next event of all nodes is, NEVER if there is none."""
    first = NEVER
    for time in state.net.due:
        first = min(first, time)
    return first


def _run_windows(state: State, last: int, events: int) -> int:
    """Handle events up to the instant `last`, some `events` of them in one call.

    Returns MORE when there are others, REACHED when all of them are after `last`, QUIET when there
    are none, and FULL when the rings of links must grow before the next one. MORE comes before
    `events` when the switch has sent what it may in one call, `sends_left` of its counters.
    """
    if not faults.leave_entries(state.net, state.faults):
        return FULL
    while events > 0:
        first = first_due(state)
        if first > last:
            return QUIET if first == NEVER else REACHED
        until = min(first + state.settings.lookahead_ps, last + 1)
        handled = run_window(state, until, events)
        if not faults.leave_entries(state.net, state.faults):
            return FULL
        if handled < 0:
            return FULL if state.switch.counters[0].sends_left > 0 else MORE
        events -= handled
    return MORE


def _build() -> Callable[..., Any]:
    """Compile the kernel, under a name by which Numba keeps it as long as no source changes.

    Numba itself looks at the kernel's own source only, and cannot even read what it has kept if
    a class of the state is gone.
    """
    _run_windows.__qualname__ += f"_{_fingerprint():08x}"
    built: Callable[..., Any] = kernel(_run_windows)
    return built


run_windows = _build()
