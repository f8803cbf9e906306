"""How the driver asks for operations: what a collective or a message becomes on the network."""

from typing import Protocol

from innet.plan.operation import Operation
from innet.plan.step import Lowered, StepPlan, request_of
from innet.units import serialisation_ps
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


def notice_ps(plan: StepPlan) -> int:
    """Return how long after a quorum the absent can hear of it: a packet crosses two links.

    The largest packet over the quickest links; no engine simulates one host further beyond
    another than the smallest packet takes over one link.
    """
    nodes, links = plan.graph.nodes, plan.graph.links
    packets = [_packet_bytes(lowered.operation) for lowered in plan.operations.values()]
    return 2 * min(
        nodes[link.source].latency_ps
        + serialisation_ps(max(packets, default=0), link.rate_bps)
        + link.delay_ps
        for link in links
    )


def _packet_bytes(operation: Operation) -> int:
    """Return the medium bytes of an operation's full packets."""
    if operation.aggregation is not None:
        return operation.aggregation.packet_bytes
    assert operation.stream is not None
    return operation.stream.payload_bytes + operation.stream.overhead_bytes
