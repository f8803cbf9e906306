"""A sweep's points done, running, failed and left, on stderr, when it takes more than a second.

A terminal gets a table that is renewed and goes away; anything else gets a line every few seconds.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from innet.cli.progress import BAR_EVERY_S, LINE_EVERY_S, PATIENCE_S, time_left

if TYPE_CHECKING:
    from rich.live import Live
    from rich.table import Table


class Status(Protocol):
    """How far a sweep is, in points; `kept` of those done are of an earlier sweep."""

    @property
    def kept(self) -> int:
        """Points that were there."""

    @property
    def done(self) -> int:
        """Points that are there."""

    @property
    def running(self) -> int:
        """Points that are being run."""

    @property
    def failed(self) -> int:
        """Points that could not be run."""

    @property
    def left(self) -> int:
        """Points that wait."""

    @property
    def share(self) -> float:
        """How much of the work is done, 0 to 1."""


@contextmanager
def shown_status(quiet: bool) -> Iterator[Callable[[Status], None]]:
    """Give a function that takes a sweep's status and shows it, or not when `quiet`."""
    if quiet:
        yield lambda status: None
        return
    display = _LiveTable() if sys.stderr.isatty() else _Lines()
    try:
        yield display.show
    finally:
        display.close()


class _Lines:
    """A line after a second and then every few."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._next = self._start + PATIENCE_S

    def show(self, status: Status) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + LINE_EVERY_S
        told = ", ".join(f"{count} {what}" for what, count in _counts(status))
        left = time_left(now - self._start, status.share)
        print(f"innet: points: {told}, {left}", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Leave the lines where they are."""


class _LiveTable:
    """Rich's live display; made when the work has taken a second."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._next = self._start + PATIENCE_S
        self._live: Live | None = None

    def show(self, status: Status) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + BAR_EVERY_S
        table = _table(status, time_left(now - self._start, status.share))
        if self._live is None:
            self._live = _opened(table)
        else:
            self._live.update(table)

    def close(self) -> None:
        if self._live is not None:
            self._live.stop()


def _opened(table: "Table") -> "Live":
    from rich.console import Console
    from rich.live import Live

    live = Live(table, console=Console(stderr=True), transient=True)
    live.start()
    return live


def _table(status: Status, left: str) -> "Table":
    from rich.table import Table

    table = Table(title=f"points, {left}")
    for what, _ in _counts(status):
        table.add_column(what, justify="right")
    table.add_row(*(str(count) for _, count in _counts(status)))
    return table


def _counts(status: Status) -> list[tuple[str, int]]:
    """Return what there is to count, with the counts; points kept are told only if any."""
    counts = [
        ("done", status.done),
        ("running", status.running),
        ("failed", status.failed),
        ("waiting", status.left),
    ]
    return counts if status.kept == 0 else [("kept", status.kept), *counts]
