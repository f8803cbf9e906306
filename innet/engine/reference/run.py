"""Run a plan: one operation that every rank begins at its host's start, until all is quiet."""

import gc
from collections.abc import Sequence

from innet.engine.progress import Reached, Report
from innet.engine.reference.network import ReferenceNetwork
from innet.engine.reference.program import Vector
from innet.plan.operation import operation_of
from innet.plan.plan import Plan
from innet.trace.records import Trace

_EVENTS_BETWEEN_REPORTS = 20_000


def run_reference(
    plan: Plan,
    tensors: Sequence[Vector] | None = None,
    progress: Report | None = None,
) -> Trace:
    """Run a plan; `tensors` holds a vector a worker, None for timing only.

    `progress` is told how far the run is. Raises UnfinishedError when nobody can go on.
    """
    network = ReferenceNetwork(plan)
    operation = network.add(operation_of(plan), tensors)
    for rank, host in enumerate(plan.hosts):
        network.begin(operation, rank, host.start_ps)
    _run_events(network, progress)
    (program,) = network.programs
    finish = network.ledger.finish
    links = network.links()
    return Trace(
        "reference",
        tuple(program.record(rank, finish[operation, rank]) for rank in range(len(plan.hosts))),
        links,
        network.switches(),
        sum(link.packets for link in links),
        network.results(operation),
    )


def _run_events(network: ReferenceNetwork, progress: Report | None) -> None:
    (program,) = network.programs
    # Packets are no part of cycles, and what the program has loaded need not be searched.
    gc.freeze()
    try:
        while network.run_events(_EVENTS_BETWEEN_REPORTS):
            if progress is not None:
                progress(Reached(program.fraction_done(), network.now_ps))
    finally:
        gc.unfreeze()
