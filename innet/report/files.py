"""Write a run directory: every file whole or not at all, the same bytes for the same results.

The manifest comes last.
"""

import csv
import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from innet.files import unwritable, write_whole
from innet.metrics.rows import Row
from innet.report.results import json_text

PLOTS = "plots"


def prepare_folder(folder: Path) -> None:
    """Make a run directory and try to write in it, before any work is done.

    Raises ConfigurationError when the folder cannot be made or written.
    """
    probe = folder / f".probe.{os.getpid()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise unwritable(folder, error) from None


def write_run(
    folder: Path,
    manifest: Mapping[str, Any],
    summary: Mapping[str, Any],
    tables: Mapping[str, Sequence[Row]],
    others: Mapping[str, bytes] = MappingProxyType({}),
) -> None:
    """Write manifest.json, summary.json and, for each of `tables`, NAME.csv of a run.

    `others` are more files by name; an empty one is removed, which an earlier run may have left.
    Raises ConfigurationError when a file cannot be written.
    """
    write_whole(folder / "summary.json", json_text(summary).encode())
    for name, rows in tables.items():
        write_whole(folder / f"{name}.csv", csv_text(rows).encode())
    for name, content in others.items():
        if content:
            write_whole(folder / name, content)
        else:
            (folder / name).unlink(missing_ok=True)
    write_whole(folder / "manifest.json", json_text(manifest).encode())


def csv_text(rows: Sequence[Row]) -> str:
    """Write rows with the same columns as CSV, with a line of heads; nothing for no rows."""
    text = io.StringIO()
    if rows:
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return text.getvalue()
