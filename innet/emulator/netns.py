"""A star of veth pairs between network namespaces: one for the switch, one for each worker.

A namespace has no name; it lives as long as the process that holds it. When that ends, for
whatever reason, the kernel removes the namespace and the links in it, so nothing is left
behind and no name can clash with anything on the machine.
"""

import subprocess
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from innet.emulator.child import Child, ChildFailedError
from innet.emulator.closing import Closing
from innet.emulator.places import HostAddress, Place, offload_commands, wait_for_carrier
from innet.emulator.tools import require_tools
from innet.errors import InnetError, MissingToolError

TOOLS = ("unshare", "nsenter", "ip", "ethtool")
WORKER_INTERFACE = "eth0"
NOT_ENFORCED = (
    "the links' rate and delay are not enforced: veth pairs are as fast as this machine",
)
_HOLD_S = 10.0


class NamespaceNetwork(Closing):
    """The running network. Use it with `with`: leaving removes everything.

    `switch` is where the switch runs, `workers[w]` where worker w does; their interfaces are up
    and carry frames as they are sent. Workers have the MAC address that was asked for; no
    interface has an IP address, since agents read and write whole frames. Raises
    MissingToolError without the right to make namespaces, or without one of `TOOLS`.
    """

    not_enforced = NOT_ENFORCED

    def __init__(self, addresses: Sequence[HostAddress]) -> None:
        require_tools(TOOLS)
        with ExitStack() as started:
            holders = [started.enter_context(_hold()) for _ in range(len(addresses) + 1)]
            ports = tuple(f"port{worker + 1}" for worker in range(len(addresses)))
            self.switch = Place(holders[-1].pid, ports)
            self.workers = tuple(Place(each.pid, (WORKER_INTERFACE,)) for each in holders[:-1])
            _connect(holders[-1], ports, holders[:-1], addresses)
            for place in (*self.workers, self.switch):
                _bring_up(place)
            wait_for_carrier(self.switch)
            self._started = started.pop_all()

    def close(self) -> None:
        """Remove everything; any number of times."""
        self._started.close()


def _hold() -> Child:
    """Start a process in a new network namespace, and wait until it is there."""
    holder = Child("the holder of a network namespace", ["unshare", "--net", "sleep", "infinity"])
    own = _namespace("self")
    try:
        holder.wait_until(lambda: _namespace(str(holder.pid)) not in (own, ""), _HOLD_S)
    except ChildFailedError as error:
        holder.stop()
        raise MissingToolError(
            "network namespaces cannot be made here; they need root (sudo), or use "
            f"--net loopback ({error})"
        ) from None
    return holder


def _namespace(process: str) -> str:
    try:
        return str(Path(f"/proc/{process}/ns/net").readlink())
    except OSError:
        return ""


def _connect(
    switch: Child, ports: Sequence[str], workers: Sequence[Child], addresses: Sequence[HostAddress]
) -> None:
    """Make all veth pairs, each end in its namespace from the start."""
    pairs = [
        f"link add {port} netns {switch.pid} type veth peer name {WORKER_INTERFACE} "
        f"address {address.mac_text} netns {worker.pid}"
        for port, worker, address in zip(ports, workers, addresses, strict=True)
    ]
    _run(["ip", "-batch", "-"], "\n".join(pairs))


def _bring_up(place: Place) -> None:
    for command in offload_commands(place.interfaces):
        _run(place.command(*command))
    lines = ["link set lo up"]
    for interface in place.interfaces:
        # Without a link-local address the kernel sends nothing of its own.
        lines += [f"link set {interface} addrgenmode none", f"link set {interface} up"]
    _run(place.command("ip", "-batch", "-"), "\n".join(lines))


def _run(command: Sequence[str], text: str = "") -> None:
    ran = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        said = (ran.stderr or ran.stdout).strip()
        raise InnetError(f"the network cannot be set up: {' '.join(command)} said: {said}")
