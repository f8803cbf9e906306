"""The figures of one training step by one algorithm, as tables show them and files keep them."""

from dataclasses import dataclass

IN_NETWORK = "in_network"


@dataclass(frozen=True, slots=True)
class OpenTimes:
    """For how long operations were open at a rank, in ps.

    Exposed is open without compute, hidden is open under compute. Waiting is the part of exposed
    in which none of the open operations had been entered by all the ranks that it needed (a
    message: by its sender), so that no network could have ended it sooner.
    """

    exposed_ps: int
    waiting_ps: int
    hidden_ps: int


@dataclass(frozen=True, slots=True)
class RankTimes:
    """What a rank did during the step, in ps: compute + exposed + idle is the step's time.

    Idle is neither compute nor an open operation: above all, after the rank's own end.
    """

    compute_ps: int
    exposed_ps: int
    waiting_ps: int
    hidden_ps: int
    idle_ps: int


@dataclass(frozen=True, slots=True)
class OperationFigures:
    """The operations of one kind over the same axes of which the same was decided.

    `how` names what ran them; `why` says why no switch took part, and is empty when one did;
    `modelled` says what stands for something that no network here does, and is mostly empty.
    `calls` counts operations, not ranks; `size_bytes` is the sum of their whole vectors. Times
    are of the union of their own spans at a rank, whatever else was open there, so those of
    several rows overlap; a rank that takes no part counts with 0 in the mean.
    """

    operation: str
    axes: str
    how: str
    why: str
    modelled: str
    calls: int
    size_bytes: int
    mean: OpenTimes
    slowest: OpenTimes

    @property
    def offloaded(self) -> bool:
        """Whether a switch took part."""
        return not self.why

    @property
    def name(self) -> str:
        """What to call them in a sentence, for example `all_reduce over dp`."""
        return f"{self.operation} over {self.axes}" if self.axes else self.operation


@dataclass(frozen=True, slots=True)
class ClassFigures:
    """The links of one class: medium bytes of all, and the direction that was busy longest."""

    link_class: str
    bytes: int
    busiest: str
    busiest_rate_bps: int
    busiest_ps: int


@dataclass(frozen=True, slots=True)
class StepSummary:
    """One step by one algorithm at one point.

    `step_ps` is from time 0 until the last rank, and all that it began, was done; `slowest_rank`
    is that rank, the first of equal ones. `bound_ps` is the longest compute of a rank, below
    which no network can bring the step. `mean` is over all ranks, rounded half to even.
    `dropped` packets were lost on links, dropped by queues or corrupted. `limited_by` is
    `compute`, `waiting`, or the name of the operations that cost the most.
    """

    algorithm: str
    engine: str
    ranks: int
    step_ps: int
    bound_ps: int
    slowest_rank: int
    mean: RankTimes
    slowest: RankTimes
    operations: tuple[OperationFigures, ...]
    link_classes: tuple[ClassFigures, ...]
    dropped: int
    limited_by: str
    because: str
    help: str
