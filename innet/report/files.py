"""Write a run directory: every file whole or not at all, the same bytes for the same results.

A file is written under a temporary name beside its place, flushed to the disk and renamed, so a
reader finds the old file or the new one, never a part. The manifest comes last.
"""

import csv
import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from innet.errors import ConfigurationError
from innet.metrics.rows import Row
from innet.report.results import Results, json_text

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
        raise _unwritable(folder, error) from None


def write_run(
    folder: Path,
    manifest: Mapping[str, Any],
    results: Results,
    workers: Sequence[Row],
    links: Sequence[Row],
) -> None:
    """Write manifest.json, summary.json, workers.csv and links.csv of a run.

    Raises ConfigurationError when a file cannot be written.
    """
    write_whole(folder / "summary.json", json_text(results.as_json()).encode())
    write_whole(folder / "workers.csv", _csv_text(workers).encode())
    write_whole(folder / "links.csv", _csv_text(links).encode())
    write_whole(folder / "manifest.json", json_text(manifest).encode())


def write_whole(path: Path, content: bytes) -> None:
    """Write a file at once, making its folder; ConfigurationError when that is impossible."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with temporary.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
        _flush_folder(path.parent)
    except OSError as error:
        raise _unwritable(path, error) from None


def _flush_folder(folder: Path) -> None:
    """Make the renaming itself durable; only systems that can open a folder need it."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _csv_text(rows: Sequence[Row]) -> str:
    text = io.StringIO()
    if rows:
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return text.getvalue()


def _unwritable(path: Path, error: OSError) -> ConfigurationError:
    return ConfigurationError(
        f"cannot be written: {error.strerror or error}; choose another folder with --out",
        file=str(path),
    )
