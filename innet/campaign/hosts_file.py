"""Hosts files: what takes part in a job on a switch of one's own.

    switch: {mac: "02:00:00:00:00:fe", ip: 10.0.0.254, queue: 1024}
    workers:
      - {port: 1, mac: "02:00:00:00:00:01", ip: 10.0.0.1, pid: 4711, interface: h1-eth0}
      - {port: 2, ...}

Every key may be left out; innet's scheme is the default. `pid` and `interface` say where a
worker's packets go in and out: an interface in the network namespace of a process, such as a
Mininet host's shell.
"""

import re
from ipaddress import IPv4Address
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field, ValidationError

from innet.emulator.bmv2 import DEFAULT_QUEUE_PACKETS
from innet.emulator.hosts import WORKER_PORT, Hosts, at_port
from innet.emulator.jobs import Member
from innet.emulator.places import HostAddress, Place, switch_address, worker_address
from innet.scenario.document import read_document
from innet.scenario.load import read_text
from innet.scenario.problems import Origin, explain
from innet.scenario.section import Section
from innet.wire.frames import Address
from innet.wire.headers import BASE_PORT, PORTS

_MAC = re.compile(r"[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}")


def _checked_mac(text: str) -> str:
    if not _MAC.fullmatch(text):
        raise ValueError(f"'{text}' is no MAC address such as 02:00:00:00:00:01")
    return text


def _checked_ip(text: str) -> str:
    try:
        return str(IPv4Address(text))
    except ValueError:
        raise ValueError(f"'{text}' is no IPv4 address such as 10.0.0.1") from None


Mac = Annotated[str, AfterValidator(_checked_mac)]
Ip = Annotated[str, AfterValidator(_checked_ip)]


class SwitchSection(Section):
    """The switch's own addresses, and how many packets each of its egress queues holds."""

    mac: Mac | None = None
    ip: Ip | None = None
    udp_port: int = Field(default=BASE_PORT, ge=BASE_PORT, lt=BASE_PORT + PORTS)
    queue: int = Field(default=DEFAULT_QUEUE_PACKETS, ge=1)


class WorkerSection(Section):
    """One worker."""

    port: int | None = Field(default=None, ge=0, le=510)
    mac: Mac | None = None
    ip: Ip | None = None
    udp_port: int = Field(default=WORKER_PORT, ge=1, lt=1 << 16)
    pid: int | None = Field(default=None, ge=1)
    interface: str | None = None


class HostsFile(Section):
    """A whole hosts file."""

    switch: SwitchSection = SwitchSection()
    workers: tuple[WorkerSection, ...]


def read_hosts(path: Path, workers: int) -> Hosts:
    """The hosts of a hosts file. ConfigurationError if it is not right or for other workers."""
    document = read_document(read_text(path), str(path))
    origin = Origin({place: (document.file, line) for place, line in document.lines.items()})
    try:
        file = HostsFile.model_validate(document.value)
    except ValidationError as error:
        raise explain(error, HostsFile, origin) from None
    if len(file.workers) != workers:
        raise origin.error(
            ("workers",), f"{len(file.workers)} workers, but the scenario has {workers}"
        )
    for number, worker in enumerate(file.workers):
        if (worker.pid is None) != (worker.interface is None):
            raise origin.error(("workers", number), "pid and interface need each other")
    return _hosts(file)


def _hosts(file: HostsFile) -> Hosts:
    members: list[Member] = []
    places: list[Place | None] = []
    for number, worker in enumerate(file.workers):
        address = _address(worker.mac, worker.ip, worker_address(number), worker.udp_port)
        port = number + 1 if worker.port is None else worker.port
        members.append(Member(port, address))
        if worker.pid is None or worker.interface is None:
            places.append(None)
        else:
            places.append(Place(worker.pid, (worker.interface,)))
    own = file.switch
    switch = _address(own.mac, own.ip, switch_address(), own.udp_port)
    return Hosts(tuple(members), switch, tuple(places), own.queue)


def _address(mac: str | None, ip: str | None, default: HostAddress, port: int) -> Address:
    given = HostAddress(
        default.mac if mac is None else bytes.fromhex(mac.replace(":", "")),
        default.ip if ip is None else IPv4Address(ip).packed,
    )
    return at_port(given, port)
