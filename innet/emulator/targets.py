"""What an emulation is put together from: networks that join processes, and switches.

A network says where each worker and the switch run and what their cables' ends are. A switch
is started in that place and is told its job; it may be any program that speaks the protocol.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from innet.emulator.jobs import Job
from innet.emulator.places import Place
from innet.emulator.settings import End
from innet.errors import ConfigurationError
from innet.plan.plan import Plan

if TYPE_CHECKING:
    from innet.emulator.attached import Attachment

TARGETS = ("soft", "p4", "bmv2")
NETWORKS = ("loopback", "netns", "mininet")


class Network(Protocol):
    """A star of cables between workers and a switch."""

    @property
    def not_enforced(self) -> Sequence[str]:
        """What of a scenario's links this network does not do, in sentences."""

    def window(self, elements: int) -> int | None:
        """How many packets of `elements` values a worker may have on its way; None: any."""

    def worker_end(self, worker: int) -> End:
        """The worker's end of its cable."""

    def switch_end(self, worker: int) -> End:
        """The switch's end of a worker's cable, which is its port `worker` + 1."""

    def worker_prefix(self, worker: int) -> Sequence[str]:
        """What to put before a command to run it where the worker is."""

    def switch_prefix(self) -> Sequence[str]:
        """What to put before a command to run it where the switch is."""

    def close(self) -> None:
        """Remove the network; any number of times."""


class Switch(Protocol):
    """A switch that was started. Errors are InnetErrors that name it."""

    def wait_ready(self) -> None:
        """Wait until it runs."""

    def install(self, job: Job) -> None:
        """Load its program and add the job."""

    def ending(self) -> str | None:
        """How it ended by itself; None while it runs."""

    def restart(self) -> None:
        """Start it again, bare, after it has ended."""

    def pause(self) -> None:
        """Have it take and send nothing."""

    def resume(self) -> None:
        """Have it go on, after a pause or a disappearance."""

    def vanish(self) -> None:
        """Have it lose whatever comes in."""

    def wipe(self) -> None:
        """Have it lose its registers; its tables stay."""

    def counters(self) -> Mapping[str, int]:
        """Packets by the P4 program's counters since it was started first."""

    def heard(self) -> Mapping[int, int] | None:
        """Packets that came in by port; None if it cannot tell."""

    def close(self) -> None:
        """End it; any number of times."""


def open_network(name: str, plan: Plan, attachment: "Attachment | None" = None) -> Network:
    """The network `name` of NETWORKS for a plan's workers, or that of an attachment.

    Raises MissingToolError where a tool or right for it is missing.
    """
    if attachment is not None:
        from innet.emulator.attached import AttachedNetwork

        return AttachedNetwork(attachment.hosts)
    if name == "loopback":
        from innet.emulator.loopback import LoopbackNetwork

        return LoopbackNetwork(plan.workers, plan.hosts[0].cores)
    if name == "netns":
        from innet.emulator.netns import NamespaceNetwork
        from innet.emulator.placed import PlacedNetwork, worker_addresses

        return PlacedNetwork(NamespaceNetwork(worker_addresses(plan)))
    if name == "mininet":
        from innet.emulator.mininet_network import MininetNetwork, shapes_of
        from innet.emulator.placed import PlacedNetwork, worker_addresses

        return PlacedNetwork(MininetNetwork(worker_addresses(plan), shapes_of(plan)))
    raise _unknown("--net", name, NETWORKS)


def start_switch(
    target: str, network: Network, job: Job, attachment: "Attachment | None" = None
) -> Switch:
    """A switch of the kind `target` of TARGETS, started where the network has its place.

    With an attachment it is the switch of that, which runs already. Raises MissingToolError
    where a tool for it is missing.
    """
    if attachment is not None:
        from innet.emulator.attached import AttachedSwitch

        return AttachedSwitch(attachment, job)
    if target in ("soft", "p4"):
        from innet.emulator.python_switch import PythonSwitchProcess

        return PythonSwitchProcess(target, network, job)
    if target == "bmv2":
        from innet.emulator.bmv2_switch import Bmv2Switch

        return Bmv2Switch(_switch_place(network), job)
    raise _unknown("--target", target, TARGETS)


def default_network(target: str) -> str:
    """The network for a target when none is asked for: BMv2 needs interfaces, so root."""
    return "netns" if target == "bmv2" else "loopback"


def switch_window(target: str, attachment: "Attachment | None" = None) -> int | None:
    """How many packets for one worker a switch's queue holds; None: as many as there are."""
    if attachment is not None:
        return attachment.hosts.queue_packets
    if target != "bmv2":
        return None
    from innet.emulator.bmv2 import queue_packets

    return queue_packets()


def packet_ps(target: str, elements: int) -> int:
    """About what a switch takes for a packet of `elements` values, beyond what agents expect."""
    if target != "bmv2":
        return 0
    from innet.emulator.bmv2 import packet_ps

    return packet_ps(elements)


def _switch_place(network: Network) -> Place:
    """Where a switch that reads interfaces runs."""
    from innet.emulator.placed import PlacedNetwork

    if not isinstance(network, PlacedNetwork):
        raise ConfigurationError("--target bmv2 reads interfaces: it needs --net netns or mininet")
    return network.places.switch


def _unknown(option: str, name: str, known: Sequence[str]) -> ConfigurationError:
    return ConfigurationError(f"{option} {name} is none of {', '.join(known)}")
