"""What a program of an operation, which says what hosts and switches do, is to the network."""

from collections.abc import Iterable
from typing import Any, Protocol

import numpy.typing as npt

from innet.errors import UnfinishedError
from innet.trace.records import RankRecord
from innet.units import format_duration

Vector = npt.NDArray[Any]


class Program(Protocol):
    """One schedule of messages, or one job of operations in the network."""

    def start(self, operation: int, place: int, now: int) -> None:
        """A rank enters an operation, or enters it again after it has lost its state."""

    def lose_state(self, node: int, now: int) -> None:
        """A node goes down and loses its state."""

    def progress_made(self) -> int:
        """A number that grows as long as something is moving."""

    def fraction_done(self) -> float:
        """How much of all that was added is done, 0 to 1."""

    def waiting(self) -> list[str]:
        """Who waits for what."""

    def results(self, operation: int) -> tuple[Vector, ...] | None:
        """The vector of every worker, None when timing only."""

    def record(self, place: int, finish_ps: int) -> RankRecord:
        """What the rank at a place has counted in the program."""


def unfinished(why: str, now: int, waiting: Iterable[str]) -> UnfinishedError:
    """The error that a run cannot go on, which names who waits for what."""
    lines = list(waiting)[:10]
    return UnfinishedError("\n  ".join([f"{why} (at {format_duration(now)})", *lines]))
