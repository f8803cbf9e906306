"""The one entry to the engines, and which of them runs a plan."""

import gc
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any, Literal

import numpy.typing as npt

from innet.engine.compiled import conditions as compiled_conditions
from innet.engine.network import Network
from innet.engine.recurrence.network import RecurrenceNetwork
from innet.engine.recurrence.run import run_recurrence
from innet.engine.reference.network import ReferenceNetwork
from innet.engine.reference.run import run_reference
from innet.engine.refused import RefusedError
from innet.engine.steps.driver import Limits, run_step
from innet.engine.steps.lowering import PlannedLowering
from innet.errors import MissingToolError
from innet.plan.plan import Plan
from innet.plan.step import StepPlan
from innet.trace.records import Trace
from innet.trace.steps import StepTrace
from innet.wire.dtypes import ITEMSIZE

Engine = Literal["auto", "reference", "compiled", "recurrence"]
Report = Callable[[float], None]
Note = Callable[[str], None]

# Below so many hops the reference engine is done before Numba is loaded.
_HOPS_WORTH_COMPILING = 200_000


def simulate(
    plan: Plan,
    tensors: Sequence[npt.NDArray[Any]] | None = None,
    progress: Report | None = None,
    engine: Engine = "reference",
    note: Note | None = None,
) -> Trace:
    """Run a plan in simulated time.

    `tensors` holds a vector of `plan.elements` a worker, or is None for timing only. `progress`
    is called with the fraction done, `note` with what a user should know of the engine. `auto`
    takes the recurrence where it is exact, else the compiled engine for what is large and can be
    compiled, else the reference engine. Raises UnfinishedError when the run cannot finish,
    RefusedError when `engine` does not simulate it, MissingToolError without Numba.
    """
    if engine == "recurrence":
        return run_recurrence(plan, progress)
    if engine == "compiled":
        return _compiled(plan, tensors, progress, note)
    if engine == "auto":
        return _fastest(plan, tensors, progress, note)
    return run_reference(plan, tensors, progress)


def _fastest(
    plan: Plan,
    tensors: Sequence[npt.NDArray[Any]] | None,
    progress: Report | None,
    note: Note | None,
) -> Trace:
    try:
        return run_recurrence(plan, progress)
    except RefusedError:
        pass
    if _hops(plan) >= _HOPS_WORTH_COMPILING and compiled_conditions.refusal(plan) is None:
        if find_spec("numba") is not None:
            return _compiled(plan, tensors, progress, note)
        if note is not None:
            note("Numba is not installed, so the reference engine runs instead of the compiled one")
    return run_reference(plan, tensors, progress)


def _hops(plan: Plan) -> int:
    """The packets of a loss-free run, counted on every link."""
    if plan.aggregation is None:
        return _hops_of_messages(plan)
    return 2 * plan.workers * -(-plan.elements // plan.aggregation.elements_per_packet)


def _hops_of_messages(plan: Plan) -> int:
    """About the data packets of a schedule and their acknowledgements, counted on every link."""
    schedule, stream = plan.schedule, plan.stream
    assert schedule is not None
    assert stream is not None
    if not schedule.messages:
        return 0
    block_bytes = plan.elements * ITEMSIZE[plan.dtype] // schedule.blocks
    packets = sum(-(-m.count * block_bytes // stream.payload_bytes) for m in schedule.messages)
    first = schedule.messages[0]
    return 2 * packets * len(plan.routes.path(first.source, first.target))


def _compiled(
    plan: Plan,
    tensors: Sequence[npt.NDArray[Any]] | None,
    progress: Report | None,
    note: Note | None,
) -> Trace:
    if find_spec("numba") is None:
        raise MissingToolError("the compiled engine needs Numba: pip install numba")
    from innet.engine.compiled.run import run_compiled

    return run_compiled(plan, progress, note, tensors)


def simulate_step(
    plan: StepPlan,
    progress: Report | None = None,
    engine: Engine = "auto",
    note: Note | None = None,
) -> tuple[str, StepTrace]:
    """Run a training step in simulated time; return the name of the engine too.

    `progress` is called with the fraction done. `auto` takes the recurrence where no operation
    disturbs another, else the reference engine. Raises UnfinishedError when the step cannot
    finish, RefusedError when `engine` does not run it.
    """
    if engine == "reference":
        return engine, _run_step(plan, ReferenceNetwork(plan), progress)
    if engine == "recurrence":
        return engine, _run_step(plan, RecurrenceNetwork(plan), progress)
    if engine == "compiled":
        raise RefusedError(engine, "it runs single collectives, and this is a training step")
    try:
        return "recurrence", _run_step(plan, RecurrenceNetwork(plan), progress)
    except RefusedError:
        return "reference", _run_step(plan, ReferenceNetwork(plan), progress)


def _run_step(plan: StepPlan, network: Network, progress: Report | None) -> StepTrace:
    done = 0

    def report(completed: int) -> None:
        nonlocal done
        done += completed
        if progress is not None:
            progress(done / plan.calls)

    lowering, limits = PlannedLowering(plan), Limits(plan.maximum_time_ps)
    # Packets are no part of cycles, and what the network has loaded need not be searched.
    gc.freeze()
    try:
        return run_step(plan.workload, network, lowering, limits, report)
    finally:
        gc.unfreeze()
