"""Files that are written whole or not at all.

A file is written under a temporary name beside its place, flushed to the disk and renamed, so a
reader finds the old file or the new one, never a part.
"""

import os
from pathlib import Path

from innet.errors import ConfigurationError


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
        raise unwritable(path, error) from None


def unwritable(path: Path, error: OSError) -> ConfigurationError:
    """Return the error that says why a file or folder cannot be written."""
    return ConfigurationError(f"cannot be written: {error.strerror or error}", file=str(path))


def _flush_folder(folder: Path) -> None:
    """Make the renaming itself durable; only systems that can open a folder need it."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
