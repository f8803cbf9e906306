"""Which ranks have begun and completed which operations."""

from collections.abc import Mapping

from innet.engine.network import Completion
from innet.plan.operation import Operation


class Ledger:
    """`finish[operation, place]` is when a rank was done; `open` has who has begun but is not.

    `found` collects completions for whoever waits for them, each once, although a rank that
    loses its state may complete an operation again. `moves` counts begins.
    """

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self.finish: dict[tuple[int, int], int] = {}
        self.open: dict[tuple[int, int], int] = {}
        self.found: list[Completion] = []
        self.moves = 0
        self._begun: list[dict[int, int]] = []

    def add(self, operation: Operation) -> int:
        """Take a new operation; return its number."""
        self.operations.append(operation)
        self._begun.append({})
        return len(self.operations) - 1

    def begin(self, operation: int, place: int, now: int) -> None:
        """A rank is to enter an operation at `now`."""
        if place in self._begun[operation]:
            raise ValueError(f"place {place} has begun operation {operation} before")
        self._begun[operation][place] = now
        self.open[operation, place] = now
        self.moves += 1

    def begun(self, operation: int) -> Mapping[int, int]:
        """When which places enter, or entered, an operation."""
        return self._begun[operation]

    def is_open(self, operation: int) -> bool:
        """Whether somebody has begun an operation and has not completed it."""
        return any((operation, place) in self.open for place in self._begun[operation])

    def complete(self, operation: int, place: int, now: int) -> None:
        """A rank has all that an operation gives it."""
        first = (operation, place) not in self.finish
        self.finish[operation, place] = now
        del self.open[operation, place]
        if first:
            self.found.append(Completion(now, operation, place))

    def reopen(self, operation: int, place: int) -> None:
        """A rank has lost what an operation had given it."""
        self.open[operation, place] = self._begun[operation][place]

    def take(self) -> tuple[Completion, ...]:
        """Take out the completions found."""
        found, self.found[:] = tuple(sorted(self.found)), []
        return found

    def entered_by_all(self) -> bool:
        """Whether an operation that all its ranks have begun is not complete."""
        return any(
            len(self._begun[operation]) == len(self.operations[operation].group)
            for operation, _ in self.open
        )
