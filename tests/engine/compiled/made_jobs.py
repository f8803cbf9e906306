"""Random lossy trees and mixes of in-network and point-to-point operations, by seed."""

import random
from dataclasses import replace

from innet.plan.plan import Rto
from innet.topology.routes import shortest_routes
from tests.engine.compiled.made_mixes import Mix
from tests.engine.made_networks import GBPS, SHORT_RTO, US, Tiers, ring
from tests.engine.recurrence.made_random_trees import random_tree

DELAYS_PS = (0, 0, 1, 777_000, 30_000_000)


def lossy_tree(seed):
    """The plan of a random tree whose links lose packets, with timers that may be too short."""
    plan, draw = random_tree(seed), random.Random(seed)
    hosts = tuple(replace(host, send_ps=0, receive_ps=0) for host in plan.hosts)
    loss = draw.choice([0, 0.001, 0.02, 0.2])
    links = tuple(replace(link, loss=loss) for link in plan.graph.links)
    graph = replace(plan.graph, links=links)
    short = Rto(False, 5 * US, 5 * US, 300 * US)
    return replace(
        plan,
        hosts=hosts,
        graph=graph,
        routes=shortest_routes(graph, [host.node for host in hosts]),
        rto=draw.choice([plan.rto, SHORT_RTO, short]),
        maximum_time_ps=10**12,
        patience_ps=10**11,
    )


def job_mix(seed):
    """Jobs of several groups and rings on one network of racks, each begun after another."""
    draw = random.Random(seed)
    tiers = Tiers(draw.choice([(2, 3), (1, 5), (2, 2, 2)]), loss=draw.choice([0, 0.01, 0.1]))
    rates = draw.choice([(10, 10, 10), (10, 25, 8)])
    tiers = replace(tiers, rates=tuple(rate * GBPS for rate in rates), seed=seed)
    jobs = [_job(tiers, draw, job) for job in range(draw.choice([1, 2, 3]))]
    operations, begins, after, last, at_once = [], [], {}, {}, set()
    for _ in range(draw.choice([2, 5, 12])):
        if draw.random() < 0.7:
            chosen = draw.choice(jobs)
            operation = replace(chosen, elements=32 * draw.choice([0, 1, 5, 40]))
        else:
            group = tuple(draw.sample(range(tiers.workers), 2))
            operation = ring(group, draw.choice([10, 2000]), rto=SHORT_RTO)
        operations.append(operation)
        number = len(operations) - 1
        for place, rank in enumerate(operation.group):
            # A rank enters the operations of a job in order: at once, or each after the last.
            of_job = rank, operation.job if operation.aggregation else number
            before = last.get(of_job) or last.get(rank)
            if before and ((of_job in last and of_job not in at_once) or draw.random() < 0.8):
                after.setdefault(before, []).append((number, place, draw.choice(DELAYS_PS)))
                at_once.discard(of_job)
            else:
                begins.append((0, number, place))
                at_once.add(of_job)
            last[rank] = last[of_job] = number, place
    return Mix(tiers.fabric(patience_ps=10**11), operations, begins, after)


def _job(tiers, draw, job):
    """The form of the operations of a job: a group and its tree."""
    size = draw.randint(1, tiers.workers)
    workers = sorted(draw.sample(range(tiers.workers), size))
    return tiers.aggregated(
        workers=workers,
        slots=draw.choice([1, 3, 8]),
        guard=draw.random() < 0.7,
        first=draw.choice([0, 5]),
        rto=SHORT_RTO,
        job=job,
        dtype=draw.choice(["int32", "float32"]),
    )
