"""A switch that runs the P4 program and is controlled over P4Runtime, with one job on it.

P4Runtime cannot read or write BMv2's registers. What takes a job's state away here is a new
epoch: the P4 program takes whatever a set holds from another epoch for empty, just as it does
with registers that hold zeros (see p4/README.md). So a switch loses a job's state by losing
the job and getting it again.
"""

from collections.abc import Mapping

from innet.emulator.control.p4runtime import RuntimePlane
from innet.emulator.jobs import Job


class ControlledSwitch:
    """The job of an emulation on a switch that `plane` controls."""

    def __init__(self, plane: RuntimePlane, job: Job) -> None:
        self.plane = plane
        self._job = job
        self._is_there = False

    def wait_ready(self) -> None:
        """Nothing: a switch that does not answer is an error of what is asked of it first."""

    def install(self, job: Job) -> None:
        """Add the job; a switch that does not have the program gets it."""
        self._job = job
        self.plane.add(job)
        self._is_there = True

    def vanish(self) -> None:
        """Take the job away, so that its packets are dropped."""
        self.plane.remove(self._job.number)
        self._is_there = False

    def wipe(self) -> None:
        """Have it lose the job's state. One that has vanished comes back without it anyway."""
        if self._is_there:
            self.plane.remove(self._job.number)
            self.plane.add(self._job)

    def resume(self) -> None:
        """If the job has vanished, have it come back without its state."""
        if not self._is_there:
            self.install(self._job)

    def counters(self) -> Mapping[str, int]:
        """Packets by the P4 program's counters since the program was loaded last."""
        return self.plane.counters()
