"""What the fast engines ask of a plan alike: timing only, in the network, on one star."""

from innet.plan.plan import Aggregation, Plan


def point_to_point(plan: Plan) -> str:
    """Say why a plan without aggregation is refused."""
    return f"{plan.algorithm} is point to point; only in_network is supported"


def of_values(plan: Plan) -> str | None:
    """Return why the plan's values are in the way, or None."""
    return "values travel; only timing is supported (check: never)" if plan.carry_payload else None


def of_network(plan: Plan, format_: Aggregation) -> str | None:
    """Return why the network is no star of one link a worker around its switch, or None."""
    if len(format_.tree) > 1:
        return "several switches aggregate"
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


def of_slots(plan: Plan, format_: Aggregation) -> str | None:
    """Return why the pool cannot be split over the cores, or None."""
    return "a core has no slot" if plan.hosts[0].cores > format_.slots else None
