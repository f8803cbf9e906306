"""The numbers of an in-network all-reduce over a tree of switches, by class of equal members.

Workers below one switch with the same start, links and costs do the same at the same instants,
and so do switches with the same links and the same classes below them: one of each class is
computed. All times are in picoseconds.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from innet.plan.plan import Aggregation, Plan
from innet.plan.ways import Hop, way_of
from innet.units import serialisation_ps

Times = npt.NDArray[np.int64]


class Way(NamedTuple):
    """The links from some members to their parents, or back: [members, hops].

    A packet takes `packet_ps` on a link and reaches the next one, or the end, `onward_ps` later.
    Shorter ways end with links that take no time.
    """

    packet_ps: Times
    onward_ps: Times


class Level(NamedTuple):
    """Members of each class at one depth of the tree, in order of their parents above.

    `parent` is a member's place in the level above, `first_child` the places at which another
    parent's members begin; `latency_ps` is the switches' own. `workers` and `switches` are the
    places of either.
    """

    parent: Times
    first_child: Times
    latency_ps: Times
    workers: Times
    switches: Times
    up: Way
    down: Way


class Edge(NamedTuple):
    """A member's links to its parent and back, and its class: its level and its place there."""

    up: tuple[int, ...]
    down: tuple[int, ...]
    level: int
    place: int


@dataclass(frozen=True, slots=True)
class Tree:
    """`class_of[rank]` is a worker's class; the classes' own times have one entry each.

    Classes of workers are in order of level, then of place. `levels` are those below the root,
    whose latency is `latency_ps`.
    """

    class_of: tuple[int, ...]
    edge_of: tuple[Edge, ...]
    edges: tuple[Edge, ...]
    start_ps: Times
    send_ps: Times
    receive_ps: Times
    levels: tuple[Level, ...]
    latency_ps: int

    @property
    def classes(self) -> int:
        """Number of classes of workers."""
        return len(self.start_ps)

    @property
    def costs(self) -> bool:
        """Whether a packet costs any host time."""
        return bool(self.send_ps.any() or self.receive_ps.any())


class _Member(NamedTuple):
    """A worker by rank, or a switch by its place in the tree (the other is -1), and its links."""

    rank: int
    switch: int
    up: tuple[int, ...]
    down: tuple[int, ...]


_Class = tuple[object, ...]


def tree_of(plan: Plan, format_: Aggregation) -> Tree:
    """Return the tree of a plan."""
    return _Builder(plan, format_).tree()


class _Builder:
    def __init__(self, plan: Plan, format_: Aggregation) -> None:
        self._plan, self._format = plan, format_
        self._children = [self._members_below(place) for place in range(len(format_.tree))]
        self._classes: dict[int, _Class] = {}

    def _members_below(self, place: int) -> list[_Member]:
        switch, nodes = self._format.tree[place], self._plan.routes.hosts
        below = [(rank, -1, nodes[rank]) for rank in switch.workers]
        below += [(-1, other, self._format.tree[other].node) for other in switch.switches]
        between = self._plan.routes.path_between
        return [
            _Member(rank, other, between(node, switch.node), between(switch.node, node))
            for rank, other, node in below
        ]

    def tree(self) -> Tree:
        """Go down from the root, a level at a time."""
        levels: list[Level] = []
        edges: list[Edge] = []
        workers: dict[tuple[int, int], int] = {}
        edge_of: dict[int, Edge] = {}
        parents = [[0]]
        while classes := self._classes_below(parents):
            for place, (_, members) in enumerate(classes):
                if members[0].rank >= 0:
                    workers[len(levels), place] = members[0].rank
                for member in members:
                    edge = Edge(member.up, member.down, len(levels), place)
                    edges.append(edge)
                    if member.rank >= 0:
                        edge_of[member.rank] = edge
            levels.append(self._level(classes))
            parents = [[member.switch for member in members] for _, members in classes]
        numbers = {where: number for number, where in enumerate(workers)}
        ranks = [edge_of[rank] for rank in range(self._plan.workers)]
        hosts = [self._plan.hosts[rank] for rank in workers.values()]
        return Tree(
            tuple(numbers[edge.level, edge.place] for edge in ranks),
            tuple(ranks),
            tuple(edges),
            _times(host.start_ps for host in hosts),
            _times(host.send_ps for host in hosts),
            _times(host.receive_ps for host in hosts),
            tuple(levels),
            self._latency_ps(0),
        )

    def _classes_below(self, parents: Sequence[Sequence[int]]) -> list[tuple[int, list[_Member]]]:
        """Return the classes of a level: the place of the parent's class and all members."""
        found: dict[tuple[int, _Class], list[_Member]] = {}
        for place, switches in enumerate(parents):
            for switch in switches:
                for member in self._children[switch] if switch >= 0 else ():
                    found.setdefault((place, self._class_of(member)), []).append(member)
        return [(place, members) for (place, _), members in found.items()]

    def _class_of(self, member: _Member) -> _Class:
        up, down = self._way(member.up), self._way(member.down)
        if member.rank >= 0:
            host = self._plan.hosts[member.rank]
            return (up, down, host.start_ps, host.send_ps, host.receive_ps)
        return (up, down, self._class_of_switch(member.switch))

    def _class_of_switch(self, switch: int) -> _Class:
        if switch not in self._classes:
            below = dict.fromkeys(self._class_of(member) for member in self._children[switch])
            self._classes[switch] = (self._latency_ps(switch), *below)
        return self._classes[switch]

    def _latency_ps(self, switch: int) -> int:
        return self._plan.graph.nodes[self._format.tree[switch].node].latency_ps

    def _way(self, links: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
        """Return each link's packet time, and what follows; the end's latency is not part of it."""
        hops = way_of(self._plan.graph, links)
        end_ps = self._plan.graph.links[links[-1]].delay_ps
        onward = [*(hop.onward_ps for hop in hops[:-1]), end_ps]
        return tuple(zip(map(self._packet_ps, hops), onward, strict=True))

    def _packet_ps(self, hop: Hop) -> int:
        return serialisation_ps(self._format.packet_bytes, hop.rate_bps)

    def _level(self, classes: list[tuple[int, list[_Member]]]) -> Level:
        parent = _times(place for place, _ in classes)
        firsts = [members[0] for _, members in classes]
        return Level(
            parent,
            np.flatnonzero(np.diff(parent, prepend=-1)),
            _times(0 if m.rank >= 0 else self._latency_ps(m.switch) for m in firsts),
            np.flatnonzero(_times(member.rank for member in firsts) >= 0),
            np.flatnonzero(_times(member.rank for member in firsts) < 0),
            _padded([self._way(member.up) for member in firsts]),
            _padded([self._way(member.down) for member in firsts]),
        )


def _padded(ways: list[tuple[tuple[int, int], ...]]) -> Way:
    longest = max(map(len, ways))
    rows = [[*way, *([(0, 0)] * (longest - len(way)))] for way in ways]
    packet_ps, onward_ps = np.moveaxis(np.array(rows, dtype=np.int64), 2, 0)
    return Way(packet_ps, onward_ps)


def _times(values: Iterable[int]) -> Times:
    return np.array(list(values), dtype=np.int64)
