"""How every operation of a training step runs: in the network, or by which schedule and why."""

from collections.abc import Sequence
from dataclasses import dataclass

from innet.collectives.exchange import exchanged_elements
from innet.collectives.operations import build_operation_schedule
from innet.collectives.schedule import Schedule
from innet.plan.offload import Offer, at_switch, plan_offload
from innet.plan.operation import Operation, OperationKind
from innet.plan.plan import Aggregation, Rto, Stream
from innet.plan.step import Lowered, Request
from innet.scenario.build import format_of
from innet.scenario.schema import Scenario
from innet.topology.routes import Routes
from innet.wire.dtypes import ITEMSIZE, DType
from innet.workload.sparse import as_exchange


@dataclass(frozen=True, slots=True)
class Way:
    """How an operation runs: by an aggregation, or by a schedule and why by none."""

    kind: OperationKind
    group: tuple[int, ...]
    root: int
    elements: int
    dtype: DType
    how: str
    why: str
    aggregation: Aggregation | None = None
    job: int = 0
    schedule: Schedule | None = None

    def lowered(self, stream: Stream, rto: Rto) -> Lowered:
        """Return the operation with its timeout."""
        operation = Operation(
            self.kind,
            self.group,
            self.elements,
            self.dtype,
            rto,
            self.aggregation,
            None if self.schedule is None else stream,
            self.schedule,
            self.job,
            self.root,
        )
        return Lowered(operation, self.how, self.why)


def ways_of(
    scenario: Scenario,
    algorithm: str,
    routes: Routes,
    requests: Sequence[Request],
) -> dict[Request, Way]:
    """Return how every request runs; `routes` are those between all ranks.

    With a point-to-point `algorithm` everything runs by it or its kin; with in_network, what no
    switch takes part in runs by the scenario's fallback.
    """
    assert scenario.training is not None
    dtype = scenario.training.dtype
    if algorithm != "in_network":
        messages = _PointToPoint(algorithm, dtype)
        return {each: messages.way(each, f"{algorithm} was asked for") for each in requests}
    messages = _PointToPoint(scenario.training.fallback, dtype)
    resources, format_ = scenario.switch.resources, format_of(scenario)
    offers = plan_offload(requests, dtype, routes, resources, format_, scenario.host.cores)
    return {
        request: messages.way(request, offer)
        if isinstance(offer, str)
        else _in_network(request, offer, dtype)
        for request, offer in offers.items()
    }


def _in_network(request: Request, offer: Offer, default: DType) -> Way:
    assert request.call is not None
    call = at_switch(request.call, default)
    dtype = call.dtype or default
    return Way(
        call.kind,
        call.group,
        call.root,
        _elements(call.size, dtype),
        dtype,
        "in_network",
        "",
        offer.aggregation,
        offer.job,
    )


def _elements(size_bytes: int, dtype: DType) -> int:
    """Return the elements of a vector; what is only moved may end within an element."""
    return -(-size_bytes // ITEMSIZE[dtype])


class _PointToPoint:
    """How requests run by messages: as the parts of an all-reduce's `algorithm`, or its like."""

    def __init__(self, algorithm: str, dtype: DType) -> None:
        self._algorithm, self._dtype = algorithm, dtype
        self._schedules: dict[tuple[object, ...], Schedule] = {}

    def way(self, request: Request, why: str) -> Way:
        """Return how a request runs, given why no switch takes part."""
        if request.call is None:
            elements = _elements(request.size, self._dtype)
            told = "a message has no sum"
            return self._way("send", request.group, 0, elements, self._dtype, told)
        call = as_exchange(request.call, ITEMSIZE[request.call.dtype or self._dtype])
        dtype = call.dtype or self._dtype
        elements = _elements(call.size, dtype)
        if call.kind == "all_to_all":
            # The size is that of what one rank sends, an operation's that of what all send.
            elements = exchanged_elements(len(call.group), elements)
        return self._way(call.kind, call.group, call.root, elements, dtype, why)

    def _way(
        self,
        kind: OperationKind,
        group: tuple[int, ...],
        root: int,
        elements: int,
        dtype: DType,
        why: str,
    ) -> Way:
        schedule = self._schedule(kind, len(group), elements, ITEMSIZE[dtype], root)
        how = schedule.algorithm
        return Way(kind, group, root, elements, dtype, how, why, schedule=schedule)

    def _schedule(self, kind: str, *terms: int) -> Schedule:
        """Return a schedule; groups that are alike share it."""
        key = (kind, *terms)
        if key not in self._schedules:
            self._schedules[key] = build_operation_schedule(kind, self._algorithm, *terms)
        return self._schedules[key]
