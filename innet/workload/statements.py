"""A training step as it was written: statements, each with its place in the file."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from innet.workload.expression import Expression

CollectiveKind = Literal[
    "all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast", "reduce", "gather"
]
Reduction = Literal["sum", "min", "max"]
ElementType = Literal["int32", "float32", "float16", "bfloat16"]
COLLECTIVES: tuple[CollectiveKind, ...] = get_args(CollectiveKind)
REDUCTIONS: tuple[Reduction, ...] = get_args(Reduction)
ELEMENT_TYPES: tuple[ElementType, ...] = get_args(ElementType)


class Place(NamedTuple):
    """Where a statement stands; `line` counts from 1, None for what an option gave."""

    file: str
    line: int | None

    def __str__(self) -> str:
        return self.file if self.line is None else f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Definition:
    """The value of a name of `let`."""

    value: Expression
    place: Place


@dataclass(frozen=True, slots=True)
class Compute:
    """Work on the rank's device for `time`."""

    time: Expression
    place: Place


@dataclass(frozen=True, slots=True)
class Collective:
    """A collective over the ranks that differ only along `over`.

    `size` is the whole vector's, of elements of `dtype` (None: the scenario's); `density` is the
    share of them that is not zero. An operation with a `quorum` completes for all when so many
    have contributed. With `bucket`, sizes are gathered by PyTorch's rule and one operation a
    bucket is issued. With `handle`, the rank goes on at once. Collectives of one group in
    different lanes run at once, as those of different communicators.
    """

    kind: CollectiveKind
    size: Expression
    over: tuple[str, ...]
    place: Place
    op: Reduction = "sum"
    root: Expression | None = None
    bucket: Expression | None = None
    handle: str | None = None
    dtype: ElementType | None = None
    density: Expression | None = None
    quorum: Expression | None = None
    lane: str | None = None


@dataclass(frozen=True, slots=True)
class Transfer:
    """A message to or from the rank whose coordinates along some axes are given by `peer`."""

    sends: bool
    peer: Mapping[str, Expression]
    size: Expression
    place: Place
    handle: str | None = None


@dataclass(frozen=True, slots=True)
class Wait:
    """Go on when all that was begun under `handle` is complete."""

    handle: str
    place: Place


@dataclass(frozen=True, slots=True)
class Repeat:
    """Do a list `count` times; `i` counts from 0 in it.

    With `slack`, an operation holds a rank only until the same one of `slack` turns before is
    complete, so that no rank is further than that ahead of another (stale synchronous).
    """

    count: Expression
    do: "Statements"
    place: Place
    slack: Expression | None = None


@dataclass(frozen=True, slots=True)
class Each:
    """Do a list for every layer of the model, forwards or backwards."""

    backwards: bool
    do: "Statements"
    place: Place


@dataclass(frozen=True, slots=True)
class When:
    """Do a list where a condition is not 0."""

    condition: Expression
    do: "Statements"
    place: Place


@dataclass(frozen=True, slots=True)
class Block:
    """Do the list of a named block."""

    name: str
    place: Place


Statement = Compute | Collective | Transfer | Wait | Repeat | Each | When | Block
Statements = tuple[Statement, ...]
