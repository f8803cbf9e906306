"""The one entry to the engines, and which of them runs a plan."""

import gc
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any, Literal

import numpy.typing as npt

from innet.engine.compiled import conditions as compiled_conditions
from innet.engine.compiled.messages.conditions import network_refusal, operation_refusal
from innet.engine.network import Network
from innet.engine.progress import Reached, Report
from innet.engine.recurrence.network import RecurrenceNetwork
from innet.engine.recurrence.run import run_recurrence
from innet.engine.reference.network import ReferenceNetwork
from innet.engine.reference.run import run_reference
from innet.engine.refused import RefusedError
from innet.engine.steps.driver import Limits, run_step
from innet.engine.steps.lowering import PlannedLowering, notice_ps
from innet.errors import MissingToolError
from innet.plan.operation import Operation, operation_of
from innet.plan.plan import Fabric, Plan
from innet.plan.step import StepPlan
from innet.trace.records import Trace
from innet.trace.steps import StepTrace
from innet.wire.dtypes import ITEMSIZE

Engine = Literal["auto", "reference", "compiled", "recurrence"]
Note = Callable[[str], None]

# Below so many hops the reference engine is done before Numba is loaded.
_HOPS_WORTH_COMPILING = 1_000_000


def simulate(
    plan: Plan,
    tensors: Sequence[npt.NDArray[Any]] | None = None,
    progress: Report | None = None,
    engine: Engine = "reference",
    note: Note | None = None,
) -> Trace:
    """Run a plan in simulated time.

    `tensors` holds a vector of `plan.elements` a worker, or is None for timing only. `progress`
    is told how far the run is, `note` what a user should know of the engine. `auto`
    takes the recurrence where it is exact, else the compiled engine for what is large and can be
    compiled, else the reference engine. Raises UnfinishedError when the run cannot finish,
    RefusedError when `engine` does not simulate it, MissingToolError without Numba.
    """
    if engine == "recurrence":
        return run_recurrence(plan, progress, note=note)
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
        return run_recurrence(plan, progress, note=note)
    except RefusedError:
        pass
    is_worth_it = _hops(plan, operation_of(plan)) >= _HOPS_WORTH_COMPILING
    if is_worth_it and compiled_conditions.refusal(plan) is None and _has_numba(note):
        return _compiled(plan, tensors, progress, note)
    return run_reference(plan, tensors, progress)


def _has_numba(note: Note | None) -> bool:
    """Whether what is to be compiled can be; say so if not."""
    found = find_spec("numba") is not None
    if not found and note is not None:
        note("Numba is not installed, so the reference engine runs instead of the compiled one")
    return found


def _hops(fabric: Fabric, operation: Operation) -> int:
    """About the packets of a loss-free operation, counted on every link."""
    format_ = operation.aggregation
    if format_ is None:
        return _hops_of_messages(fabric, operation)
    return 2 * len(operation.group) * -(-operation.elements // format_.elements_per_packet)


def _hops_of_messages(fabric: Fabric, operation: Operation) -> int:
    """About the data packets of a schedule and their acknowledgements, counted on every link."""
    schedule, stream, group = operation.schedule, operation.stream, operation.group
    assert schedule is not None
    assert stream is not None
    if not schedule.messages:
        return 0
    block_bytes = operation.elements * ITEMSIZE[operation.dtype] // schedule.blocks
    packets = sum(-(-m.count * block_bytes // stream.payload_bytes) for m in schedule.messages)
    first = schedule.messages[0]
    return 2 * packets * len(fabric.routes.path(group[first.source], group[first.target]))


def _compiled(
    plan: Plan,
    tensors: Sequence[npt.NDArray[Any]] | None,
    progress: Report | None,
    note: Note | None,
) -> Trace:
    _require_numba()
    from innet.engine.compiled.run import run_compiled

    return run_compiled(plan, progress, note, tensors)


def _require_numba() -> None:
    if find_spec("numba") is None:
        raise MissingToolError("the compiled engine needs Numba: pip install numba")


def simulate_step(
    plan: StepPlan,
    progress: Report | None = None,
    engine: Engine = "auto",
    note: Note | None = None,
) -> tuple[str, StepTrace]:
    """Run a training step in simulated time; return the name of the engine too.

    `progress` is told how far the step is, by calls done; `note` what a user should know of the
    engine. `auto` takes the recurrence where no operation disturbs another, else the compiled
    engine for what is large, else the reference engine. Raises UnfinishedError when the step
    cannot finish, RefusedError when `engine` does not run it, MissingToolError without Numba.
    """
    calls = _Calls(plan, progress)
    if engine == "auto":
        try:
            return "recurrence", _run_step(plan, RecurrenceNetwork(plan, note), calls)
        except RefusedError:
            engine = _engine_of_step(plan, note)
    if engine == "recurrence":
        return engine, _run_step(plan, RecurrenceNetwork(plan, note), calls)
    if engine == "compiled":
        return engine, _run_step(plan, _compiled_network(plan, note, calls), calls)
    return "reference", _run_step(plan, ReferenceNetwork(plan), calls)


class _Calls:
    """Counts the calls that a step's ranks have completed, and tells how far it is."""

    def __init__(self, plan: StepPlan, progress: Report | None) -> None:
        self._all, self._done, self._at_ps = plan.calls, 0, 0
        self._progress = progress

    def begin(self) -> None:
        """A network begins with the step."""
        self._done = self._at_ps = 0

    def completed(self, calls: int, at_ps: int) -> None:
        """Some calls, or none, are done at a time; the network may be ahead of completions."""
        self._done += calls
        self._at_ps = max(self._at_ps, at_ps)
        if self._progress is not None:
            self._progress(Reached(self._done / self._all, self._at_ps))


def _engine_of_step(plan: StepPlan, note: Note | None) -> Engine:
    """Return the engine for a step that the recurrence does not run."""
    if _refusal_of_step(plan) is not None or _hops_of_step(plan) < _HOPS_WORTH_COMPILING:
        return "reference"
    return "compiled" if _has_numba(note) else "reference"


def _refusal_of_step(plan: StepPlan) -> str | None:
    """Return why the compiled engine does not run a step, or None."""
    operations = [lowered.operation for lowered in plan.operations.values()]
    whys = (operation_refusal(plan, operation) for operation in operations)
    return network_refusal(plan) or next((why for why in whys if why is not None), None)


def _hops_of_step(plan: StepPlan) -> int:
    """About the hops of all operations: of those that are different, a mean for every call."""
    operations = [lowered.operation for lowered in plan.operations.values()]
    hops = sum(_hops(plan, operation) for operation in operations)
    members = sum(len(operation.group) for operation in operations)
    return hops * plan.calls // max(1, members)


def _compiled_network(plan: StepPlan, note: Note | None, calls: _Calls) -> Network:
    _require_numba()
    from innet.engine.compiled.messages.network import CompiledNetwork

    why = _refusal_of_step(plan)
    if why is not None:
        raise RefusedError("compiled", why)
    return CompiledNetwork(plan, note, lambda now_ps: calls.completed(0, now_ps))


def _run_step(plan: StepPlan, network: Network, calls: _Calls) -> StepTrace:
    calls.begin()
    lowering, limits = PlannedLowering(plan), Limits(plan.maximum_time_ps, notice_ps(plan))
    # Packets are no part of cycles, and what the network has loaded need not be searched.
    gc.freeze()
    try:
        return run_step(plan.workload, network, lowering, limits, calls.completed)
    finally:
        gc.unfreeze()
