"""Bytes, packets and busy time of a run, read from its trace."""

from collections.abc import Iterator, Mapping

from innet.plan.plan import Plan
from innet.topology.graph import Graph
from innet.trace.records import LinkRecord, Trace


def finish_time_ps(plan: Plan, trace: Trace) -> int:
    """Return when the last worker held its whole result, in ps from time 0.

    A late start counts: the time is the collective's, as its slowest member sees it.
    """
    return max((record.finish_ps for record in trace.ranks[: plan.workers]), default=0)


def wire_bytes_per_nic(plan: Plan, trace: Trace) -> int:
    """Return the medium bytes of the busiest direction of the busiest host's interface.

    All hosts count, a dedicated parameter server's too. Medium bytes are frame, FCS, preamble
    and gap of every packet that occupied the link, those that were lost on it included.
    """
    by_link = {record.link: record.bytes for record in trace.links}
    return max((max(_nic_bytes(plan, by_link, host.node)) for host in plan.hosts), default=0)


def class_bytes(plan: Plan, trace: Trace) -> dict[str, int]:
    """Return the medium bytes on all links of each class; empty where there is only one class."""
    classes = plan.graph.link_classes
    if len(classes) < 2:
        return {}
    found = dict.fromkeys(classes, 0)
    for record in trace.links:
        found[plan.graph.links[record.link].link_class] += record.bytes
    return found


def packets_sent(plan: Plan, trace: Trace) -> int:
    """Return how many packets the hosts sent, repeats included."""
    return sum(record.packets_sent for record in trace.ranks)


def packets_dropped(trace: Trace) -> int:
    """Return how many packets were lost on a link, dropped by a queue or arrived corrupt."""
    return sum(lost_on(record) for record in trace.links)


def lost_on(link: LinkRecord) -> int:
    """Return how many packets of one link direction did not arrive whole."""
    return link.lost + link.queue_dropped + link.corrupted


def retransmissions(trace: Trace) -> int:
    """Return how many packets were sent again."""
    return sum(record.retransmissions for record in trace.ranks)


def window_stalled_ps(trace: Trace) -> int:
    """Return the longest time that a rank's link stood idle before a full window."""
    return max((record.window_stalled_ps for record in trace.ranks), default=0)


def cpu_busy_ps(trace: Trace) -> int:
    """Return the longest time that a rank's cores worked on packets, all cores together."""
    return max((record.cpu_busy_ps for record in trace.ranks), default=0)


def busiest_link(trace: Trace) -> LinkRecord | None:
    """Return the link direction that was occupied longest; the first of equal ones."""
    return max(trace.links, key=lambda record: (record.busy_ps, -record.link), default=None)


def link_name(plan: Plan, link: int) -> str:
    """Return the two nodes of a link direction, for example `worker3 -> switch`."""
    return direction_name(plan.graph, link)


def direction_name(graph: Graph, link: int) -> str:
    """Return the two nodes of a link direction of a network."""
    direction = graph.links[link]
    return f"{graph.nodes[direction.source].name} -> {graph.nodes[direction.target].name}"


def rank_name(plan: Plan, rank: int) -> str:
    """Return what to call a rank in a sentence: `worker 3`, or a helper's node name."""
    return f"worker {rank}" if rank < plan.workers else plan.graph.nodes[plan.hosts[rank].node].name


def _nic_bytes(plan: Plan, by_link: Mapping[int, int], node: int) -> Iterator[int]:
    for links in (plan.graph.links_out[node], plan.graph.links_into[node]):
        yield sum(by_link.get(link, 0) for link in links)
