"""Which worker each rank of a training step runs on."""

from collections.abc import Sequence

from innet.scenario.topologies import (
    FatTreeSection,
    GraphSection,
    HostsSection,
    LeafSpineSection,
    TopologySection,
)


def placed(placement: str | Sequence[int], topology: TopologySection) -> tuple[int, ...]:
    """Return the worker of every rank.

    Workers are numbered host by host and rack by rack, so `packed` gives rank r worker r.
    `spread` deals the ranks out to the racks in turn, and within a rack to the hosts in turn.
    """
    workers = range(topology.workers)
    if placement == "packed":
        return tuple(workers)
    if placement == "spread":
        return tuple(sorted(workers, key=lambda worker: _place(worker, topology)[::-1]))
    return tuple(int(worker) for worker in placement)


def _place(worker: int, topology: TopologySection) -> tuple[int, int, int]:
    """Return the rack of a worker, its host in the rack and its place in the host."""
    if isinstance(topology, GraphSection):
        racks = _racks(topology)
        return racks[worker], racks[:worker].count(racks[worker]), 0
    if not isinstance(topology, HostsSection):
        return 0, worker, 0
    host, place = divmod(worker, topology.ranks)
    rack, host = divmod(host, _hosts_a_rack(topology))
    return rack, host, place


def _hosts_a_rack(topology: HostsSection) -> int:
    if isinstance(topology, LeafSpineSection):
        return topology.hosts
    assert isinstance(topology, FatTreeSection)
    return topology.size[-1]


def _racks(topology: GraphSection) -> list[int]:
    """Return, for every worker, the number of the first switch that it has a cable to."""
    racks = dict.fromkeys((f"worker{worker}" for worker in range(topology.workers)), -1)
    for pair in topology.pairs():
        for end, other in (pair, pair[::-1]):
            if racks.get(end) == -1 and other in topology.names:
                racks[end] = topology.names.index(other)
    return list(racks.values())
