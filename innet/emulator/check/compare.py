"""Compare what two switches do with random packets, byte for byte."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from innet.emulator.check.packets import PacketMaker, by_port, three_jobs
from innet.emulator.jobs import ControlPlane, DataPlane
from innet.errors import InnetError


class Switch(ControlPlane, DataPlane, Protocol):
    """Both sides of a switch."""


class DifferenceError(InnetError):
    """A switch does not do what the one that it is compared with does. Exit code 1."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How many packets were compared, and what the switch counted of them."""

    packets: int
    counters: Mapping[str, int]


def compare(
    switch: Switch,
    reference: Switch,
    elements: int,
    packets: int,
    seed: int,
    progress: Callable[[float], None] | None = None,
) -> Agreement:
    """Give both the same packets, and compare every byte that leaves, and the counters.

    Both are set up anew, with three jobs. Raises DifferenceError for the first difference.
    """
    jobs = three_jobs(elements)
    for each in (switch, reference):
        each.load()
        for job in jobs:
            each.add(job)
    for number, (port, frame) in enumerate(PacketMaker(seed, jobs).packets(packets)):
        wanted = by_port(reference.process(port, frame))
        found = by_port(switch.process(port, frame))
        if wanted != found:
            raise DifferenceError(
                f"packet {number + 1} of seed {seed}, into port {port}: {frame.hex()}\n"
                f"  must send {_shown(wanted)}\n"
                f"  but sends {_shown(found)}"
            )
        if progress is not None:
            progress((number + 1) / packets)
    counted, expected = dict(switch.counters()), dict(reference.counters())
    if counted != expected:
        raise DifferenceError(f"counters must be {expected}\n  but are {counted}")
    return Agreement(packets, counted)


def _shown(sent: Mapping[int, list[bytes]]) -> str:
    frames = [f"to port {port}: {frame.hex()}" for port in sent for frame in sent[port]]
    return "; ".join(frames) or "nothing"
