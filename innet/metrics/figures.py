"""The figures of one run, as the table shows them and `--json` prints them."""

from dataclasses import asdict, dataclass, field
from typing import Any

from innet.metrics.diagnosis import Limit
from innet.plan.plan import DType

OPERATION = "all_reduce"

# What `innet run --json` prints of a run; scripts rely on these names.
JSON_KEYS = (
    "algorithm",
    "workers",
    "size_bytes",
    "time_ps",
    "bound_ps",
    "algbw_bps",
    "busbw_bps",
    "wrong",
    "checked",
    "wire_bytes_per_nic",
    "packets",
    "dropped",
    "retransmissions",
    "limited_by",
)


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One algorithm at one point. Units are in the names; `_bps` is bit/s.

    `time_ps` is when the last worker held its result, counted from time 0. `wrong` counts
    elements over all workers and is 0 when not `checked`, which means timing only.
    `busbw_equivalent` marks a busbw that is no rate on any wire (in-network aggregation).
    `packets` were sent by hosts, repeats included; `dropped` were lost on links, dropped by
    queues or corrupted. `wire_bytes_per_nic` are the medium bytes of the busier direction of
    the busiest host's interface. `class_bytes` are the medium bytes of all links of each class,
    where there are several classes, and empty otherwise.
    """

    algorithm: str
    workers: int
    size_bytes: int
    elements: int
    dtype: DType
    time_ps: int
    bound_ps: int
    algbw_bps: int
    busbw_bps: int
    busbw_equivalent: bool
    wrong: int
    checked: bool
    wire_bytes_per_nic: int
    packets: int
    dropped: int
    retransmissions: int
    limited_by: Limit
    because: str
    help: str
    engine: str
    class_bytes: dict[str, int] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the run's object of the `--json` output."""
        return {key: getattr(self, key) for key in JSON_KEYS}

    def as_stored(self) -> dict[str, Any]:
        """Return the run's object of summary.json: that of `--json` and what reports need."""
        stored = {**self.as_json(), **asdict(self)}
        if not self.class_bytes:
            del stored["class_bytes"]
        return stored
