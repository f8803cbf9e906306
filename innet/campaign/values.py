"""The tensors of a point: made by seed or read from files, and compared with what came out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from innet.errors import ConfigurationError
from innet.plan.plan import Plan
from innet.scenario.build import should_check
from innet.scenario.schema import Scenario
from innet.tensors.generate import generate
from innet.tensors.read import read_tensors
from innet.tensors.verify import BlockLayout, verify
from innet.trace.records import Trace
from innet.wire.dtypes import widen
from innet.wire.fixed_point import NumericError, block_exponents

Vector = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Values:
    """What the workers of a point hold: `elements` each; `tensors` is None when timing only."""

    tensors: Sequence[Vector] | None
    elements: int

    @property
    def carried(self) -> bool:
        """Whether values travel and are checked."""
        return self.tensors is not None


def load_values(scenario: Scenario) -> Values:
    """Return the tensors of a point.

    Raises ConfigurationError for files that cannot be read or do not fit the scenario.
    """
    collective, workers = scenario.collective, scenario.topology.workers
    if scenario.tensor_files:
        tensors = read_tensors(scenario.tensor_files, workers, collective.dtype)
        if "in_network" in scenario.algorithms and collective.dtype != "int32":
            _require_summable(tensors, scenario)
        elements = int(tensors[0].size)
        return Values(tensors if should_check(scenario, elements) else None, elements)
    assert collective.elements is not None
    if not should_check(scenario):
        return Values(None, collective.elements)
    made = [
        generate(worker, collective.elements, collective.dtype, scenario.seed)
        for worker in range(workers)
    ]
    return Values(made, collective.elements)


def _require_summable(tensors: Sequence[Vector], scenario: Scenario) -> None:
    """Refuse values that block floating point cannot carry, before anything is run."""
    files, dtype = scenario.tensor_files, scenario.collective.dtype
    for worker, vector in enumerate(tensors):
        try:
            block_exponents(
                widen(vector, dtype),
                scenario.packet.elements,
                tensor=f"the tensor of worker {worker}",
            )
        except NumericError as error:
            file = files[worker] if len(files) > 1 else files[0]
            raise ConfigurationError(error.message, file=str(file)) from None


def wrong_elements(values: Values, plan: Plan, trace: Trace) -> tuple[int, str]:
    """Return how many elements of all workers' results are wrong, and what tells of the first."""
    if values.tensors is None or trace.results is None:
        return 0, ""
    if plan.aggregation is None:
        found = verify(trace.results, values.tensors, plan.dtype, "point_to_point")
    else:
        layout = BlockLayout(plan.aggregation.elements_per_packet, plan.hosts[0].cores)
        found = verify(trace.results, values.tensors, plan.dtype, "in_network", layout)
    return found.wrong, found.message
