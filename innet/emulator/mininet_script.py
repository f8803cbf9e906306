"""Builds a star in Mininet and keeps it. Runs under the Python that has Mininet, without innet.

One line of JSON on stdin says what to build:

    {"name": a prefix for all names, "workers": [{"mac", "ip", "link": {...}}, ...]}

where `link` holds options of Mininet's TCLink (bw, delay, ...), or nothing. One line of JSON
on stdout says what is there, or what failed. The network is removed when stdin closes, so
also when whoever started this has been killed.
"""

from __future__ import annotations

import json
import logging
import sys
from typing import Any

from mininet.link import Link, TCLink
from mininet.log import lg
from mininet.net import Mininet
from mininet.node import Switch

OFFLOADS = "rx off tx off sg off tso off gso off gro off"


class OwnSwitch(Switch):  # type: ignore[misc]
    """A switch whose program is started by somebody else, once the network is there."""

    def start(self, controllers: Any) -> None:  # noqa: ANN401
        """Do nothing."""


class Errors(logging.Handler):
    """Keeps what Mininet reports as an error: it carries on after most of them."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.told: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a message."""
        self.told.append(record.getMessage().strip())


def interfaces_of(node: Any) -> list[str]:  # noqa: ANN401
    """The names of a node's interfaces, without the loopback."""
    return [interface.name for interface in node.intfList() if interface.name != "lo"]


def build(wanted: Any) -> Any:  # noqa: ANN401
    """The Mininet network that is wanted, started."""
    net = Mininet(controller=None, build=False)
    try:
        switch = net.addSwitch(f"{wanted['name']}s1", cls=OwnSwitch, inNamespace=True)
        for number, worker in enumerate(wanted["workers"], start=1):
            address = {"mac": worker["mac"], "ip": f"{worker['ip']}/24"}
            host = net.addHost(f"{wanted['name']}h{number}", **address)
            options = worker["link"]
            net.addLink(host, switch, port2=number, cls=TCLink if options else Link, **options)
        net.build()
        for node in net.hosts + net.switches:
            prepare(node)
        net.start()
    except BaseException:
        net.stop()
        raise
    return net


def prepare(node: Any) -> None:  # noqa: ANN401
    """Make a node's interfaces carry frames as they are, and send nothing of their own."""
    node.cmd("ip link set lo up")
    node.cmd("sysctl -w net.ipv6.conf.all.disable_ipv6=1")
    for name in interfaces_of(node):
        node.cmd(f"ethtool -K {name} {OFFLOADS}")


def described(node: Any) -> dict[str, Any]:  # noqa: ANN401
    """A node's process, its interfaces, and the queueing disciplines on each of them."""
    names = interfaces_of(node)
    shown = [node.cmd(f"tc qdisc show dev {name}").splitlines() for name in names]
    kinds = [[line.split()[1] for line in lines if line.startswith("qdisc")] for lines in shown]
    return {"pid": node.pid, "interfaces": names, "disciplines": kinds}


def main() -> None:
    """Build, report, wait, remove."""
    wanted = json.loads(sys.stdin.readline())
    errors = Errors()
    lg.handlers = [errors]
    try:
        net = build(wanted)
    except Exception as error:
        failed = {"failed": f"{type(error).__name__}: {error}", "errors": errors.told}
        print(json.dumps(failed), flush=True)
        return
    try:
        nodes = {
            "switch": described(net.switches[0]),
            "workers": [described(host) for host in net.hosts],
        }
        print(json.dumps({**nodes, "errors": errors.told}), flush=True)
        sys.stdin.read()
    finally:
        net.stop()


if __name__ == "__main__":
    main()
