"""A Python switch at work: frames from its ports through its data plane and out again."""

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

from innet.emulator.jobs import ControlPlane, DataPlane
from innet.emulator.server.ports import Port

State = Literal["running", "paused", "gone"]


class PythonSwitch(ControlPlane, DataPlane, Protocol):
    """Both sides of a switch in Python: the soft switch, or the P4 program."""

    def wipe(self) -> None:
        """Lose all registers; the tables stay."""


class SwitchServer:
    """Drives a switch by its ports; a participant of a `loop`.

    Paused, it takes and sends nothing, and what waits is handled later; gone, whatever comes in
    is lost.
    """

    def __init__(self, switch: PythonSwitch, ports: Sequence[Port]) -> None:
        self.switch = switch
        self.state: State = "running"
        self._ports = {port.number: port for port in ports}
        self._no_port = 0
        switch.load()

    def counters(self) -> Mapping[str, int]:
        """Packets by the P4 program's counters, and what could not leave by a port."""
        not_sent = self._no_port + sum(port.not_sent for port in self._ports.values())
        return {**self.switch.counters(), "not_sent": not_sent}

    def heard(self) -> list[tuple[int, int]]:
        """How many packets have come in: (port, packets)."""
        return [(number, port.heard) for number, port in self._ports.items()]

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
        for out, sent in self.switch.process(number, frame):
            port = self._ports.get(out)
            if port is None:
                self._no_port += 1
            else:
                port.send(sent)
