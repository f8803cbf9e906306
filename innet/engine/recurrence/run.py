"""A loss-free in-network all-reduce, to the reference engine's picosecond."""

from collections.abc import Callable

from innet.engine.recurrence.conditions import ENGINE, refusal
from innet.engine.recurrence.records import crossed_links, trace_of
from innet.engine.recurrence.repeats import Rounds
from innet.engine.recurrence.shards import shards_of
from innet.engine.recurrence.timeouts import LeastTimeout, MeasuredTimeouts
from innet.engine.recurrence.tree import tree_of
from innet.engine.refused import RefusedError
from innet.plan.plan import Aggregation, Plan
from innet.trace.records import Trace

Report = Callable[[float], None]


def run_recurrence(
    plan: Plan, progress: Report | None = None, take_repeats_at_once: bool = True
) -> Trace:
    """Run a plan without values; RefusedError where this would not be exact."""
    why = refusal(plan)
    if why is not None:
        raise RefusedError(ENGINE, why)
    assert plan.aggregation is not None
    tree = tree_of(plan, plan.aggregation)
    shards = shards_of(plan, plan.aggregation)
    rounds = Rounds(plan, tree, shards, LeastTimeout(plan.rto))
    if not rounds.run(progress, take_repeats_at_once):
        measured = MeasuredTimeouts(plan.rto, tree.classes, len(shards.windows))
        rounds = Rounds(plan, tree, shards, measured)
        if not rounds.run(progress, take_repeats_at_once):
            raise RefusedError(ENGINE, "a packet waits longer than its retransmission timeout")
    _refuse_full_queues(plan, plan.aggregation, rounds)
    return trace_of(plan, plan.aggregation, rounds)


def _refuse_full_queues(plan: Plan, format_: Aggregation, rounds: Rounds) -> None:
    """A packet that waits finds as many before it, one being sent, as its wait has packet times."""
    for index, packet_ps, queued_ps in crossed_links(rounds):
        limit = plan.graph.links[index].queue_bytes
        waiting = -(-queued_ps // packet_ps)
        if limit is not None and waiting * format_.packet_bytes > limit:
            raise RefusedError(ENGINE, f"the queue of link {index} overflows")
