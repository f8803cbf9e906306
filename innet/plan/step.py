"""The plan of a training step: what every rank runs, and what each operation becomes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from innet.plan.operation import Operation
from innet.plan.plan import Fabric
from innet.workload.actions import Asked, Call, Exchange
from innet.workload.program import Workload
from innet.workload.statements import CollectiveKind, Place


@dataclass(frozen=True, slots=True)
class Lowered:
    """An operation, what runs it, and why no switch takes part (empty when one does)."""

    operation: Operation
    how: str
    why: str


class Request(NamedTuple):
    """All that decides how an operation runs.

    `group` holds ranks. `call` is the collective with what only tells of one call of it (its
    axes, handle and place) left out, None for a message from group[0] to group[1].
    """

    group: tuple[int, ...]
    size: int
    call: Call | None = None

    @property
    def kind(self) -> CollectiveKind | Literal["send"]:
        """What is asked for."""
        return "send" if self.call is None else self.call.kind

    @property
    def lane(self) -> str | None:
        """What sets a collective apart from others of its group, so that both run at once."""
        return None if self.call is None else self.call.lane


def request_of(asked: Asked) -> Request:
    """Return what a rank asks the network for."""
    if isinstance(asked, Exchange):
        return Request((asked.source, asked.target), asked.size)
    call = asked._replace(axes=(), handle=None, place=_NOWHERE)
    return Request(asked.group, asked.size, call)


_NOWHERE = Place("", None)


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
