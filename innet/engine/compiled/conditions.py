"""Which plans the compiled engine simulates, as a plan alone can say."""

from innet.engine.compiled.state import MOST_PORTS, MOST_SLOTS
from innet.plan.plan import Aggregation, Plan

ENGINE = "compiled"
_MOST_PS = 1 << 60  # times, and their sums, stay within 64 bits


def refusal(plan: Plan) -> str | None:
    """Return why a plan cannot be run, or None."""
    if plan.aggregation is None:
        return f"{plan.algorithm} is point to point; only in_network is supported"
    return (
        _of_values(plan)
        or _of_faults(plan)
        or _of_network(plan, plan.aggregation)
        or _of_hosts(plan, plan.aggregation)
        or _of_sizes(plan, plan.aggregation)
    )


def _of_values(plan: Plan) -> str | None:
    return "values travel; only timing is supported (check: never)" if plan.carry_payload else None


def _of_faults(plan: Plan) -> str | None:
    if plan.node_faults:
        return f"a node meets the fault {plan.node_faults[0].verb}"
    if plan.packet_faults:
        return f"packets meet the fault {plan.packet_faults[0].verb}"
    if any(link.loss >= 1 for link in plan.graph.links):
        return "a link loses every packet"
    return None


def _of_network(plan: Plan, format_: Aggregation) -> str | None:
    graph, switch = plan.graph, format_.switch
    for rank, host in enumerate(plan.hosts):
        out, into = graph.links_out[host.node], graph.links_into[host.node]
        if len(out) != 1 or len(into) != 1:
            return f"the host of rank {rank} has several links"
        if graph.links[out[0]].target != switch or graph.links[into[0]].source != switch:
            return f"the host of rank {rank} is not at the switch that aggregates"
    if len(graph.links) != 2 * plan.workers or len(plan.hosts) != plan.workers:
        return "the network has other links than those of the workers"
    return None


def _of_hosts(plan: Plan, format_: Aggregation) -> str | None:
    if any(host.send_ps or host.receive_ps for host in plan.hosts):
        return "packets cost time on the hosts"
    return "a core has no slot" if plan.hosts[0].cores > format_.slots else None


def _of_sizes(plan: Plan, format_: Aggregation) -> str | None:
    if format_.slots > MOST_SLOTS or plan.workers > MOST_PORTS:
        return f"more than {MOST_SLOTS} slots or {MOST_PORTS} workers"
    if plan.rto.initial_ps < 1 or plan.rto.minimum_ps < 1:
        return "a retransmission timeout of 0"
    if plan.patience_ps + plan.maximum_time_ps > _MOST_PS:
        return "its times do not fit in 64 bits"
    return None
