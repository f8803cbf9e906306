"""Random loss-free aggregation trees, by seed: any depth, unequal links, switches that forward."""

import random

from innet.plan.plan import Aggregation, Host, Plan, Rto, TreeSwitch
from innet.topology.graph import Graph, Link, Node
from innet.topology.routes import shortest_routes

RATES = (7, 10, 25, 40, 100)  # Gbps
DELAYS = (0, 1_000, 333_000, 1_000_000, 5_000_000)  # ps


class _Maker:
    def __init__(self, seed):
        self.draw = random.Random(seed)
        self.nodes, self.links, self.tree, self.hosts = [], [], [], []
        self.alike = self.draw.random() < 0.3  # equal links, so that members are of few classes

    def cable(self, below, above):
        rate, delay = (10, 1_000_000) if self.alike else self._cable()
        queue = None if self.draw.random() < 0.7 else self.draw.choice([2_000, 8_000, 100_000])
        for source, target in ((below, above), (above, below)):
            limit = queue if self.nodes[source].kind == "switch" else None
            self.links.append(Link(source, target, rate * 10**9, delay, 0.0, limit))

    def _cable(self):
        return self.draw.choice(RATES), self.draw.choice(DELAYS)

    def node(self, kind):
        latency = 0 if kind == "host" else self.draw.choice(DELAYS[1:])
        self.nodes.append(Node(f"{kind}{len(self.nodes)}", kind, latency))
        return len(self.nodes) - 1

    def connect(self, below, above):
        """A cable, or two with a switch between them that only forwards."""
        if self.draw.random() < 0.2:
            between = self.node("switch")
            self.cable(below, between)
            below = between
        self.cable(below, above)

    def switch(self, depth, parent=-1, child=-1):
        """Make a switch of the tree with all below it; return its place."""
        place, node = len(self.tree), self.node("switch")
        self.tree.append(None)
        workers, switches = [], []
        for _ in range(self.draw.randint(1, 4)):
            if depth and self.draw.random() < 0.7:
                switches.append(self.switch(depth - 1, place, len(switches)))
            else:
                workers.append(len(self.hosts))
                self.hosts.append(self.host())
                self.connect(self.hosts[-1].node, node)
        for below in switches:
            self.connect(self.tree[below][0], node)
        self.tree[place] = (node, parent, child, tuple(workers), tuple(switches))
        return place

    def host(self):
        start = 0 if self.draw.random() < 0.8 else self.draw.choice([50, 300, 900]) * 10**6
        cost = self.costs if self.alike else self.costs * self.draw.choice([0, 1, 3])
        return Host(self.node("host"), start, cost, cost, self.cores)

    def plan(self):
        draw = self.draw
        slots = draw.choice([1, 2, 3, 5, 8, 32])
        self.cores = min(slots, draw.choice([1, 1, 2, 3]))
        self.costs = draw.choice([0, 20_000, 150_000]) if self.cores == 1 else 0
        self.switch(draw.randint(0, 3))
        graph = Graph(tuple(self.nodes), tuple(self.links))
        fixed = draw.choice([1_000_000_000, 30_000_000])
        rto = draw.choice(
            [Rto(False, fixed, fixed, 64 * fixed), Rto(True, 10**9, 10**7, 64 * 10**9)]
        )
        return Plan(
            graph=graph,
            hosts=tuple(self.hosts),
            routes=shortest_routes(graph, [host.node for host in self.hosts]),
            seed=1,
            maximum_time_ps=10**15,
            patience_ps=10**12,
            name="tree",
            algorithm="in_network",
            workers=len(self.hosts),
            elements=32 * draw.randint(0, draw.choice([20, 300])),
            dtype="int32",
            carry_payload=False,
            rto=rto,
            aggregation=Aggregation(
                self.switches(), slots, draw.random() < 0.5, 32, 204, 84, draw.random() < 0.3
            ),
        )

    def switches(self):
        """The tree, in which switches are children after all workers."""
        return tuple(
            TreeSwitch(node, parent, child + self.workers_of(parent), workers, below)
            if parent >= 0
            else TreeSwitch(node, workers=workers, switches=below)
            for node, parent, child, workers, below in self.tree
        )

    def workers_of(self, place):
        return len(self.tree[place][3])


def random_tree(seed):
    """The plan of a tree."""
    return _Maker(seed).plan()
