"""Who takes part in a job on a switch: addresses, ports, and where workers run.

By innet's scheme worker w is behind port w + 1 of the switch and has the addresses of
`places`; in a network of one's own they may be any.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from innet.emulator.bmv2 import DEFAULT_QUEUE_PACKETS
from innet.emulator.jobs import Member
from innet.emulator.places import HostAddress, Place, switch_address, worker_address
from innet.errors import ConfigurationError
from innet.wire.frames import Address
from innet.wire.headers import BASE_PORT

WORKER_PORT = 0xBED0
"""A worker's first UDP port; its cores have the ones that follow."""


@dataclass(frozen=True, slots=True)
class Hosts:
    """The workers of a job and their switch; `places[w]` is where worker w runs, if it is known.

    `queue_packets` is what an egress queue of the switch holds.
    """

    members: tuple[Member, ...]
    switch: Address
    places: tuple[Place | None, ...]
    queue_packets: int = DEFAULT_QUEUE_PACKETS


def scheme_hosts(workers: int) -> Hosts:
    """The hosts by innet's scheme; nothing is known of where they run."""
    members = tuple(
        Member(worker + 1, at_port(worker_address(worker), WORKER_PORT))
        for worker in range(workers)
    )
    return Hosts(members, at_port(switch_address(), BASE_PORT), (None,) * workers)


def at_port(host: HostAddress, port: int) -> Address:
    """A UDP port of a host."""
    return Address(host.mac, host.ip, port)


def require_places(hosts: Hosts) -> Sequence[Place]:
    """Where all workers run. ConfigurationError names one whose place is not known."""
    for worker, place in enumerate(hosts.places):
        if place is None:
            raise ConfigurationError(f"worker {worker} needs pid and interface in the hosts file")
    return [place for place in hosts.places if place is not None]
