"""A sweep's points done, running, failed and left, on stderr, when it takes more than a second.

A terminal gets a table that is renewed and goes away; anything else gets a line every few seconds.
"""

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

from innet.cli.progress import BAR_EVERY_S, Display, shown, time_left

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


def shown_status(quiet: bool) -> AbstractContextManager[Callable[[Status], None]]:
    """Give a function that takes a sweep's status and shows it, or not when `quiet`."""
    return shown(quiet, _LiveTable, _Lines)


class _Lines(Display[Status]):
    """A line after a second and then every few."""

    def draw(self, step: Status, elapsed_s: float) -> None:
        told = ", ".join(f"{count} {what}" for what, count in _counts(step))
        left = time_left(elapsed_s, step.share)
        print(f"innet: points: {told}, {left}", file=sys.stderr, flush=True)


class _LiveTable(Display[Status]):
    """Rich's live display; made when the work has taken a second."""

    every_s = BAR_EVERY_S

    def __init__(self) -> None:
        super().__init__()
        self._live: Live | None = None

    def draw(self, step: Status, elapsed_s: float) -> None:
        table = _table(step, time_left(elapsed_s, step.share))
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
