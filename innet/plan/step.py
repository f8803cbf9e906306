"""The plan of a training step: what every rank runs, and what each operation becomes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from innet.plan.operation import Operation, OperationKind
from innet.plan.plan import Fabric
from innet.workload.program import Call, Exchange, Workload
from innet.workload.statements import Reduction


@dataclass(frozen=True, slots=True)
class Lowered:
    """An operation, what runs it, and why no switch takes part (empty when one does)."""

    operation: Operation
    how: str
    why: str


class Request(NamedTuple):
    """All that decides how an operation runs. `group` holds ranks, `root` is a place in it."""

    kind: OperationKind
    group: tuple[int, ...]
    size: int
    op: Reduction = "sum"
    root: int = 0


def request_of(asked: Call | Exchange) -> Request:
    """Return what a rank asks the network for."""
    if isinstance(asked, Exchange):
        return Request("send", (asked.source, asked.target), asked.size)
    return Request(asked.kind, asked.group, asked.size, asked.op, asked.root)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepPlan(Fabric):
    """One run of a training step. `operations` has everything that some rank may ask for.

    `algorithm` is in_network or the point-to-point all-reduce that everything runs with.
    `calls` is how many operations all ranks together complete, which measures progress.
    """

    name: str
    algorithm: str
    workload: Workload
    operations: Mapping[Request, Lowered]
    calls: int
