"""A loss-free in-network all-reduce on a star, to the reference engine's picosecond."""

from collections.abc import Callable

from innet.engine.recurrence.conditions import ENGINE, refusal
from innet.engine.recurrence.records import trace_of
from innet.engine.recurrence.repeats import Rounds
from innet.engine.recurrence.star import links_of, shards_of, star_of
from innet.engine.recurrence.timeouts import LeastTimeout, MeasuredTimeouts
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
    star = star_of(plan, plan.aggregation)
    shards = shards_of(plan, plan.aggregation)
    rounds = Rounds(plan, star, shards, LeastTimeout(plan.rto))
    if not rounds.run(progress, take_repeats_at_once):
        measured = MeasuredTimeouts(plan.rto, star.classes, len(shards.windows))
        rounds = Rounds(plan, star, shards, measured)
        if not rounds.run(progress, take_repeats_at_once):
            raise RefusedError(ENGINE, "a packet waits longer than its retransmission timeout")
    _refuse_full_queues(plan, plan.aggregation, rounds)
    return trace_of(plan, plan.aggregation, rounds)


def _refuse_full_queues(plan: Plan, format_: Aggregation, rounds: Rounds) -> None:
    """A packet that waits finds as many before it, one being sent, as its wait has packet times."""
    star = rounds.star
    for rank, class_ in enumerate(star.class_of):
        waits = (
            (rounds.up_queued[class_], star.up_ps[class_]),
            (rounds.down_queued[class_], star.down_ps[class_]),
        )
        for index, (queued_ps, packet_ps) in zip(links_of(plan, rank), waits, strict=True):
            limit = plan.graph.links[index].queue_bytes
            waiting = -(-int(queued_ps) // int(packet_ps))
            if limit is not None and waiting * format_.packet_bytes > limit:
                raise RefusedError(ENGINE, f"the queue of link {index} overflows")
