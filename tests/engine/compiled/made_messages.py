"""Random point-to-point plans, by seed, with all that the compiled engine takes."""

import dataclasses
import random
from pathlib import Path

from innet.collectives.algorithms import ALGORITHMS
from innet.scenario.build import build_plan
from innet.scenario.load import parse_scenario
from innet.topology.graph import Graph, Link, Node
from innet.topology.routes import shortest_routes
from tests.engine.compiled.made_lossy_stars import DELAYS, RATES


def message_plan(seed, most_bytes=60_000):
    """A plan: losses up to 40 %, timeouts below the round trip, stragglers, short queues."""
    draw = random.Random(seed)
    topology, workers = draw.choice([_star, _star, _leaf_spine, _fat_tree])(draw)
    text = f"""
version: 1
name: messages
seed: {draw.randrange(10**6)}
limit: {draw.choice(["100 s", "100 s", "100 s", "2 ms"])}
topology: {{{topology}, link: {_cable(draw)}}}
switch: {{latency: {draw.choice(DELAYS)} ns}}
message:
  payload: {draw.choice([97, 200, 1460])} B
  overhead: {draw.choice([0, 20, 78])} B
  window: {draw.choice([1, 2, 5, 16, 64])}
  recovery: {draw.choice(["selective_repeat", "go_back_n"])}
  ack: {draw.choice([0, 0, 20, 84])} B
host: {{rto: {draw.choice(["adaptive", "adaptive", "3 us", "20 us", "500 us"])}}}
workers: {{{", ".join(filter(None, (_worker(draw, worker) for worker in range(workers))))}}}
collective:
  size: {draw.choice([4, 100, most_bytes // 20, most_bytes // 3, most_bytes]) // 4 * 4} B
  dtype: {draw.choice(["int32", "float32"])}
  check: never
algorithms: [ring]
"""
    scenario = parse_scenario(text, "messages.yaml", (), Path("."))
    algorithm = draw.choice(list(ALGORITHMS))
    plan = build_plan(scenario, algorithm, False, scenario.collective.elements)
    is_star = len(plan.graph.switches) == 1
    return _on_a_tree(plan, draw) if is_star and draw.random() < 0.5 else plan


def _star(draw):
    workers = draw.choice([1, 2, 3, 4, 5, 8, 13])
    return f"workers: {workers}", workers


def _leaf_spine(draw):
    """Two tiers, or three with fast links in the hosts; several equal routes."""
    racks, hosts, ranks = (draw.choice([1, 2, 3]) for _ in range(3))
    fast = f", ranks: {ranks}, fast_link: {_cable(draw)}" if ranks > 1 else ""
    counts = f"racks: {racks}, hosts: {hosts}, spines: {draw.choice([1, 2, 3])}"
    cables = f"uplinks: {draw.choice([1, 2])}, nics: {draw.choice([1, 1, 2])}"
    return f"kind: leaf_spine, {counts}, {cables}{fast}", racks * hosts * ranks


def _fat_tree(draw):
    pods, edges, hosts = draw.choice([1, 2, 3]), draw.choice([1, 2]), draw.choice([1, 2])
    counts = f"pods: {pods}, edges: {edges}, aggregations: 2, cores: 4, hosts: {hosts}"
    return f"kind: fat_tree, {counts}, core_link: {_cable(draw)}", pods * edges * hosts


def _cable(draw):
    return (
        f"{{rate: {draw.choice(RATES)} Gbps, delay: {draw.choice(DELAYS)} ns, "
        f"loss: {draw.choice([0, 0, 0.001, 0.02, 0.1, 0.4])}, "
        f"queue: {draw.choice(['null', 'null', '3 KB', '10 KB', '1 MB'])}}}"
    )


def _worker(draw, worker):
    if draw.random() < 0.7:
        return ""
    start = draw.choice([1, 777, 50_000, 400_000])
    return f"{worker}: {{start: {start} ns, link: {{rate: {draw.choice(RATES)} Gbps}}}}"


def _on_a_tree(plan, draw):
    """The plan with its hosts below several switches, some pairs of which have two cables."""
    switches = draw.choice([2, 3, 5])
    hosts = len(plan.hosts)
    nodes = [Node(f"h{rank}", "host") for rank in range(hosts)]
    cables = [(rank, hosts + draw.randrange(switches)) for rank in range(hosts)]
    for switch in range(switches):
        nodes.append(Node(f"s{switch}", "switch", draw.choice(DELAYS) * 1000))
        if switch:
            cables += [(hosts + switch, hosts + draw.randrange(switch))] * draw.choice([1, 1, 2])
    if draw.random() < 0.3:  # switches before hosts, as they are numbered
        nodes = nodes[hosts:] + nodes[:hosts]
        cables = [((a + switches) % len(nodes), (b + switches) % len(nodes)) for a, b in cables]
    first_host = next(index for index, node in enumerate(nodes) if node.kind == "host")
    graph = Graph(tuple(nodes), tuple(link for ends in cables for link in _links(draw, *ends)))
    routes = shortest_routes(graph, range(first_host, first_host + hosts), plan.seed)
    moved = tuple(
        dataclasses.replace(host, node=first_host + rank) for rank, host in enumerate(plan.hosts)
    )
    return dataclasses.replace(plan, graph=graph, routes=routes, hosts=moved)


def _links(draw, one, other):
    for source, target in ((one, other), (other, one)):
        yield Link(
            source,
            target,
            draw.choice(RATES) * 10**9,
            draw.choice(DELAYS) * 1000,
            draw.choice([0, 0, 0.01, 0.1]),
            draw.choice([None, None, 3000, 20_000]),
        )
