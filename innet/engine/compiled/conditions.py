"""Which plans the compiled engine simulates, as a plan alone can say."""

from innet.engine.compiled.messages.conditions import network_refusal, operation_refusal
from innet.engine.compiled.state import MOST_PORTS, MOST_SLOTS
from innet.engine.conditions import of_network, of_slots, of_values
from innet.plan.operation import operation_of
from innet.plan.plan import Aggregation, Plan

ENGINE = "compiled"
_MOST_PS = 1 << 60  # times, and their sums, stay within 64 bits


def refusal(plan: Plan) -> str | None:
    """Return why a plan cannot be run, or None."""
    if plan.aggregation is None:
        return network_refusal(plan) or operation_refusal(plan, operation_of(plan))
    if not is_star(plan):
        on_network = network_refusal(plan) or operation_refusal(plan, operation_of(plan))
        return of_values(plan) or on_network
    return (
        _of_values(plan, plan.aggregation)
        or _of_faults(plan)
        or _of_hosts(plan, plan.aggregation)
        or _of_sizes(plan, plan.aggregation)
    )


def is_star(plan: Plan) -> bool:
    """Whether an in-network plan is for a star, which has a kernel of its own."""
    return plan.aggregation is not None and of_network(plan, plan.aggregation) is None


def _of_values(plan: Plan, format_: Aggregation) -> str | None:
    if plan.carry_payload and not format_.guard:
        return "values travel without the guard, and may be summed wrongly (check: never)"
    return None


def _of_faults(plan: Plan) -> str | None:
    if plan.node_faults:
        return f"a node meets the fault {plan.node_faults[0].verb}"
    return None


def _of_hosts(plan: Plan, format_: Aggregation) -> str | None:
    return of_slots(plan, format_)


def _of_sizes(plan: Plan, format_: Aggregation) -> str | None:
    if format_.slots > MOST_SLOTS or plan.workers > MOST_PORTS:
        return f"more than {MOST_SLOTS} slots or {MOST_PORTS} workers"
    if min(plan.rto.initial_ps, plan.rto.maximum_ps) < 1:
        return "a retransmission timeout of 0, with which time stands still"
    if plan.patience_ps + plan.maximum_time_ps > _MOST_PS:
        return "its times do not fit in 64 bits"
    return None
