"""Write the run directory of a training scenario, as `files.py` does for a collective's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from innet.files import write_whole
from innet.metrics.rows import Row
from innet.report.files import csv_text
from innet.report.results import json_text
from innet.report.step_results import StepResults

SPANS = "spans.csv.gz"


@dataclass(slots=True)
class StepRows:
    """The rows of ranks.csv, operations.csv and links.csv, each with the swept keys first."""

    ranks: list[Row] = field(default_factory=list)
    operations: list[Row] = field(default_factory=list)
    links: list[Row] = field(default_factory=list)


def write_step_run(
    folder: Path,
    manifest: Mapping[str, Any],
    results: StepResults,
    rows: StepRows,
    spans: bytes | None,
) -> None:
    """Write the files of a run, with spans.csv.gz where there are spans to keep.

    Raises ConfigurationError when a file cannot be written.
    """
    write_whole(folder / "summary.json", json_text(results.as_json()).encode())
    tables: Mapping[str, Sequence[Row]] = {
        "ranks.csv": rows.ranks,
        "operations.csv": rows.operations,
        "links.csv": rows.links,
    }
    for name, table in tables.items():
        write_whole(folder / name, csv_text(table).encode())
    if spans is None:
        # An earlier run of the same name may have left other spans here.
        (folder / SPANS).unlink(missing_ok=True)
    else:
        write_whole(folder / SPANS, spans)
    write_whole(folder / "manifest.json", json_text(manifest).encode())
