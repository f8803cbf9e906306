"""One collective of one group of ranks, of which a network runs many."""

from dataclasses import dataclass
from typing import Literal

from innet.collectives.schedule import Schedule
from innet.plan.plan import Aggregation, DType, Plan, Rto, Stream

OperationKind = Literal[
    "all_reduce",
    "reduce_scatter",
    "all_gather",
    "all_to_all",
    "broadcast",
    "reduce",
    "gather",
    "send",
]


@dataclass(frozen=True, slots=True)
class Operation:
    """One collective: in the network (`aggregation`) or point to point (`stream`, `schedule`).

    `group[place]` is a rank, an index into the hosts of the network; schedules, trees and `root`
    speak of places. `elements` is the length of the whole vector, whatever a member's share of
    it; that of an all_to_all is what all members send, see innet.collectives.operations. `root` has
    a meaning for broadcast, reduce and gather alone.

    In the network, operations of one `job` share its slots and its sequence numbers, so they
    have the same group and aggregation, and each rank runs them one after another, in the order
    in which they were added. Different jobs have different slots. Point to point, every operation
    has streams of its own and `job` has no meaning. A rank completes an operation when it has all
    that it receives; the source of a `send`, when its last packet has been sent the first time.
    """

    kind: OperationKind
    group: tuple[int, ...]
    elements: int
    dtype: DType
    rto: Rto
    aggregation: Aggregation | None = None
    stream: Stream | None = None
    schedule: Schedule | None = None
    job: int = 0
    root: int = 0


def operation_of(plan: Plan) -> Operation:
    """Return a plan's collective as an operation of all its ranks."""
    return Operation(
        "all_reduce",
        tuple(range(len(plan.hosts))),
        plan.elements,
        plan.dtype,
        plan.rto,
        plan.aggregation,
        plan.stream,
        plan.schedule,
    )
