"""BMv2 as the switch of an emulation: a process, and a control plane over P4Runtime.

P4Runtime cannot read or write BMv2's registers. What takes a job's state away here is a new
epoch: the P4 program takes whatever a set holds from another epoch for empty, just as it does
with registers that hold zeros (see p4/README.md). So a switch loses its registers by losing
the job and getting it again.
"""

import json
import subprocess
from collections.abc import Mapping
from contextlib import ExitStack

from innet.emulator.bmv2 import Bmv2
from innet.emulator.child import ChildFailedError
from innet.emulator.control.p4runtime import RuntimePlane
from innet.emulator.jobs import Job
from innet.emulator.places import Place


class Bmv2Switch:
    """simple_switch_grpc where a network has its switch, with the program for a job's packets.

    Raises MissingToolError where BMv2 or its P4Runtime client is missing.
    """

    def __init__(self, place: Place, job: Job) -> None:
        self._place = place
        self._job = job
        self._is_there = False
        with ExitStack() as started:
            self.process = started.enter_context(Bmv2(place))
            target, device = self.process.target, self.process.device
            self._plane = RuntimePlane(target, job.elements_per_packet, device)
            self._started = started.pop_all()

    def wait_ready(self) -> None:
        """Nothing: it was ready when it was made."""

    def install(self, job: Job) -> None:
        """Load the program and add the job."""
        self._job = job
        self._plane.load()
        self._plane.add(job)
        self._is_there = True

    def ending(self) -> str | None:
        """How its process ended by itself; None while it runs."""
        try:
            self.process.require_running()
        except ChildFailedError as error:
            return str(error)
        return None

    def restart(self) -> None:
        """Start it again, bare. What it had counted is lost with it."""
        self._is_there = False
        self.process.restart()

    def pause(self) -> None:
        """Stop its process; packets wait in its interfaces."""
        self.process.pause()

    def resume(self) -> None:
        """Have it go on; if it had vanished, with the job but without the job's state."""
        self.process.resume()
        if not self._is_there:
            self._plane.add(self._job)
            self._is_there = True

    def vanish(self) -> None:
        """Take the job away, so that its packets are dropped."""
        self._plane.remove(self._job.number)
        self._is_there = False

    def wipe(self) -> None:
        """Have it lose the job's state. One that has vanished comes back without it anyway."""
        if self._is_there:
            self._plane.remove(self._job.number)
            self._plane.add(self._job)

    def counters(self) -> Mapping[str, int]:
        """Packets by the P4 program's counters since it was started last."""
        return self._plane.counters()

    def heard(self) -> Mapping[int, int]:
        """Frames that its interfaces took in, by port."""
        shown = subprocess.run(
            self._place.command("ip", "-json", "-statistics", "link", "show"),
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        taken = {link["ifname"]: link["stats64"]["rx"]["packets"] for link in json.loads(shown)}
        return {port: taken[name] for port, name in enumerate(self._place.interfaces, start=1)}

    def close(self) -> None:
        """End it."""
        self._started.close()
