"""A network of places (network namespaces, Mininet hosts) as an emulation sees it."""

from collections.abc import Sequence
from typing import Protocol

from innet.emulator.places import HostAddress, Place, worker_address
from innet.emulator.settings import End
from innet.plan.plan import Plan


class Places(Protocol):
    """A running network: a place for the switch, and one for each worker."""

    @property
    def not_enforced(self) -> Sequence[str]:
        """What of a scenario's links it does not do."""

    @property
    def switch(self) -> Place:
        """Where the switch runs."""

    @property
    def workers(self) -> Sequence[Place]:
        """Where each worker runs."""

    def close(self) -> None:
        """Remove everything."""


class PlacedNetwork:
    """A Network whose cables are the interfaces of `places`."""

    def __init__(self, places: Places) -> None:
        self.places = places

    @property
    def not_enforced(self) -> Sequence[str]:
        """What the network says of itself."""
        return self.places.not_enforced

    def window(self, elements: int) -> int | None:
        """None: agents have buffers for any window (see `sockets`), and so have interfaces."""
        return None

    def worker_end(self, worker: int) -> End:
        """The worker's one interface."""
        return End(self.places.workers[worker].interfaces[0])

    def switch_end(self, worker: int) -> End:
        """The switch's interface to a worker."""
        return End(self.places.switch.interfaces[worker])

    def worker_prefix(self, worker: int) -> Sequence[str]:
        """What enters the worker's place."""
        return self.places.workers[worker].prefix

    def switch_prefix(self) -> Sequence[str]:
        """What enters the switch's place."""
        return self.places.switch.prefix

    def close(self) -> None:
        """Remove everything."""
        self.places.close()


def worker_addresses(plan: Plan) -> list[HostAddress]:
    """The addresses of a plan's workers, by innet's scheme."""
    return [worker_address(worker) for worker in range(plan.workers)]
