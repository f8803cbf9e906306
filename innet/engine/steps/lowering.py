"""How the driver asks for operations: what a collective or a message becomes on the network."""

from typing import Protocol

from innet.plan.step import Lowered, StepPlan, request_of
from innet.workload.actions import Call, Exchange


class Lowering(Protocol):
    """Turns what ranks ask for into operations; asked once an operation, by its first rank."""

    def collective(self, call: Call) -> Lowered:
        """Lower a collective of more than one rank and more than no bytes."""

    def message(self, exchange: Exchange) -> Lowered:
        """Lower a message of more than no bytes; place 0 is its source, place 1 its target."""


class PlannedLowering:
    """Looks operations up in a plan, which has them all."""

    def __init__(self, plan: StepPlan) -> None:
        self._operations = plan.operations

    def collective(self, call: Call) -> Lowered:
        """Lower a collective."""
        return self._operations[request_of(call)]

    def message(self, exchange: Exchange) -> Lowered:
        """Lower a message."""
        return self._operations[request_of(exchange)]
