"""What an emulation's processes are told when they start."""

from dataclasses import dataclass
from typing import NamedTuple

from innet.plan.plan import Plan
from innet.wire.frames import Address


class SocketEnd(NamedTuple):
    """An open UDP socket that a process inherits, and the address of its other end."""

    descriptor: int
    peer_host: str
    peer_port: int


@dataclass(frozen=True, slots=True)
class End:
    """One end of a worker's cable: an interface, or a UDP socket for each core."""

    interface: str | None = None
    sockets: tuple[SocketEnd, ...] = ()


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """One worker of a plan. `tensor` and `result` are .npy files, `capture` is a pcapng file."""

    plan: Plan
    worker: int
    job: int
    end: End
    own: Address
    switch: Address
    tensor: str
    result: str
    capture: str | None = None


@dataclass(frozen=True, slots=True)
class PortSettings:
    """A port of a switch, and the address of the worker behind it."""

    number: int
    end: End
    member: Address


@dataclass(frozen=True, slots=True)
class SwitchSettings:
    """A Python switch: the soft one, or the P4 program, for packets of `elements` values."""

    target: str
    elements: int
    ports: tuple[PortSettings, ...]
    switch: Address
