"""A loss-free all-reduce, in the network or by a ring, to the reference engine's picosecond."""

from collections.abc import Callable
from importlib.util import find_spec

from innet.engine.progress import Report
from innet.engine.recurrence.conditions import ENGINE, refusal
from innet.engine.recurrence.records import crossed_links, trace_of
from innet.engine.recurrence.repeats import Rounds
from innet.engine.recurrence.ring import Ring, RingRun
from innet.engine.recurrence.ring_records import refuse_full_ring, trace_of_ring
from innet.engine.recurrence.shards import shards_of
from innet.engine.recurrence.timeouts import (
    LeastTimeout,
    MeasuredTimeouts,
    least_interval_ps,
)
from innet.engine.recurrence.tree import tree_of
from innet.engine.refused import RefusedError
from innet.plan.plan import Aggregation, Plan
from innet.trace.records import Trace

Note = Callable[[str], None]

# Below so many packets over a link that are computed, NumPy is done before Numba is loaded.
_HOPS_WORTH_COMPILING = 30_000_000
_TIMEOUT = "a packet waits longer than its retransmission timeout"


def run_recurrence(
    plan: Plan,
    progress: Report | None = None,
    take_repeats_at_once: bool = True,
    note: Note | None = None,
) -> Trace:
    """Run a plan without values; RefusedError where this would not be exact.

    `note` is told when something must be compiled.
    """
    if plan.aggregation is None:
        return trace_of_ring(run_ring(plan, progress, note))
    why = refusal(plan)
    if why is not None:
        raise RefusedError(ENGINE, why)
    return _run_tree(plan, plan.aggregation, progress, take_repeats_at_once)


def _run_tree(
    plan: Plan, format_: Aggregation, progress: Report | None, take_repeats_at_once: bool
) -> Trace:
    tree, shards = tree_of(plan, format_), shards_of(plan, format_)
    rounds = Rounds(plan, tree, shards, LeastTimeout(plan.rto))
    if not rounds.run(progress, take_repeats_at_once):
        measured = MeasuredTimeouts(plan.rto, tree.classes, len(shards.windows))
        rounds = Rounds(plan, tree, shards, measured)
        if not rounds.run(progress, take_repeats_at_once):
            raise RefusedError(ENGINE, _TIMEOUT)
    _refuse_full_queues(plan, format_, rounds)
    return trace_of(plan, format_, rounds)


def _refuse_full_queues(plan: Plan, format_: Aggregation, rounds: Rounds) -> None:
    """A packet that waits finds as many before it, one being sent, as its wait has packet times."""
    for index, packet_ps, queued_ps in crossed_links(rounds):
        limit = plan.graph.links[index].queue_bytes
        waiting = -(-queued_ps // packet_ps)
        if limit is not None and waiting * format_.packet_bytes > limit:
            raise RefusedError(ENGINE, f"the queue of link {index} overflows")


def run_ring(
    plan: Plan,
    progress: Report | None = None,
    note: Note | None = None,
    compiled: bool | None = None,
) -> RingRun:
    """Run a ring to its end; RefusedError where this would not be exact.

    `compiled` says whether by Numba or by NumPy, None: whichever is done first. `note` is told
    when something must be compiled.
    """
    why = refusal(plan)
    if why is not None:
        raise RefusedError(ENGINE, why)
    assert plan.stream is not None
    assert plan.schedule is not None
    ring = Ring(plan, plan.stream, plan.schedule)
    if compiled is None:
        compiled = ring.computed_hops >= _HOPS_WORTH_COMPILING and find_spec("numba") is not None
    run = _compiled(ring, progress, note) if compiled else _interpreted(ring, progress)
    if int(run.received.max()) > plan.maximum_time_ps:
        raise RefusedError(ENGINE, "the run is longer than its simulated time limit")
    if run.longest_wait_ps > least_interval_ps(plan.rto):
        raise RefusedError(ENGINE, _TIMEOUT)
    refuse_full_ring(run)
    return run


def _interpreted(ring: Ring, progress: Report | None) -> RingRun:
    run = RingRun(ring)
    run.run(progress)
    return run


def _compiled(ring: Ring, progress: Report | None, note: Note | None) -> RingRun:
    # Numba is loaded only when it is needed.
    from innet.engine.compiled.jit import announced
    from innet.engine.recurrence.compiled_ring import CompiledRingRun

    run = CompiledRingRun(ring)
    with announced(note):
        run.run(progress)
    return run
