"""A network on which many operations run: what a driver of training steps asks of an engine."""

from typing import NamedTuple, Protocol

from innet.plan.operation import Operation
from innet.trace.records import LinkRecord, SwitchRecord


class Completion(NamedTuple):
    """The rank at `place` of an operation's group has all that the operation gives it."""

    at_ps: int
    operation: int
    place: int


class Network(Protocol):
    """Operations are added, begun by each of their ranks at its own time, and completed.

    At one instant a node takes what arrives, then does its hosts' work, then its timers, then
    begins operations: what a rank begins at a time comes after all else at that time.
    """

    def add(self, operation: Operation) -> int:
        """Prepare an operation that nobody has begun; return its number, which counts from 0."""

    def begin(self, operation: int, place: int, now: int) -> None:
        """Let a rank enter an operation at `now`, once.

        `now` is not before the rank's last completion that `advance` returned, nor before what
        its host has simulated. Raises ValueError otherwise.
        """

    def advance(self, limit: int) -> tuple[Completion, ...]:
        """Simulate what happens before `limit`; return early when a rank has completed something.

        The completions are in order of time, then operation and place. A rank that completes
        something at t is not simulated beyond t, so that it may begin another operation at t;
        other nodes may be further on, by less than what separates them from the rank. An empty
        tuple means that nobody completes anything before `limit`. Raises UnfinishedError when
        the network waits for what can never come.
        """

    def links(self) -> tuple[LinkRecord, ...]:
        """What every link direction has counted so far."""

    def switches(self) -> tuple[SwitchRecord, ...]:
        """What every switch that aggregates has counted so far, in order of node."""
