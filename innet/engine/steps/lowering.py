"""How the driver asks for operations: what a collective or a message becomes on the network."""

from dataclasses import dataclass
from typing import Protocol

from innet.plan.operation import Operation
from innet.workload.program import Call, Exchange


@dataclass(frozen=True, slots=True)
class Lowered:
    """An operation, what runs it, and why no switch takes part (empty when one does)."""

    operation: Operation
    how: str
    why: str


class Lowering(Protocol):
    """Turns what ranks ask for into operations; asked once an operation, by its first rank."""

    def collective(self, call: Call) -> Lowered:
        """Lower a collective of more than one rank and more than no bytes."""

    def message(self, exchange: Exchange) -> Lowered:
        """Lower a message of more than no bytes; place 0 is its source, place 1 its target."""
