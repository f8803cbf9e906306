"""Faults as the plan has them: each on one link or one node of the graph."""

from collections.abc import Iterator
from typing import cast

from innet.plan import plan
from innet.plan.plan import NodeFault, PacketFault
from innet.scenario.faults import (
    Corrupt,
    Crash,
    Delay,
    Drop,
    Duplicate,
    Fault,
    PacketVerb,
    Partition,
    Pause,
    Reorder,
    Restart,
)
from innet.scenario.network import Places
from innet.scenario.schema import Scenario


def packet_faults(scenario: Scenario, places: Places) -> tuple[PacketFault, ...]:
    """Return the faults on links, in the scenario's order; those on absent servers are left out."""
    found: list[PacketFault] = []
    for fault in scenario.faults:
        action = fault.action
        if isinstance(action, PacketVerb):
            found.extend(_on_links(fault, action, places.links(action.source, action.target)))
        elif isinstance(action, Partition):
            found.extend(_partition(action, places.around(action.node)))
    return tuple(found)


def node_faults(scenario: Scenario, places: Places) -> tuple[NodeFault, ...]:
    """Return the faults of nodes, in the scenario's order; those of absent servers are left out."""
    found: list[NodeFault] = []
    for fault in scenario.faults:
        action = fault.action
        if isinstance(action, Pause | Crash | Restart):
            lasts = 0 if isinstance(action, Crash) else action.lasts
            for node in places.nodes(action.node) or ():
                found.append(NodeFault(cast(plan.NodeVerb, fault.verb), node, action.at, lasts))
    return tuple(found)


def latest_fault_ps(scenario: Scenario) -> int:
    """Return when the last fault with a known end is over."""
    return max((_end_ps(fault) for fault in scenario.faults), default=0)


def chances_of_loss(scenario: Scenario) -> list[float]:
    """Return the probability of every fault that loses some packets, not all it chooses."""
    return [
        fault.action.probability
        for fault in scenario.faults
        if isinstance(fault.action, Drop | Corrupt) and fault.action.probability < 1
    ]


def _end_ps(fault: Fault) -> int:
    action = fault.action
    if isinstance(action, PacketVerb):
        by = action.by if isinstance(action, Duplicate | Reorder | Delay) else 0
        return max(action.after, action.until or 0) + by
    if isinstance(action, Pause | Restart | Partition):
        return action.at + action.lasts
    return action.at if isinstance(action, Crash) else 0


def _on_links(fault: Fault, action: PacketVerb, links: tuple[int, ...]) -> Iterator[PacketFault]:
    for link in links:
        yield PacketFault(
            verb=cast(plan.PacketVerb, fault.verb),
            link=link,
            packets=action.packet,
            kind=action.kind,
            chunk=action.chunk,
            probability=action.probability,
            by_ps=action.by if isinstance(action, Duplicate | Reorder | Delay) else 0,
            after_ps=action.after,
            until_ps=action.until,
        )


def _partition(action: Partition, links: tuple[int, ...]) -> Iterator[PacketFault]:
    for link in links:
        yield PacketFault("drop", link, after_ps=action.at, until_ps=action.at + action.lasts)
