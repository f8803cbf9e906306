"""The network of a scenario in words: nodes, classes of links, routes, the aggregation tree."""

from collections import Counter
from collections.abc import Iterator, Sequence

from innet.errors import ConfigurationError
from innet.plan.plan import Aggregation, Fabric, Plan, TreeSwitch
from innet.plan.step import StepPlan
from innet.scenario.asked import requests_of
from innet.scenario.build import build_plan
from innet.scenario.build_step import build_step_plan
from innet.scenario.load import expand
from innet.scenario.schema import Scenario
from innet.topology.graph import Graph, Link, Node
from innet.topology.routes import Routes
from innet.units import format_duration, format_rate, noun_for

_SHOWN_NAMES = 8
# A node where a rank runs is a host of the graph; hosts of several ranks are switches there.
_NOUNS = {"host": "rank", "switch": "switch"}


def first_plan(scenario: Scenario) -> Plan | StepPlan:
    """Return the timing-only plan of a scenario's first point, in the network where it runs so."""
    point = expand(scenario)[0].scenario
    names = point.algorithms
    algorithm = "in_network" if "in_network" in names else names[0]
    if point.training is not None:
        return build_step_plan(point, algorithm, requests_of(point))
    return build_plan(point, algorithm, False, point.collective.elements or 0)


def describe_network(scenario: Scenario, pair: str | None = None) -> str:
    """Return the network of a scenario's first point.

    `pair` is two ranks, `0,5`, whose route is shown; by default the first and the last. Raises
    ConfigurationError for another text.
    """
    plan = first_plan(scenario)
    source, target = _ranks(plan, pair)
    lines = ["network:", *_nodes(plan.graph), *_classes(plan.graph)]
    if source != target:
        lines += _route(plan, source, target)
    for title, aggregation in _aggregations(plan):
        lines += [f"  {title}", *_tree(plan.graph, aggregation.tree, 0, "    ")]
    return "\n".join(lines)


def _aggregations(plan: Plan | StepPlan) -> Iterator[tuple[str, Aggregation]]:
    """Yield what aggregates, with a title; each tree of a training step once."""
    if isinstance(plan, Plan):
        if plan.aggregation is not None:
            yield "aggregation tree", plan.aggregation
        return
    jobs = {x.operation.job: x.operation for x in plan.operations.values() if not x.why}
    for operation in jobs.values():
        assert operation.aggregation is not None
        ranks = _listed([str(rank) for rank in operation.group])
        yield f"aggregation tree of ranks {ranks}; workers are places", operation.aggregation


def _ranks(plan: Plan | StepPlan, pair: str | None) -> tuple[int, int]:
    workers = plan.workers if isinstance(plan, Plan) else len(plan.hosts)
    if pair is None:
        return 0, workers - 1
    parts = [part.strip() for part in pair.split(",")]
    if len(parts) == 2 and all(part.isdecimal() and int(part) < workers for part in parts):
        return int(parts[0]), int(parts[1])
    raise ConfigurationError(
        f"'{pair}' is no pair of ranks; write two of 0 to {workers - 1}, such as 0,1",
        file="--route",
    )


def _nodes(graph: Graph) -> Iterator[str]:
    """Yield a line for the nodes of each tier that are alike."""
    alike: dict[tuple[int, str, int, bool], list[str]] = {}
    for tier, node in zip(graph.tiers, graph.nodes, strict=True):
        key = (tier, node.kind, node.latency_ps, node.aggregates)
        alike.setdefault(key, []).append(node.name)
    for (tier, kind, latency_ps, aggregates), names in sorted(alike.items(), key=lambda x: x[0]):
        told = f"  tier {tier}  {_count(len(names), _NOUNS[kind])}: {_listed(names)}"
        if kind == "switch":
            told += f"; {format_duration(latency_ps)}"
            told += ", can sum" if aggregates else ", forwards only"
        yield told


def _classes(graph: Graph) -> Iterator[str]:
    for name in graph.link_classes:
        # Of a cable's two directions the second one begins at a switch, so it has the queue.
        links = [link for link in graph.links if link.link_class == name][1::2]
        for told, count in Counter(map(_link, links)).items():
            yield f"  class {name}: {_count(count, 'cable')} of {told}"


def _link(link: Link) -> str:
    told = f"{format_rate(link.rate_bps)}, {format_duration(link.delay_ps)}"
    return f"{told}, loss {link.loss:g}" if link.loss else told


def _route(plan: Fabric, source: int, target: int) -> Iterator[str]:
    graph, routes = plan.graph, plan.routes
    path = routes.path(source, target)
    nodes = [routes.hosts[source], *(graph.links[link].target for link in path)]
    count = equal_paths(routes, source, target)
    told = "the only shortest path" if count == 1 else f"one of {count} equal paths, by its hash"
    yield f"  route {source} -> {target}: {told}"
    hops = [f"-{graph.links[link].link_class}-> {graph.nodes[node].name}"
            for link, node in zip(path, nodes[1:], strict=True)]  # fmt: skip
    yield f"    {' '.join([graph.nodes[nodes[0]].name, *hops])}"


def equal_paths(routes: Routes, source: int, target: int) -> int:
    """Return how many shortest paths lead from a rank to another."""
    goal = routes.hosts[target]
    ways = Counter({routes.hosts[source]: 1})
    # All equal paths are as long, so their nodes are met in steps.
    while goal not in ways and ways:
        onward: Counter[int] = Counter()
        for node, count in ways.items():
            for link in routes.choices(node, goal):
                onward[routes.graph.links[link].target] += count
        ways = onward
    return ways[goal]


def _tree(graph: Graph, tree: Sequence[TreeSwitch], place: int, indent: str) -> Iterator[str]:
    switch = tree[place]
    node: Node = graph.nodes[switch.node]
    workers = [f"worker{worker}" for worker in switch.workers]
    told = f": {_count(len(workers), 'worker')} ({_listed(workers)})" if workers else ""
    yield f"{indent}{node.name}{told}"
    for below in switch.switches:
        yield from _tree(graph, tree, below, indent + "  ")


def _listed(names: Sequence[str]) -> str:
    if len(names) <= _SHOWN_NAMES:
        return ", ".join(names)
    return f"{', '.join(names[:3])}, ..., {names[-1]}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun_for(number, noun, 'switches' if noun == 'switch' else None)}"
