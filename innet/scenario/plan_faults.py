"""Faults as the plan has them: each on one link or one node of the star."""

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
    Place,
    Reorder,
    Restart,
)
from innet.scenario.schema import Scenario
from innet.topology.star import downlink, host_node, uplink


def packet_faults(scenario: Scenario, ranks: int) -> tuple[PacketFault, ...]:
    """Return the faults on links, in the scenario's order; those on absent servers are left out."""
    workers = scenario.topology.workers
    found: list[PacketFault] = []
    for fault in scenario.faults:
        action = fault.action
        if isinstance(action, PacketVerb):
            found.extend(_on_links(fault, action, workers, ranks))
        elif isinstance(action, Partition):
            found.extend(_partition(action, workers, ranks))
    return tuple(found)


def node_faults(scenario: Scenario, ranks: int) -> tuple[NodeFault, ...]:
    """Return the faults of nodes, in the scenario's order; those of absent servers are left out."""
    workers = scenario.topology.workers
    found: list[NodeFault] = []
    for fault in scenario.faults:
        action = fault.action
        if isinstance(action, Pause | Crash | Restart):
            node = _node(action.node, workers, ranks)
            lasts = 0 if isinstance(action, Crash) else action.lasts
            if node is not None:
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


def _on_links(fault: Fault, action: PacketVerb, workers: int, ranks: int) -> Iterator[PacketFault]:
    upwards = action.target == "switch"
    place = action.source if upwards else action.target
    for rank in _ranks(place, workers, ranks):
        yield PacketFault(
            verb=cast(plan.PacketVerb, fault.verb),
            link=uplink(rank) if upwards else downlink(rank),
            packets=action.packet,
            kind=action.kind,
            chunk=action.chunk,
            probability=action.probability,
            by_ps=action.by if isinstance(action, Duplicate | Reorder | Delay) else 0,
            after_ps=action.after,
            until_ps=action.until,
        )


def _partition(action: Partition, workers: int, ranks: int) -> Iterator[PacketFault]:
    cut = range(ranks) if action.node == "switch" else _ranks(action.node, workers, ranks)
    for rank in cut:
        for link in (uplink(rank), downlink(rank)):
            yield PacketFault("drop", link, after_ps=action.at, until_ps=action.at + action.lasts)


def _ranks(place: Place, workers: int, ranks: int) -> range:
    """Return the ranks that a place names: all are the workers, a server may be absent."""
    if place == "all":
        return range(workers)
    if place == "server":
        return range(workers, ranks)
    return range(int(place), int(place) + 1)


def _node(place: Place, workers: int, ranks: int) -> int | None:
    if place == "switch":
        return workers
    named = _ranks(place, workers, ranks)
    return host_node(named[0], workers) if named else None
