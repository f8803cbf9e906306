"""The switches that packets can be tried on, each with both sides in one object."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from socket import socket

from innet.emulator.bmv2 import Bmv2
from innet.emulator.check.compare import Switch
from innet.emulator.check.wired import WiredSwitch, open_far_ends
from innet.emulator.control.local import P4Switch
from innet.emulator.control.p4runtime import RuntimePlane
from innet.emulator.jobs import Job
from innet.emulator.netns import NamespaceNetwork
from innet.emulator.places import worker_address
from innet.emulator.sockets import open_interface
from innet.emulator.soft import SoftSwitch
from innet.errors import ConfigurationError

PORTS = 5
"""Random packets come in at ports 1 to 5."""


class RealSwitch:
    """A switch behind interfaces that a control plane fills. It is tried with jobs only."""

    def __init__(self, plane: RuntimePlane, sockets: Mapping[int, socket]) -> None:
        self._plane = plane
        self._sockets = sockets
        self._jobs: dict[int, Job] = {}
        self.counters = plane.counters

    def load(self) -> None:
        """Be as new."""
        self._plane.load()
        self._jobs.clear()

    def add(self, job: Job) -> None:
        """Install a job."""
        self._plane.add(job)
        self._jobs[job.number] = job
        ports = {member.port for each in self._jobs.values() for member in each.members}
        self._wired = WiredSwitch(self._sockets, ports, job.switch)

    def remove(self, number: int) -> None:
        """Take a job away."""
        self._plane.remove(number)
        self._jobs.pop(number, None)

    def wipe(self) -> None:
        """Have all jobs lose their state: P4Runtime cannot empty registers (see `controlled`)."""
        for job in self._jobs.values():
            self._plane.remove(job.number)
            self._plane.add(job)

    def process(self, port: int, frame: bytes) -> list[tuple[int, bytes]]:
        """Send a frame in, and return what comes out."""
        return self._wired.process(port, frame)


@contextmanager
def python_switch(target: str, elements: int) -> Iterator[Switch]:
    """The soft switch, or the P4 program in Python."""
    yield SoftSwitch(elements) if target == "soft" else P4Switch(elements)


@contextmanager
def own_bmv2(elements: int, ports: int = PORTS) -> Iterator[Switch]:
    """BMv2 in a network that is made for it, and removed."""
    addresses = [worker_address(number) for number in range(ports)]
    with (
        NamespaceNetwork(addresses) as network,
        Bmv2(network.switch) as bmv2,
        _closed_in_the_end(open_far_ends(network.workers)) as sockets,
    ):
        yield RealSwitch(RuntimePlane(bmv2.target, elements, bmv2.device), sockets)


@contextmanager
def running_bmv2(
    elements: int, target: str, device: int, interfaces: Sequence[str]
) -> Iterator[Switch]:
    """A running BMv2; `interfaces` are the far ends of its ports 1 to 5."""
    if len(interfaces) != PORTS:
        raise ConfigurationError(
            f"{len(interfaces)} interfaces were given; name the far ends of ports 1 to {PORTS}"
        )
    plane = RuntimePlane(target, elements, device)
    with ExitStack() as opened:
        ends = [opened.enter_context(open_interface(name)) for name in interfaces]
        try:
            yield RealSwitch(plane, dict(enumerate(ends, start=1)))
        finally:
            plane.load()


@contextmanager
def _closed_in_the_end(sockets: Mapping[int, socket]) -> Iterator[Mapping[int, socket]]:
    try:
        yield sockets
    finally:
        for each in sockets.values():
            each.close()
