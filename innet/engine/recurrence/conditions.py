"""For which plans the recurrence is exact, as far as a plan alone can say."""

from collections import Counter

from innet.engine.conditions import of_slots, of_values
from innet.plan.plan import Aggregation, Plan
from innet.plan.ways import tree_loads
from innet.units import serialisation_ps

ENGINE = "recurrence"
_MOST_PS = 1 << 61  # times stay within 64 bits
_TOO_LONG = "its times do not fit in 64 bits"


def refusal(plan: Plan) -> str | None:
    """Return why a plan cannot be run, or None; some runs are only refused on their way."""
    if plan.aggregation is None:
        return of_values(plan) or _of_faults(plan) or _of_ring(plan) or _of_patience(plan)
    return (
        of_values(plan)
        or _of_faults(plan)
        or _of_network(plan, plan.aggregation)
        or _of_hosts(plan, plan.aggregation)
        or _of_patience(plan)
        or _of_times(plan, plan.aggregation)
    )


def _of_faults(plan: Plan) -> str | None:
    if plan.packet_faults or plan.node_faults:
        return "the scenario has faults"
    for index, link in enumerate(plan.graph.links):
        if link.loss > 0:
            return f"link {index} loses packets"
    return None


def _of_network(plan: Plan, format_: Aggregation) -> str | None:
    """Every link must carry one stream of packets, in order."""
    if len(plan.hosts) != plan.workers:
        return "some ranks only help"
    loads = tree_loads(plan.graph, plan.routes, format_.tree)
    shared = [link for link, edges in loads.items() if edges > 1]
    if shared:
        return f"link {min(shared)} carries the packets of several members of the tree"
    return None


def _of_hosts(plan: Plan, format_: Aggregation) -> str | None:
    cores = plan.hosts[0].cores
    if any(host.cores != cores for host in plan.hosts):
        return "the workers have different numbers of cores"
    if cores > 1 and any(host.send_ps or host.receive_ps for host in plan.hosts):
        return "packets cost time on several cores, which may change their order"
    return of_slots(plan, format_)


def _of_ring(plan: Plan) -> str | None:
    """Every rank must send to one other over links that no other rank's data takes."""
    schedule, stream = plan.schedule, plan.stream
    assert schedule is not None
    assert stream is not None
    if schedule.algorithm != "ring":
        return f"{plan.algorithm} is no ring; only in_network and ring are supported"
    if schedule.blocks < plan.workers or plan.workers == 1:
        return "the vector has fewer elements than there are ranks, or one rank is alone"
    if stream.ack_bytes:
        return "acknowledgements take time on the links of other ranks' data"
    if any(host.send_ps or host.receive_ps for host in plan.hosts):
        return "packets cost time on the hosts"
    targets = (message.target for message in schedule.messages[: plan.workers])
    ways = (plan.routes.path(rank, target) for rank, target in enumerate(targets))
    loads = Counter(link for way in ways for link in way)
    shared = [link for link, streams in loads.items() if streams > 1]
    return f"link {min(shared)} carries the data of several ranks" if shared else None


def _of_patience(plan: Plan) -> str | None:
    latest_ps = max(host.start_ps for host in plan.hosts)
    if plan.patience_ps < max(latest_ps, plan.rto.maximum_ps):
        return "the run could be given up while packets are on their way"
    if latest_ps + plan.maximum_time_ps > _MOST_PS // 2:
        return _TOO_LONG
    return None


def _of_times(plan: Plan, format_: Aggregation) -> str | None:
    """A round of the window may begin before the time limit and end after it."""
    stages_ps = sum(
        serialisation_ps(format_.packet_bytes, link.rate_bps) + link.delay_ps
        for link in plan.graph.links
    )
    hosts_ps = sum(host.send_ps + host.receive_ps for host in plan.hosts)
    round_ps = stages_ps + hosts_ps + 2 * sum(node.latency_ps for node in plan.graph.nodes)
    window = 2 * format_.slots + plan.hosts[0].cores
    return _TOO_LONG if window * round_ps > _MOST_PS // 2 else None
