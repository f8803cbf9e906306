"""Networks of several tiers and operations on them, for the engines' tests.

`Tiers((r, m))` is a root above r leaves of m workers each, `Tiers((r, q, m))` has one tier more.
Cables and latencies are given from the hosts upwards. Packets have 204 bytes unless told.
"""

from dataclasses import dataclass, replace
from itertools import count

from innet.collectives.algorithms import build_schedule
from innet.engine.reference.network import ReferenceNetwork
from innet.plan.operation import Operation
from innet.plan.plan import Aggregation, Fabric, Host, Plan, Rto, Stream, TreeSwitch
from innet.protocol.machine import NEVER
from innet.topology.graph import Graph, Link, Node
from innet.topology.routes import shortest_routes

PACKET_BYTES, HELP_BYTES, ELEMENTS = 204, 84, 32
US = 10**6
RTO = Rto(False, 10_000 * US, 10_000 * US, 80_000 * US)
SHORT_RTO = Rto(True, 100 * US, 20 * US, 2_000 * US)
GBPS = 10**9


@dataclass(frozen=True)
class Tiers:
    """A tree of switches; `rates`, `delays` and `latencies` per tier, in bit/s and ps."""

    fans: tuple[int, ...]
    rates: tuple[int, ...] = (10 * GBPS, 10 * GBPS, 10 * GBPS)
    delays: tuple[int, ...] = (US, 2 * US, 5 * US)
    latencies: tuple[int, ...] = (US, 700_000, 300_000)
    loss: float = 0.0
    seed: int = 1

    @property
    def workers(self) -> int:
        workers = 1
        for fan in self.fans:
            workers *= fan
        return workers

    def tree(self, workers=None) -> tuple[TreeSwitch, ...]:
        """All switches above the workers aggregate for them, breadth first from the root."""
        place_of = {worker: place for place, worker in enumerate(workers or range(self.workers))}
        switches, needed = self._switches(), set()
        for number in sorted(switches, reverse=True):
            if (set(place_of) | needed) & set(switches[number][1]):
                needed.add(number)
        index = {number: place for place, number in enumerate(sorted(needed))}
        tree = []
        for number in index:
            parent, children, _ = switches[number]
            siblings = [] if parent is None else [n for n in switches[parent][1] if n in needed]
            below = tuple(place_of[child] for child in children if child in place_of)
            lower = tuple(index[child] for child in children if child in needed)
            place = -1 if parent is None else siblings.index(number)
            tree.append(TreeSwitch(number, index.get(parent, -1), place, below, lower))
        return tuple(tree)

    def _switches(self):
        """Switch: (its parent, its children, whether these are workers); the root comes first."""
        numbers, switches = count(self.workers), {}
        tier = [(next(numbers), None)]
        for depth, fan in enumerate(self.fans):
            is_leaf = depth == len(self.fans) - 1
            below = []
            for place, (number, parent) in enumerate(tier):
                ids = range(place * fan, (place + 1) * fan)
                children = list(ids) if is_leaf else [next(numbers) for _ in range(fan)]
                switches[number] = (parent, children, is_leaf)
                below += [(child, number) for child in children]
            tier = below
        return switches

    def graph(self) -> Graph:
        switches = self._switches()
        depth = {None: -1}
        nodes = [Node(f"worker{worker}", "host") for worker in range(self.workers)]
        links = []
        for number in sorted(switches):
            parent, children, _ = switches[number]
            depth[number] = depth[parent] + 1
            tier = len(self.fans) - 1 - depth[number]
            nodes.append(Node(f"switch{number}", "switch", self.latencies[tier]))
            for child in children:
                for ends in ((child, number), (number, child)):
                    links.append(Link(*ends, self.rates[tier], self.delays[tier], self.loss))
        return Graph(tuple(nodes), tuple(links))

    def link(self, source: int, target: int) -> int:
        """The number of the link from a node to another."""
        ends = [(link.source, link.target) for link in self.graph().links]
        return ends.index((source, target))

    def fabric(self, **changes) -> Fabric:
        graph = self.graph()
        nodes = range(self.workers)
        fabric = Fabric(
            graph=graph,
            hosts=tuple(Host(node) for node in nodes),
            routes=shortest_routes(graph, nodes),
            seed=self.seed,
            maximum_time_ps=10**15,
            patience_ps=10**12,
        )
        return replace(fabric, **changes)

    def aggregated(self, chunks=4, kind="all_reduce", workers=None, **changes) -> Operation:
        """An operation of all switches of the tree; `chunks` of 32 values each."""
        names = {name: changes.pop(name) for name in ("slots", "guard", "first") if name in changes}
        floats = changes.get("dtype", "int32") != "int32"
        aggregation = Aggregation(
            changes.pop("tree", None) or self.tree(workers),
            names.get("slots", 512),
            names.get("guard", True),
            ELEMENTS,
            PACKET_BYTES,
            HELP_BYTES,
            floats,
            names.get("first", 0),
        )
        group = tuple(workers or range(self.workers))
        operation = Operation(kind, group, chunks * ELEMENTS, "int32", RTO, aggregation)
        return replace(operation, **changes)

    def plan(self, late=None, **changes) -> Plan:
        """The operation as a plan, which workers begin at 0 or, if they are `late`, then."""
        operation, fabric = self.aggregated(**changes), self.fabric()
        late = late or {}
        return Plan(
            graph=fabric.graph,
            hosts=tuple(Host(node, late.get(node, 0)) for node in range(self.workers)),
            routes=fabric.routes,
            seed=fabric.seed,
            maximum_time_ps=fabric.maximum_time_ps,
            patience_ps=fabric.patience_ps,
            name="tiers",
            algorithm="in_network",
            workers=self.workers,
            elements=operation.elements,
            dtype=operation.dtype,
            carry_payload=False,
            rto=operation.rto,
            aggregation=operation.aggregation,
        )

    def packet_ps(self, tier: int, medium_bytes: int = PACKET_BYTES) -> int:
        return medium_bytes * 8 * 10**12 // self.rates[tier]

    def round_trip_ps(self) -> int:
        """Of a lone packet to the root and back as a result: it is whole at every switch."""
        tiers = range(len(self.fans))
        there = sum(self.packet_ps(tier) + self.delays[tier] for tier in tiers)
        return 2 * there + 2 * sum(self.latencies[tier] for tier in tiers[:-1]) + self._root_ps()

    def _root_ps(self) -> int:
        return self.latencies[len(self.fans) - 1]


