"""A network and a switch of one's own, that innet only uses: the workers' hosts, and BMv2."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from innet.emulator.control.p4runtime import RuntimePlane
from innet.emulator.controlled import ControlledSwitch
from innet.emulator.hosts import Hosts, require_places
from innet.emulator.jobs import Job
from innet.emulator.settings import End
from innet.errors import ConfigurationError

_NOT_ENFORCED = ("the links and the switch are not innet's: nothing of the scenario's is enforced",)


@dataclass(frozen=True, slots=True)
class Attachment:
    """Where the workers run, and the P4Runtime address and device id of their switch."""

    hosts: Hosts
    target: str
    device: int


class AttachedNetwork:
    """The hosts of `hosts`; nothing was made, so nothing is removed."""

    not_enforced = _NOT_ENFORCED

    def __init__(self, hosts: Hosts) -> None:
        self._places = require_places(hosts)

    def window(self, elements: int) -> int | None:
        """None: agents have buffers for any window."""
        return None

    def worker_end(self, worker: int) -> End:
        """The worker's interface."""
        return End(self._places[worker].interfaces[0])

    def switch_end(self, worker: int) -> End:
        """Raise ConfigurationError: where the switch runs is not known."""
        raise ConfigurationError("the switch of a hosts file runs by itself")

    def worker_prefix(self, worker: int) -> Sequence[str]:
        """What enters the worker's place."""
        return self._places[worker].prefix

    def switch_prefix(self) -> Sequence[str]:
        """Raise ConfigurationError: where the switch runs is not known."""
        raise ConfigurationError("the switch of a hosts file runs by itself")

    def close(self) -> None:
        """Do nothing."""


class AttachedSwitch(ControlledSwitch):
    """A running switch that keeps its program and its other jobs; in the end the job leaves it."""

    def __init__(self, attachment: Attachment, job: Job) -> None:
        plane = RuntimePlane(attachment.target, job.elements_per_packet, attachment.device)
        super().__init__(plane, job)
        self._before: Mapping[str, int] = {}

    def install(self, job: Job) -> None:
        """Add the job; counts from before it are not its own."""
        super().install(job)
        self._before = self._before or self.plane.counters()

    def counters(self) -> Mapping[str, int]:
        """Packets by the P4 program's counters since the job was added."""
        return {name: count - self._before[name] for name, count in super().counters().items()}

    def ending(self) -> str | None:
        """None: whether it ends is not watched; a switch that is gone answers nobody."""
        return None

    def restart(self) -> None:
        """Raise ConfigurationError: it is not innet's to start."""
        raise ConfigurationError("a switch that innet did not start cannot be started again")

    def pause(self) -> None:
        """Raise ConfigurationError: it is not innet's to stop."""
        raise ConfigurationError("a switch that innet did not start cannot be paused")

    def heard(self) -> Mapping[int, int] | None:
        """None: it cannot tell."""
        return None

    def close(self) -> None:
        """Take the job away, if it was added."""
        if self._is_there:
            self.vanish()
