"""The soft switch or the P4 program in Python as the switch of an emulation: a process."""

from collections import Counter
from collections.abc import Mapping

from innet.emulator.jobs import Job
from innet.emulator.process import Process, Report
from innet.emulator.settings import PortSettings, SwitchSettings
from innet.emulator.targets import Network

_START_S = 60.0
_ANSWER_S = 20.0
_HEARD_S = 2.0
_NAMES = {"soft": "the switch (soft)", "p4": "the switch (p4)"}
_MODULE = "innet.emulator.server"


class PythonSwitchProcess:
    """A process with a Python switch in the place of a network's switch."""

    def __init__(self, target: str, network: Network, job: Job) -> None:
        self._target = target
        self._network = network
        ends = [network.switch_end(worker) for worker in range(len(job.members))]
        ports = tuple(
            PortSettings(member.port, end, member.address)
            for member, end in zip(job.members, ends, strict=True)
        )
        self._settings = SwitchSettings(target, job.elements_per_packet, ports, job.switch)
        self._descriptors = [each.descriptor for end in ends for each in end.sockets]
        self._earlier: Counter[str] = Counter()
        self.process = self._start()

    def _start(self) -> Process:
        prefix = self._network.switch_prefix()
        name = _NAMES[self._target]
        return Process(name, _MODULE, self._settings, prefix, self._descriptors)

    def wait_ready(self) -> None:
        """Wait until it has loaded its program."""
        self.process.wait("ready", _START_S)

    def install(self, job: Job) -> None:
        """Add the job."""
        self.process.ask("add", "done", _ANSWER_S, job=job)

    def ending(self) -> str | None:
        """How its process ended by itself; None while it runs."""
        return self.process.ending()

    def restart(self) -> None:
        """Start it again, bare; what it counted until its last report is kept."""
        self._earlier.update(self.process.last.get("counters", {}))
        self.process.stop()
        self.process = self._start()
        self.wait_ready()

    def pause(self) -> None:
        """Have it take and send nothing."""
        self._ask("state", state="paused")

    def resume(self) -> None:
        """Have it go on."""
        self._ask("state", state="running")

    def vanish(self) -> None:
        """Have it lose whatever comes in."""
        self._ask("state", state="gone")

    def wipe(self) -> None:
        """Have it lose its registers."""
        self._ask("wipe")

    def counters(self) -> Mapping[str, int]:
        """Packets by the P4 program's counters."""
        total = Counter(self._earlier)
        total.update(self._ask("counters")["counters"])
        return total

    def heard(self) -> Mapping[int, int]:
        """Packets that came in by port, since it was started last."""
        return dict(self.process.ask("counters", "done", _HEARD_S)["heard"])

    def close(self) -> None:
        """End it."""
        self.process.stop()

    def _ask(self, kind: str, state: str | None = None) -> Report:
        return self.process.ask(kind, "done", _ANSWER_S, state=state)
