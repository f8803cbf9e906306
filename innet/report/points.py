"""What came out of one point of a sweep, kept in a file of its own until the sweep is over."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from innet.files import write_whole
from innet.metrics.figures import RunSummary
from innet.metrics.rows import Row
from innet.metrics.step_figures import StepSummary
from innet.report.results import FORMAT_VERSION, Unfinished, json_text


@dataclass(frozen=True, slots=True)
class PointRecord:
    """The runs of a point without its swept keys: equal points of sweeps share a record.

    `failed` holds (algorithm, what to say of it) of wrong sums and unfinished runs; `rows`
    those of each CSV file by its name. `error` says why nothing could be run; the rest is empty
    then. `spans` is the file of spans, in base64, of a point that is a scenario's only one.
    """

    version: int
    scenario: dict[str, Any]
    runs: Sequence[RunSummary | StepSummary] = ()
    unfinished: Sequence[Unfinished] = ()
    failed: Sequence[tuple[str, str]] = ()
    rows: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    error: str | None = None
    spans: str = ""


def write_point(path: Path, record: PointRecord) -> None:
    """Write a record whole or not at all; ConfigurationError when that is impossible."""
    write_whole(path, json_text(asdict(record)).encode())


def read_point(path: Path) -> PointRecord | None:
    """Return a point's record; None when there is none that this innet can read."""
    try:
        record = TypeAdapter(PointRecord).validate_json(path.read_bytes(), strict=True)
    except (OSError, ValidationError):
        return None
    return record if record.version == FORMAT_VERSION else None
