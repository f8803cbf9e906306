"""A run of a plan on any network in compiled code, from the plan to the trace."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from innet.collectives.execute import execute
from innet.engine.compiled.conditions import ENGINE
from innet.engine.compiled.jobs.outcome import worker_record
from innet.engine.compiled.messages.network import CompiledNetwork
from innet.engine.compiled.messages.outcome import rank_record
from innet.engine.progress import Reached, Report
from innet.plan.operation import operation_of
from innet.plan.plan import Plan
from innet.protocol.machine import NEVER
from innet.trace.records import RankRecord, Trace
from innet.wire.dtypes import add

Vectors = Sequence[npt.NDArray[Any]]


def run_on_network(plan: Plan, tensors: Vectors | None, progress: Report | None) -> Trace:
    """Run until the network is quiet; raise UnfinishedError when nobody can go on."""

    def report(now_ps: int) -> None:
        if progress is not None:
            progress(Reached(_fraction_done(plan, network), now_ps))

    network = CompiledNetwork(plan, report=report)
    operation = network.add(operation_of(plan))
    for rank, host in enumerate(plan.hosts):
        network.begin(operation, rank, host.start_ps)
    while network.advance(NEVER):
        pass
    links, members = network.links(), network.state.members[: len(plan.hosts)]
    return Trace(
        ENGINE,
        tuple(_record(network, rank, member) for rank, member in enumerate(members)),
        links,
        network.switches(),
        sum(link.packets for link in links),
        _results(plan, tensors),
    )


def _fraction_done(plan: Plan, network: CompiledNetwork) -> float:
    """The share of the packets of messages, or of the results of sums, that have come through."""
    state = network.state
    whole = (
        int(state.jobs.blocks.sum())
        if plan.schedule is None
        else 2 * int(state.messages["packets"].sum())
    )
    return min(1.0, network.through() / max(1, whole))


def _record(network: CompiledNetwork, rank: int, member: np.void) -> RankRecord:
    if member["worker"] < 0:
        return rank_record(rank, member)
    return worker_record(network.state, rank, member)


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
