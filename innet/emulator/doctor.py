"""What this machine has for the emulator, what is missing, and what works without it.

Every finding comes from trying the thing itself, in a network namespace of its own where it
would change something, so that asking leaves no trace.
"""

import re
import shutil
import socket
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from innet.emulator.mininet_python import MININET_PYTHONS, find_mininet
from innet.emulator.places import OFFLOADS
from innet.emulator.tools import INSTALL, require_tools
from innet.errors import ConfigurationError

_TRY_S = 20.0
_ROOT = "run as root (sudo), or in a container with NET_ADMIN, NET_RAW and SYS_ADMIN"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked for; `found` is None where it could not be tried.

    `detail` is its version, or what was seen instead; `install` says how to get it.
    """

    name: str
    group: str
    found: bool | None
    detail: str
    used_for: str
    install: str


@dataclass(frozen=True, slots=True)
class Combination:
    """A target and a network of `innet emulate`, and what is missing for it."""

    target: str
    net: str
    missing: tuple[str, ...]


# What each network and each target needs beyond Python.
_NETS: dict[str, tuple[str, ...]] = {
    "loopback": (),
    "netns": ("namespaces", "raw sockets", "veth", "setpriv", "nsenter", "ip", "ethtool"),
    "mininet": (
        "namespaces",
        "raw sockets",
        "veth",
        "setpriv",
        "nsenter",
        "ip",
        "ethtool",
        "tc",
        "mininet",
    ),
}
_TARGETS: dict[str, tuple[str, ...]] = {
    "soft": (),
    "p4": (),
    "bmv2": ("simple_switch_grpc", "finsy"),
}


def examine() -> tuple[Finding, ...]:
    """Look for everything, in the order in which it is shown."""
    return (*_packages(), *_programs(), *_rights_and_kernel())


def combinations(findings: Iterable[Finding]) -> tuple[Combination, ...]:
    """What each target on each network lacks. BMv2 needs interfaces, so loopback is none."""
    missing = {finding.name for finding in findings if finding.found is False}
    return tuple(
        Combination(target, net, tuple(name for name in of_net + of_target if name in missing))
        for target, of_target in _TARGETS.items()
        for net, of_net in _NETS.items()
        if (target, net) != ("bmv2", "loopback")
    )


def offloads_on(interface: str) -> tuple[str, ...]:
    """The offloads of an interface that would get in a software switch's way and are on.

    Raises MissingToolError without ethtool, ConfigurationError for an unknown interface.
    """
    require_tools(["ethtool"])
    ran = _run(["ethtool", "-k", interface])
    if ran is None or ran.returncode != 0:
        raise ConfigurationError(f"there is no interface {interface} here")
    return tuple(name for name, key in OFFLOADS.items() if f"\n{key}: on" in ran.stdout)


def _packages() -> list[Finding]:
    return [
        _package("finsy", "--target bmv2, innet p4 deploy and status"),
        _package("scapy", "packet classes for your own scripts"),
    ]


def _package(name: str, used_for: str) -> Finding:
    try:
        found = version(name)
    except PackageNotFoundError:
        found = ""
    return Finding(name, "Python packages", bool(found), found, used_for, INSTALL[name])


def _programs() -> list[Finding]:
    return [
        _program("p4c-bm2-ss", "innet p4 compile (the compiled program comes with innet)"),
        _program("simple_switch_grpc", "--target bmv2"),
        _program("simple_switch_CLI", "windows over 64 slots on BMv2", asked=False),
        _mininet(),
        _program("ip", "--net netns and mininet", option="-V"),
        _program("ethtool", "--net netns and mininet"),
        _program("nsenter", "--net netns and mininet"),
        _program("unshare", "--net netns"),
        _program("setpriv", "--net netns and mininet"),
        _program("tc", "--net mininet", option="-V"),
    ]


def _program(name: str, used_for: str, option: str = "--version", asked: bool = True) -> Finding:
    found = shutil.which(name) is not None
    ran = _run([name, option]) if found and asked else None
    return Finding(
        name, "Programs", found, "" if ran is None else _number(ran), used_for, INSTALL[name]
    )


def _number(ran: "subprocess.CompletedProcess[str]") -> str:
    """The first thing in a program's version text that looks like a version."""
    shown = re.search(r"\d+\.\d+[\w.-]*", ran.stdout + ran.stderr)
    return shown.group() if shown else ""


def _mininet() -> Finding:
    found = find_mininet()
    return Finding(
        "mininet",
        "Programs",
        found is not None,
        found[1] if found else f"not seen by {' or '.join(MININET_PYTHONS)}",
        "--net mininet",
        INSTALL["mininet"],
    )


def _rights_and_kernel() -> list[Finding]:
    said = _works(["unshare", "--net", "true"])
    namespaces = Finding("namespaces", "Rights", not said, said, "--net netns, mininet", _ROOT)
    return [namespaces, _raw_sockets(), *_kernel(bool(namespaces.found))]


def _raw_sockets() -> Finding:
    said = ""
    family = getattr(socket, "AF_PACKET", None)
    if family is None:
        said = "not on this system"
    else:
        try:
            socket.socket(family, socket.SOCK_RAW).close()
        except OSError as error:
            said = error.strerror or str(error)
    return Finding("raw sockets", "Rights", not said, said, "--net netns, mininet", _ROOT)


def _kernel(can_try: bool) -> list[Finding]:
    pair = ["ip", "link", "add", "name", "probe0", "type", "veth", "peer", "name", "probe1"]
    delay = ["tc", "qdisc", "add", "dev", "lo", "root", "netem", "delay", "1ms"]
    own_links = "delay and loss on links of your own (innet's agents make losses themselves)"
    return [
        _kernel_part("veth", pair, "--net netns, mininet", "veth", can_try),
        _kernel_part("netem", delay, own_links, "sch_netem", can_try),
    ]


def _kernel_part(
    name: str, command: list[str], used_for: str, module: str, can_try: bool
) -> Finding:
    said = _works(["unshare", "--net", *command]) if can_try else "needs a namespace to be tried"
    install = f"modprobe {module}, or a kernel that has it (Debian's and Ubuntu's do)"
    return Finding(name, "Kernel", not said if can_try else None, said, used_for, install)


def _works(command: list[str]) -> str:
    """Run a command; return "" if it works, otherwise what it said."""
    ran = _run(command)
    if ran is None:
        return f"{command[0]} is missing"
    if ran.returncode == 0:
        return ""
    said = (ran.stderr or ran.stdout).strip().splitlines()
    return said[0] if said else f"exit code {ran.returncode}"


def _run(command: list[str]) -> "subprocess.CompletedProcess[str] | None":
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=_TRY_S)
    except (FileNotFoundError, subprocess.TimeoutExpired):
        return None
