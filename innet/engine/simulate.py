"""The one entry to the engines."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy.typing as npt

from innet.engine.reference.aggregation import AggregationRun
from innet.engine.reference.messages import MessageRun
from innet.plan.plan import Plan
from innet.trace.records import Trace


def simulate(
    plan: Plan,
    tensors: Sequence[npt.NDArray[Any]] | None = None,
    progress: Callable[[float], None] | None = None,
) -> Trace:
    """Run a plan in simulated time.

    `tensors` holds a vector of `plan.elements` a worker, or is None for timing only. `progress`
    is called with the fraction done. Raises UnfinishedError when the run cannot finish.
    """
    vectors = None if tensors is None else list(tensors)
    kind = MessageRun if plan.aggregation is None else AggregationRun
    return kind(plan, vectors).run(progress)
