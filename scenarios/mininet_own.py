#!/usr/bin/python3
"""In-network aggregation in a Mininet topology of one's own: hosts around one BMv2.

    sudo INNET=/path/to/innet /usr/bin/python3 scenarios/mininet_own.py

Runs under the Python that has Mininet (Debian's package is for the system's Python), while
innet is a command that may live in any virtual environment. Needs simple_switch_grpc.
"""

import json
import os
import socket
import subprocess
import tempfile

from mininet.net import Mininet
from mininet.node import Switch

INNET = os.environ.get("INNET", "innet")
QUICKSTART = os.path.join(os.path.dirname(os.path.abspath(__file__)), "quickstart.yaml")
SCENARIO = [QUICKSTART, "--set", "topology.workers=3", "--set", "collective.size=256 KiB"]


def free_port() -> int:
    """A TCP port that nobody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


class Bmv2(Switch):
    """simple_switch_grpc without a program: innet gives it one."""

    def start(self, controllers: object) -> None:
        """Start it once its interfaces carry frames as they are: that must come first."""
        port, options = free_port(), ["--no-p4", "-L", "off", "--thrift-port", str(free_port())]
        for number, interface in self.intfs.items():
            if number > 0:
                self.cmd(f"ethtool -K {interface} rx off tx off sg off tso off gso off gro off")
                options += ["-i", f"{number}@{interface}"]
        self.grpc = f"127.0.0.1:{port}"
        command = ["simple_switch_grpc", *options, "--", "--grpc-server-addr", self.grpc]
        self.process = subprocess.Popen(command)
        while socket.socket().connect_ex(("127.0.0.1", port)) != 0:
            assert self.process.poll() is None, "simple_switch_grpc has ended"

    def stop(self, *arguments: object, **options: object) -> None:
        """End it."""
        self.process.terminate()
        self.process.wait()
        super().stop(*arguments, **options)


net = Mininet(controller=None)
switch = net.addSwitch("s1", cls=Bmv2)
for number in (1, 2, 3):
    net.addLink(net.addHost(f"h{number}"), switch, port2=number)
net.start()
try:
    workers = [
        {"port": port, "mac": h.MAC(), "ip": h.IP(), "pid": h.pid, "interface": h.intfNames()[0]}
        for port, h in enumerate(net.hosts, start=1)
    ]
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({"workers": workers}, file)
        file.flush()
        ours = [*SCENARIO, "--hosts", file.name, "--grpc", switch.grpc]
        subprocess.run([INNET, "p4", "deploy", *ours], check=True)
        assert net.pingAll() == 0  # the program also forwards what is not aggregation
        subprocess.run([INNET, "emulate", *ours], check=True)
finally:
    net.stop()
