"""A Python switch at work: frames from its ports through a data plane and out again."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

from innet.emulator.jobs import ControlPlane, DataPlane, Job
from innet.emulator.ports import Port

State = Literal["running", "paused", "gone"]


class SwitchServer:
    """Drives a data plane by its ports; a participant of a `loop`.

    `control` and `plane` are two sides of the same switch. Paused, it takes and sends nothing,
    and what waits is handled later; gone, whatever comes in is lost.
    """

    def __init__(self, control: ControlPlane, plane: DataPlane, ports: Sequence[Port]) -> None:
        self.state: State = "running"
        self._control = control
        self._plane = plane
        self._ports = {port.number: port for port in ports}
        self._jobs: dict[int, Job] = {}
        self._counted: Counter[str] = Counter()
        control.load()

    def add(self, job: Job) -> None:
        """Install a job; twice has the effect of once."""
        self._control.add(job)
        self._jobs[job.number] = job

    def wipe(self) -> None:
        """Lose the registers, as a restart does: load the program and install the jobs again."""
        self._counted.update(self._control.counters())
        self._control.load()
        for job in self._jobs.values():
            self._control.add(job)

    def counters(self) -> Mapping[str, int]:
        """Packets by the P4 program's counters since the start, and what ports did not send."""
        total = Counter(self._counted)
        total.update(self._control.counters())
        total["not_sent"] += sum(port.not_sent for port in self._ports.values())
        return total

    def heard(self) -> Mapping[int, int]:
        """How many packets have come in at each port."""
        return {number: port.heard for number, port in self._ports.items()}

    def descriptors(self) -> Sequence[int]:
        """What to wait for, for reading: nothing while it is paused."""
        if self.state == "paused":
            return ()
        return [each for port in self._ports.values() for each in port.descriptors()]

    def next_time(self) -> int | None:
        """None: a switch has no timers."""
        return None

    def on_time(self, now: int) -> None:
        """Do nothing."""

    def on_readable(self, now: int) -> None:
        """Take every port's frames in turn."""
        for port in self._ports.values():
            for frame in port.receive():
                if self.state == "running":
                    self._process(port.number, frame)

    def _process(self, number: int, frame: bytes) -> None:
        for out, sent in self._plane.process(number, frame):
            port = self._ports.get(out)
            if port is None:
                self._counted["not_sent"] += 1
            else:
                port.send(sent)
