"""What a training step leaves behind: what every rank did when, and what the network counted."""

from dataclasses import dataclass
from typing import NamedTuple

from innet.trace.records import LinkRecord, SwitchRecord

COMPUTE = "compute"


class Span(NamedTuple):
    """A rank's `operation` from `start_ps` to `end_ps`, in picoseconds of simulated time.

    `axes` are the mesh's axes that a collective or message goes over, joined by commas; empty for
    compute. Waiting for others inside an operation is part of it. Spans with one `number` are one
    operation of several ranks, and `decision` is the place of what was decided of it in
    `StepTrace.decisions`; both are -1 for compute.
    """

    rank: int
    operation: str
    axes: str
    start_ps: int
    end_ps: int
    size_bytes: int = 0
    number: int = -1
    decision: int = -1


class Decision(NamedTuple):
    """How a kind of operation ran: `how` names the algorithm, `why` says why not in the network.

    `calls` counts operations, not ranks; `size_bytes` is the sum of their whole vectors.
    `modelled` says what stands for something that no network here does, such as a quorum.
    """

    operation: str
    axes: str
    how: str
    why: str
    calls: int
    size_bytes: int
    modelled: str = ""

    @property
    def offloaded(self) -> bool:
        """Whether a switch took part."""
        return not self.why


@dataclass(frozen=True, slots=True)
class StepTrace:
    """One step of all ranks. `finish_ps[rank]` is when a rank and all that it began was done."""

    spans: tuple[Span, ...]
    finish_ps: tuple[int, ...]
    decisions: tuple[Decision, ...]
    links: tuple[LinkRecord, ...]
    switches: tuple[SwitchRecord, ...]
