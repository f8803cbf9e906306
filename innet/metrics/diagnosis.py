"""What limited a run, by rules over its plan and trace, and what would help.

Each burden costs the difference between two estimates (`estimate.py`): the run with it and
without it; the window and the hosts at most the time for which the trace saw links idle before a
full window, or cores at work. Loss recovery costs what the trace took beyond the loss-free
estimate, if anything was sent again; it is called queue when the queues dropped more packets
than the links lost. The largest cost wins when it is at least 5 % of the run; if none is, the run
is limited by the link, or by latency when packets crossing the network take longer than the data
on the links.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from innet.metrics import advice
from innet.metrics.estimate import Burden, aggregation_ps, plan_without
from innet.metrics.message_estimate import ScheduleEstimate
from innet.metrics.traffic import (
    cpu_busy_ps,
    finish_time_ps,
    packets_dropped,
    retransmissions,
    window_stalled_ps,
)
from innet.plan.plan import Plan
from innet.trace.records import Trace

Limit = Literal["link", "window", "host", "loss recovery", "straggler", "queue", "latency"]

# A burden below this share of the run is not worth naming: removing it would hardly show.
NOTICEABLE = 0.05


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What limited a run; `because` and `help` are sentences with numbers for people."""

    limited_by: Limit
    because: str
    help: str


def diagnose(plan: Plan, trace: Trace) -> Diagnosis:
    """Return what limited a finished run."""
    costs = burden_costs_ps(plan, trace)
    limit = limiting(finish_time_ps(plan, trace), costs)
    because, helps = advice.sentences(limit, plan, trace, costs.get(limit, 0))
    return Diagnosis(limit, because, helps)


def limiting(time_ps: int, costs_ps: dict[Limit, int]) -> Limit:
    """Return what limited a run of `time_ps`, given what each burden costs."""
    removable = {limit: cost for limit, cost in costs_ps.items() if limit != "latency"}
    worst = max(removable, key=lambda limit: removable[limit], default=None)
    if worst is not None and removable[worst] > NOTICEABLE * time_ps:
        return worst
    return "latency" if 2 * costs_ps.get("latency", 0) >= time_ps else "link"


def burden_costs_ps(plan: Plan, trace: Trace) -> dict[Limit, int]:
    """Return what each burden costs the run, in ps; only `latency` is never removable."""
    loss_free_ps = loss_free_estimate(plan)
    whole = loss_free_ps(None)

    def cost_ps(burden: Burden) -> int:
        # Most runs lack most burdens, and an estimate of a long schedule takes a while.
        absent = burden in _OF_MEMBERS and plan_without(plan, burden) == plan
        return 0 if absent else whole - loss_free_ps(burden)

    stalled, busy = window_stalled_ps(trace), cpu_busy_ps(trace)
    late_or_slow = max(cost_ps(Burden.LATE_START), cost_ps(Burden.SLOW_MEMBER))
    costs: dict[Limit, int] = {
        "straggler": _pauses_ps(plan) + late_or_slow,
        "window": min(cost_ps(Burden.WINDOW), stalled) if stalled else 0,
        "host": min(cost_ps(Burden.HOST), busy) if busy else 0,
        "latency": cost_ps(Burden.LATENCY),
    }
    if retransmissions(trace):
        recovery = finish_time_ps(plan, trace) - whole - _pauses_ps(plan)
        costs[_kind_of_recovery(trace)] = max(0, recovery)
    return costs


def loss_free_estimate(plan: Plan) -> Callable[[Burden | None], int]:
    """Return what tells the loss-free time of a plan without a burden, in ps from time 0."""
    aggregation = plan.aggregation
    if aggregation is not None:
        return lambda without: aggregation_ps(plan, aggregation, without)
    assert plan.schedule is not None
    assert plan.stream is not None
    return ScheduleEstimate(plan, plan.schedule, plan.stream).time_ps


_OF_MEMBERS = (Burden.LATE_START, Burden.SLOW_MEMBER, Burden.HOST)


def _kind_of_recovery(trace: Trace) -> Limit:
    by_queue = sum(record.queue_dropped for record in trace.links)
    return "queue" if 2 * by_queue > packets_dropped(trace) else "loss recovery"


def _pauses_ps(plan: Plan) -> int:
    """Return how long worker faults held the run up, were nothing else to do meanwhile."""
    workers = {host.node for host in plan.hosts[: plan.workers]}
    lost = [
        fault.for_ps if fault.verb == "pause" else fault.at_ps + fault.for_ps
        for fault in plan.node_faults
        if fault.node in workers
    ]
    return max(lost, default=0)
