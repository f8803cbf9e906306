"""What the ranks of a training step ask the network for, found by expanding every program."""

from typing import NamedTuple

from innet.errors import ConfigurationError
from innet.plan.step import Request, request_of
from innet.scenario.schema import Scenario
from innet.scenario.step import actions_of, workload_of
from innet.wire.dtypes import ITEMSIZE, DType
from innet.workload.actions import Call, Exchange
from innet.workload.program import Workload

_SUMMED = ("all_reduce", "reduce_scatter", "reduce")


class StepRequests(NamedTuple):
    """A workload with everything different that its ranks ask for, and how often they do."""

    workload: Workload
    requests: tuple[Request, ...]
    calls: int


def requests_of(scenario: Scenario) -> StepRequests:
    """Return what the ranks of a training scenario ask for.

    Raises ConfigurationError, with line and rank, for an expression that has no right value and
    for a sum of no whole number of elements.
    """
    assert scenario.training is not None
    workload, dtype = workload_of(scenario), scenario.training.dtype
    found: dict[Request, None] = {}
    calls = 0
    for rank in range(workload.mesh.ranks):
        for action in actions_of(scenario, workload, rank):
            if not isinstance(action, Call | Exchange):
                continue
            request = request_of(action)
            if not request.size or len(request.group) == 1:
                continue
            calls += 1
            if request not in found:
                _refuse_part_of_element(action, rank, dtype)
                found[request] = None
    return StepRequests(workload, tuple(found), calls)


def _refuse_part_of_element(action: Call | Exchange, rank: int, default: DType) -> None:
    if not isinstance(action, Call) or action.kind not in _SUMMED:
        return
    dtype = action.dtype or default
    item = ITEMSIZE[dtype]
    if action.size % item:
        told = f"{action.size} B is not a whole number of {dtype} elements of {item} B"
        raise ConfigurationError(
            f"rank {rank}: {action.kind}: {told}", file=action.place.file, line=action.place.line
        )
