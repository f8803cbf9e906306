"""What is on a running switch: which program, which jobs, and what it has counted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from innet.emulator.compiler import ELEMENTS
from innet.emulator.control.p4runtime import RuntimePlane, RuntimeSwitch
from innet.emulator.control.runtime_client import RuntimeClient
from innet.emulator.jobs import Job
from innet.errors import InnetError


@dataclass(frozen=True, slots=True)
class Status:
    """The program's values a packet, the jobs, and packets by the program's counters."""

    elements: int
    jobs: Sequence[Job]
    counters: Mapping[str, int]


def read_status(target: str, device: int) -> Status:
    """Read a switch that runs the P4 program, and change nothing.

    InnetError if it runs no program, or another one; SwitchError if it does not answer.
    """
    elements = running_elements(target, device)
    plane = RuntimePlane(target, elements, device)
    return Status(elements, plane.jobs(), plane.counters())


def running_elements(target: str, device: int) -> int:
    """How many values a packet the program on a switch takes; InnetError if it is not ours."""
    switches = [RuntimeSwitch(target, device, elements) for elements in ELEMENTS]
    with RuntimeClient(target, device) as client:
        cookie = client.cookie()
    if cookie is None:
        raise InnetError(f"the switch at {target} has no program; innet p4 deploy gives it one")
    for switch in switches:
        if switch.cookie == cookie:
            return switch.elements
    raise InnetError(f"the switch at {target} runs another program than innet's")
