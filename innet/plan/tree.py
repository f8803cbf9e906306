"""Which switches sum what: the aggregation tree of some workers on a graph.

The root is the switch that can sum and is nearest to the worker farthest from it; of equal ones
the nearest to all together, then that with the fewest trees so far, then the first. Every worker
contributes to the first switch that can sum on its path to the root, and so does every switch in
its turn. A switch with a single contribution would only pass it on, so it is left out and forwards.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from innet.plan.plan import TreeSwitch
from innet.topology.routes import Routes

_NO_TREES: Mapping[int, int] = {}


def aggregation_tree(
    routes: Routes, group: Sequence[int], trees: Mapping[int, int] = _NO_TREES
) -> tuple[TreeSwitch, ...]:
    """Return the tree of a group of ranks; its workers are places in the group.

    `trees` says of how many trees a switch is a part already. Empty where no switch that can sum
    is reached by all ranks.
    """
    root = _root(routes, [routes.hosts[rank] for rank in group], trees)
    if root is None:
        return ()
    above = {root: -1}  # switch -> the switch that takes its sums
    first = {place: _next(routes, routes.hosts[rank], root) for place, rank in enumerate(group)}
    waiting = sorted(set(first.values()))
    while waiting:
        switch = waiting.pop(0)
        if switch not in above:
            above[switch] = _next(routes, switch, root)
            waiting.append(above[switch])
    _leave_out_single(above, first, root)
    return _numbered(above, first, root)


def _root(routes: Routes, hosts: Sequence[int], trees: Mapping[int, int]) -> int | None:
    """Return the switch that is nearest to the farthest host, None where none reaches all."""
    best: tuple[int, int, int, int] | None = None
    for switch in routes.graph.switches:
        if not routes.graph.nodes[switch].aggregates:
            continue
        distances = [routes.distance(switch, host) for host in hosts]
        known = [distance for distance in distances if distance is not None]
        if len(known) == len(hosts):
            found = (max(known), sum(known), trees.get(switch, 0), switch)
            best = found if best is None else min(best, found)
    return None if best is None else best[-1]


def _next(routes: Routes, node: int, root: int) -> int:
    """Return the first switch that can sum on a node's path to the root, after the node."""
    graph = routes.graph
    targets = (graph.links[link].target for link in routes.path_between(node, root))
    return next(target for target in targets if graph.nodes[target].aggregates)


def _leave_out_single(above: dict[int, int], first: dict[int, int], root: int) -> None:
    """Let what a switch with one child would pass on go to the switch above it at once."""
    while True:
        children_of = Counter([*first.values(), *above.values()])
        single = [switch for switch in above if switch != root and children_of[switch] == 1]
        if not single:
            return
        switch = single[0]
        for children in (first, above):
            passed = [child for child, taker in children.items() if taker == switch]
            children.update(dict.fromkeys(passed, above[switch]))
        del above[switch]


def _numbered(above: dict[int, int], first: dict[int, int], root: int) -> tuple[TreeSwitch, ...]:
    """Number the switches from the root down, breadth first, by node where they are equal."""
    order = [root]
    for switch in order:
        order += sorted(below for below, taker in above.items() if taker == switch)
    number = {switch: place for place, switch in enumerate(order)}
    workers_of = Counter(first.values())
    tree = []
    for switch in order:
        workers = tuple(place for place, taker in first.items() if taker == switch)
        switches = tuple(number[x] for x in order if above[x] == switch)
        parent, place = -1, -1
        if switch != root:
            taker = above[switch]
            beside = [x for x in order if above[x] == taker]
            parent = number[taker]
            place = workers_of[taker] + beside.index(switch)
        tree.append(TreeSwitch(switch, parent, place, workers, switches))
    return tuple(tree)
