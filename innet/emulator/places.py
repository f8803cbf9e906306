"""Where the programs of an emulation run: a place for the switch, and one for each worker."""

import ctypes
import json
import os
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TextIO

from innet.errors import InnetError

OFFLOADS = {
    "rx": "rx-checksumming",
    "tx": "tx-checksumming",
    "sg": "scatter-gather",
    "tso": "tcp-segmentation-offload",
    "gso": "generic-segmentation-offload",
    "gro": "generic-receive-offload",
}
"""What gets in a software switch's way: ethtool's word to set it, and its word to show it."""

_CARRIER_S = 10.0
_CLONE_NEWNET = 0x40000000


@dataclass(frozen=True, slots=True)
class Place:
    """The network namespace of process `pid`, and interfaces in it.

    A worker has one interface. The switch's are in the order of its ports, from port 1 on:
    port w + 1 leads to worker w.
    """

    pid: int
    interfaces: tuple[str, ...]

    @property
    def prefix(self) -> tuple[str, ...]:
        """What to put before a command to run it here."""
        return ("nsenter", "--net", f"--target={self.pid}", "--")

    def command(self, *arguments: str) -> list[str]:
        """The command that runs `arguments` here."""
        return [*self.prefix, *arguments]

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Have this thread be here for a while: sockets that it opens belong here for ever."""
        with open("/proc/thread-self/ns/net") as own, open(f"/proc/{self.pid}/ns/net") as there:
            _set_namespace(there)
            try:
                yield
            finally:
                _set_namespace(own)


@dataclass(frozen=True, slots=True)
class HostAddress:
    """What an interface gets: a MAC address of 6 bytes and an IPv4 address of 4."""

    mac: bytes
    ip: bytes

    @property
    def mac_text(self) -> str:
        """The MAC address as aa:bb:cc:dd:ee:ff."""
        return self.mac.hex(":")

    @property
    def ip_text(self) -> str:
        """The IPv4 address as a.b.c.d."""
        return ".".join(str(byte) for byte in self.ip)


def worker_address(worker: int) -> HostAddress:
    """The address of a worker by innet's scheme: 02:00:00:00:00:W and 10.0.0.W, W = w + 1."""
    return _numbered(worker + 1)


def switch_address() -> HostAddress:
    """The switch's own address by innet's scheme: 02:00:00:00:00:fe and 10.0.0.254."""
    return _numbered(254)


def _numbered(number: int) -> HostAddress:
    # The 2 in the first byte says that the address is administered locally.
    return HostAddress(bytes((2, 0, 0, 0, 0, number)), bytes((10, 0, 0, number)))


def offload_commands(interfaces: Sequence[str]) -> list[list[str]]:
    """The commands that make interfaces carry every frame as it was sent.

    With segmentation or receive offload on, the ring of a switch that reads the interface
    holds 32 frames only, and a checksum may be left undone; so this comes before the switch.
    """
    off = [word for feature in OFFLOADS for word in (feature, "off")]
    return [["ethtool", "-K", interface, *off] for interface in interfaces]


def wait_for_carrier(switch: Place) -> None:
    """Wait until every port of a switch has seen its peer come up: what is sent earlier is lost.

    Raises InnetError for ports that stay down.
    """
    deadline = time.monotonic() + _CARRIER_S
    while waiting := _without_carrier(switch):
        if time.monotonic() > deadline:
            raise InnetError(f"the network does not come up: {', '.join(waiting)} stay down")
        time.sleep(0.01)


def _without_carrier(switch: Place) -> list[str]:
    shown = subprocess.run(
        switch.command("ip", "-json", "link", "show", "type", "veth"),
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return [link["ifname"] for link in json.loads(shown) if link["operstate"] != "UP"]


def _set_namespace(namespace: TextIO) -> None:
    """Python has os.setns since 3.12 only."""
    if ctypes.CDLL(None, use_errno=True).setns(namespace.fileno(), _CLONE_NEWNET) != 0:
        raise InnetError(
            f"a network namespace cannot be entered: {os.strerror(ctypes.get_errno())}"
        )
