"""BMv2 as the switch of an emulation: a process, and a control plane over P4Runtime."""

import json
import subprocess
from collections.abc import Mapping
from contextlib import ExitStack

from innet.emulator.bmv2 import Bmv2
from innet.emulator.child import ChildFailedError
from innet.emulator.control.p4runtime import RuntimePlane
from innet.emulator.controlled import ControlledSwitch
from innet.emulator.jobs import Job
from innet.emulator.places import Place


class Bmv2Switch(ControlledSwitch):
    """simple_switch_grpc where a network has its switch, with the program for a job's packets.

    Raises MissingToolError where BMv2 or its P4Runtime client is missing.
    """

    def __init__(self, place: Place, job: Job) -> None:
        self._place = place
        with ExitStack() as started:
            self.process = started.enter_context(Bmv2(place))
            target, device = self.process.target, self.process.device
            super().__init__(RuntimePlane(target, job.elements_per_packet, device), job)
            self._started = started.pop_all()

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
        super().resume()

    def heard(self) -> Mapping[int, int]:
        """Frames that its interfaces took in, by port. ChildFailedError if it does nothing."""
        self.process.require_at_work()
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
