"""What a rank does in a training step, one action after another, with all values known."""

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from innet.workload.statements import CollectiveKind, ElementType, Place, Reduction


@dataclass(frozen=True, slots=True)
class TimedLayer:
    """A layer as a rank sees it: times in ps, and the bytes of each gradient in its order."""

    name: str
    forward_ps: int
    backward_ps: int
    gradients: tuple[int, ...]
    parameters: int


class Work(NamedTuple):
    """Compute for a time."""

    duration_ps: int
    place: Place


class Call(NamedTuple):
    """Enter a collective of `group`, which holds ranks; `root` is a place in it.

    `size` is the bytes of the whole vector of `dtype` (None: the scenario's), zeros included;
    `density` is the share of its elements that are not zero, None where it is not sparse.
    `quorum` is how many members complete it for all, None where all must. Of the collectives
    of a group, those of one `lane` run one after another.
    """

    kind: CollectiveKind
    axes: tuple[str, ...]
    group: tuple[int, ...]
    size: int
    op: Reduction
    root: int
    handle: str | None
    place: Place
    dtype: ElementType | None = None
    density: Fraction | None = None
    quorum: int | None = None
    lane: str | None = None

    @property
    def terms(self) -> tuple[object, ...]:
        """What the calls of one operation have in common, beside group and size."""
        return (self.kind, self.op, self.root, self.dtype, self.density, self.quorum)


class Exchange(NamedTuple):
    """Send to `target` or receive from `source`; one of them is the rank itself."""

    sends: bool
    axes: tuple[str, ...]
    source: int
    target: int
    size: int
    handle: str | None
    place: Place


class Await(NamedTuple):
    """Wait for all that was begun under a handle."""

    handle: str
    place: Place


Asked = Call | Exchange
Action = Work | Asked | Await
