"""Random mixes of point-to-point operations on one network, by seed, and how they go.

Every rank begins some operations at times of its own, and others when it has completed an earlier
one, at once or later: as a training step does.
"""

import random
from dataclasses import dataclass, replace
from heapq import heappop, heappush

from innet.collectives.algorithms import ALGORITHMS
from innet.collectives.operations import FORMS, build_operation_schedule
from innet.errors import UnfinishedError
from innet.plan.operation import Operation
from innet.protocol.machine import NEVER
from tests.engine.compiled.made_messages import message_plan

DELAYS_PS = (0, 0, 1, 1000, 777_000, 30_000_000)


@dataclass(frozen=True)
class Mix:
    """`after[operation, place]` is what the rank begins when it has completed that, with delays."""

    fabric: object
    operations: list
    begins: list
    after: dict


def made_mix(seed, most_bytes=6000):
    plan, draw = message_plan(seed), random.Random(seed + 1)
    operations, begins, after, last = [], [], {}, {}
    kept = []
    for number in range(draw.choice([1, 3, 8, 20])):
        if kept and draw.random() < 0.5:
            operation = draw.choice(kept)  # the very same, as a step has it
        else:
            operation = _operation(plan, draw, most_bytes)
            if operation is None:
                continue
            kept.append(operation)
        operations.append(operation)
        number = len(operations) - 1
        for place, rank in enumerate(operation.group):
            if rank in last and draw.random() < 0.7:
                after.setdefault(last[rank], []).append((number, place, draw.choice(DELAYS_PS)))
            else:
                begins.append((draw.choice(DELAYS_PS), number, place))
            last[rank] = (number, place)
    return Mix(replace(plan, patience_ps=10**12), operations, begins, after)


def _operation(plan, draw, most_bytes):
    ranks = len(plan.hosts)
    kind = draw.choice(["all_reduce", "all_reduce", *FORMS])
    size = min(ranks, 2 if kind == "send" else draw.choice([1, 2, 3, 5, 8]))
    if kind == "send" and ranks < 2:
        return None
    group = tuple(draw.sample(range(ranks), size))
    elements = max(size, draw.choice([1, 60, most_bytes // 12, most_bytes // 4]))
    forms = [name for name in ALGORITHMS if name != "parameter_server"]
    algorithm = draw.choice(forms if kind == "all_reduce" else [*FORMS[kind]])
    schedule = build_operation_schedule(kind, algorithm, size, elements, 4)
    window = draw.choice([plan.stream.window] * 4 + [3, 16])
    stream = replace(plan.stream, window=window)
    return Operation(kind, group, elements, "int32", plan.rto, stream=stream, schedule=schedule)


def outcome(mix, network_of):
    """All completions in order, and what the links count; or why the network cannot go on."""
    network = network_of(mix.fabric)
    for operation in mix.operations:
        network.add(operation)
    waiting, done = sorted(mix.begins), []
    try:
        while True:
            completions = network.advance(waiting[0][0] if waiting else NEVER)
            for at_ps, operation, place in completions:
                done.append((at_ps, operation, place))
                for number, other, delay_ps in mix.after.get((operation, place), ()):
                    heappush(waiting, (at_ps + delay_ps, number, other))
            if not completions and not waiting:
                return sorted(done), network.links()
            now = waiting[0][0] if waiting and not completions else None
            while waiting and waiting[0][0] == now:
                at_ps, number, place = heappop(waiting)
                network.begin(number, place, at_ps)
    except UnfinishedError as error:
        return str(error).splitlines()[0].partition(" (")[0]
