"""What control planes, data planes and host agents agree on: jobs, and frames in and out.

A control plane fills a switch's tables with jobs. A data plane takes a frame at a port and
gives back frames at ports; the soft switch, the P4 program in Python and BMv2 behind its
interfaces all do the same to the byte.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from innet.wire.frames import Address


@dataclass(frozen=True, slots=True)
class Member:
    """One worker of a job: the switch's port that leads to it, and its addresses.

    Core c of the worker sends from, and is answered at, UDP port `address.port` + c.
    """

    port: int
    address: Address


@dataclass(frozen=True, slots=True)
class Job:
    """An aggregation job on one switch.

    `members[w]` is worker w. The pool is slots `first_slot` .. `first_slot + slots - 1` of the
    switch; on the wire a job's slots count from 0. `switch` is what workers send to; cores use
    the UDP ports from its port on. `elements_per_packet` is the program's k.
    """

    number: int
    members: tuple[Member, ...]
    switch: Address
    first_slot: int
    slots: int
    elements_per_packet: int
    cores: int = 1
    guard: bool = True


class ControlPlane(Protocol):
    """What fills a switch's tables. Every call may be repeated: twice has the effect of once."""

    def load(self) -> None:
        """Put the program on the switch; its tables are empty afterwards."""

    def add(self, job: Job) -> None:
        """Install a job. Raises ConfigurationError if it clashes with another one's slots."""

    def remove(self, number: int) -> None:
        """Take a job away; one that is not there is no error."""

    def counters(self) -> Mapping[str, int]:
        """Packets by counter, as the P4 program names them, summed over jobs."""


class DataPlane(Protocol):
    """A switch without a clock and a socket."""

    def process(self, port: int, frame: bytes) -> list[tuple[int, bytes]]:
        """Take a frame that came in at `port`; return (port, frame) to send, in order."""