def star_tree(node: int, workers: int) -> tuple[TreeSwitch, ...]:
    return (TreeSwitch(node, workers=tuple(range(workers))),)


def ring(group, elements, payload_bytes=1000, **changes) -> Operation:
    """A ring all-reduce of int32 in packets without headers; acknowledgements cost nothing."""
    schedule = build_schedule("ring", len(group), elements, 4)
    stream = Stream(payload_bytes, 0, 0, 1 << 20, "selective_repeat")
    operation = Operation(
        "all_reduce", tuple(group), elements, "int32", RTO, stream=stream, schedule=schedule
    )
    return replace(operation, **changes)


def begun_at_once(network, numbers, now=0):
    """Every member enters each of these operations at one instant."""
    for number in numbers:
        for place in range(len(network.ledger.operations[number].group)):
            network.begin(number, place, now)


def completions(network, limit=NEVER):
    """All that completes before `limit`, in order."""
    found = []
    while batch := network.advance(limit):
        found += batch
    return found


def run(fabric, *operations, tensors=None):
    """Begin operations at time 0; return the network and each operation's instants by place."""
    network = ReferenceNetwork(fabric)
    vectors = tensors or [None] * len(operations)
    numbers = [network.add(*each) for each in zip(operations, vectors, strict=True)]
    begun_at_once(network, numbers)
    times = [{} for _ in operations]
    for at_ps, operation, place in completions(network):
        times[operation][place] = at_ps
    return network, [[each[place] for place in sorted(each)] for each in times]
