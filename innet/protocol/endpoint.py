"""The contract between a protocol machine and whatever drives it.

A driver (an engine, a soft switch, a host agent) owns the clock and the network. It gives a
machine the packets that arrive and the times that pass, and takes packets and events out:

    machine.receive(packet, now)
    for destination, packet in machine.packets_to_send(): ...
    at machine.next_deadline(): machine.handle_timeout(now)
    while (event := machine.next_event()) is not None: ...

`now` is an integer in picoseconds that never goes back. Delays of processors, interfaces and
pipelines belong to the driver. `next_deadline` may name a time at which nothing is due yet;
handle_timeout then only finds the next deadline, and calling it early does no harm.
"""

from typing import NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.int32]

UPDATE, RESULT, HELP = "update", "result", "help"
TO_ALL = -1  # destination: every worker of the job, or every child of a switch in a tree
TO_PARENT = -2  # destination: the switch above a lower switch


class AggregationPacket(NamedTuple):
    """One packet between a worker and its switch, or between a lower switch and its parent.

    `worker` is who sent an update, as the switch's table knows it by port and address (it is
    not a field on the wire); in a result or a call for help it has no meaning. `exponent`
    belongs to the next block on the slot. `values` is None when only timing is simulated, and
    in a call for help.
    """

    kind: str
    job: int
    worker: int
    slot: int
    set: int
    number: int
    asks_help: bool = False
    exponent: int = 0
    values: Values | None = None


class CollectiveDone(NamedTuple):
    """The worker holds its whole result."""

    elements: int


class Retransmitted(NamedTuple):
    """A timeout made the worker send the packet of `slot` again, for the `tries`-th time."""

    slot: int
    number: int
    tries: int


class StaleDropped(NamedTuple):
    """A packet was dropped because what it answers is over."""

    slot: int
    number: int


class HelpGiven(NamedTuple):
    """The worker contributed a completed chunk again, since another still waits for it."""

    slot: int
    number: int


Event = CollectiveDone | Retransmitted | StaleDropped | HelpGiven

PacketType = TypeVar("PacketType")


class Endpoint(Protocol[PacketType]):
    """What every machine offers its driver."""

    def receive(self, packet: PacketType, now: int) -> None:
        """Take a packet that arrived."""

    def packets_to_send(self) -> list[tuple[int, PacketType]]:
        """Take out the packets to send now, in order, each with its destination."""

    def next_deadline(self) -> int | None:
        """When to call handle_timeout at the latest; None if nothing is pending."""

    def handle_timeout(self, now: int) -> None:
        """Do what is due at `now`."""

    def next_event(self) -> Event | None:
        """Take out the oldest event, None when there is none."""
