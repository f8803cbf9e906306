"""A run of a point-to-point plan in compiled code, from the plan to the trace."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy.typing as npt

from innet.collectives.execute import execute
from innet.engine.compiled.conditions import ENGINE
from innet.engine.compiled.messages.network import CompiledNetwork
from innet.engine.compiled.messages.outcome import rank_record
from innet.plan.operation import operation_of
from innet.plan.plan import Plan
from innet.protocol.machine import NEVER
from innet.trace.records import Trace
from innet.wire.dtypes import add

Vectors = Sequence[npt.NDArray[Any]]


def run_messages(
    plan: Plan, tensors: Vectors | None, progress: Callable[[float], None] | None
) -> Trace:
    """Run until the network is quiet; raise UnfinishedError when nobody can go on."""
    assert plan.schedule is not None
    total = max(1, len(plan.schedule.messages))

    def report() -> None:
        if progress is not None:
            progress(network.state.steps.top[1] / total)

    network = CompiledNetwork(plan, report=report)
    operation = network.add(operation_of(plan))
    for rank, host in enumerate(plan.hosts):
        network.begin(operation, rank, host.start_ps)
    while network.advance(NEVER):
        pass
    links, members = network.links(), network.state.members[: len(plan.hosts)]
    return Trace(
        ENGINE,
        tuple(rank_record(rank, member) for rank, member in enumerate(members)),
        links,
        (),
        sum(link.packets for link in links),
        _results(plan, tensors),
    )


def _results(plan: Plan, tensors: Vectors | None) -> tuple[npt.NDArray[Any], ...] | None:
    """Return every worker's vector.

    Every message arrives once, whatever happens to its packets, and the schedule alone decides
    which values meet: so results are worked out when all of them have arrived.
    """
    if tensors is None:
        return None
    assert plan.schedule is not None
    return tuple(
        execute(plan.schedule, tensors, lambda mine, theirs: add(mine, theirs, plan.dtype))
    )
