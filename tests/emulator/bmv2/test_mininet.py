"""A star in Mininet: what it has, what it says of itself, and that nothing is left of it."""

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import textwrap

import pytest

from innet.emulator.mininet_network import TOOLS, MininetNetwork, Shape
from innet.emulator.mininet_python import find_mininet
from innet.emulator.places import OFFLOADS, worker_address
from innet.errors import InnetError, MissingToolError

SLOW = Shape(10**7, 0)


@pytest.fixture
def mininet(namespaces):
    """Skip where Mininet cannot build a network."""
    if find_mininet() is None:
        pytest.skip("Mininet is not installed")
    if missing := [tool for tool in TOOLS if shutil.which(tool) is None]:
        pytest.skip(f"needs {', '.join(missing)}")


def links():
    return subprocess.run(["ip", "link"], capture_output=True, text=True, check=True).stdout


def shown(place, *command):
    ran = subprocess.run(place.command(*command), capture_output=True, text=True, check=True)
    return ran.stdout


def test_a_star_with_the_addresses_and_rates_that_were_asked_for(mininet):
    before = links()
    addresses = [worker_address(worker) for worker in range(2)]
    with MininetNetwork(addresses, [SLOW, Shape(10**11, 0)]) as network:
        assert links() == before
        assert network.not_enforced == (
            "link rates above 1 Gbps are not enforced: Mininet takes none",
        )
        places = [network.switch, *network.workers]
        assert [len(place.interfaces) for place in places] == [2, 1, 1]
        for place in places:
            for interface in place.interfaces:
                told = shown(place, "ethtool", "-k", interface)
                assert all(f"\n{feature}: off" in told for feature in OFFLOADS.values())
        (host,) = json.loads(
            shown(network.workers[1], "ip", "-json", "addr", "show", "type", "veth")
        )
        assert host["address"] == "02:00:00:00:00:02"
        assert [each["local"] for each in host["addr_info"]] == ["10.0.0.2"]
        rates = [
            shown(network.switch, "tc", "qdisc", "show", "dev", name)
            for name in network.switch.interfaces
        ]
        assert "tbf" in rates[0]
        assert "rate 10Mbit" in rates[0]
        assert "tbf" not in rates[1]
        pids = [os.pidfd_open(place.pid) for place in places]
    assert links() == before
    for pid in pids:
        assert select.select([pid], [], [], 10)[0]
        os.close(pid)
    network.close()


def test_a_delay_that_the_kernel_does_not_know_is_told(mininet):
    with MininetNetwork([worker_address(0)], [Shape(10**11, 10**9)]) as network:
        told = shown(network.switch, "tc", "qdisc", "show", "dev", network.switch.interfaces[0])
        sentences = [told for told in network.not_enforced if "delay" in told]
    # Either the kernel delays, or it is said.
    assert ("netem" in told) == (not sentences)
    if sentences:
        assert sentences[0].startswith("the links' delay is not enforced: no netem in this kernel")
        assert "qdisc kind is unknown" in sentences[0]


def test_nothing_is_left_after_innet_was_killed(mininet):
    program = """
        import signal
        from innet.emulator.mininet_network import MininetNetwork, Shape
        from innet.emulator.places import worker_address
        network = MininetNetwork([worker_address(0)], [Shape(10**11, 0)])
        print(network.switch.pid, network.workers[0].pid, flush=True)
        signal.pause()
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        shells = [os.pidfd_open(int(word)) for word in parent.stdout.readline().split()]
        assert len(shells) == 2
        os.kill(parent.pid, signal.SIGKILL)
    for shell in shells:
        assert select.select([shell], [], [], 20)[0]
        os.close(shell)


@pytest.fixture
def broken_python(tmp_path, monkeypatch):
    """A Python that says it has Mininet, and then does what the test wants."""

    def make(script):
        program = tmp_path / "python3"
        program.write_text(
            f'#!/bin/sh\ncase "$*" in *mininet.net*) echo 2.3.0; exit 0;; esac\n{script}\n'
        )
        program.chmod(0o755)
        monkeypatch.setattr("innet.emulator.mininet_python.MININET_PYTHONS", (str(program),))
        monkeypatch.setattr("innet.emulator.mininet_network.TOOLS", ())

    return make


def test_what_mininet_says_when_it_fails_is_told(broken_python):
    broken_python("""read line; echo '{"failed": "Exception: no veth", "errors": ["because"]}'""")
    with pytest.raises(InnetError, match=r"^Mininet built no network: Exception: no veth because$"):
        MininetNetwork([worker_address(0)], [SLOW])


def test_a_script_that_ends_is_told_with_its_last_words(broken_python):
    broken_python("echo first >&2; echo ImportError: no mininet >&2; exit 1")
    with pytest.raises(InnetError, match="built no network: ImportError: no mininet"):
        MininetNetwork([worker_address(0)], [SLOW])


def test_a_missing_mininet_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr("innet.emulator.mininet_python.MININET_PYTHONS", ("no-such-python",))
    monkeypatch.setattr("innet.emulator.mininet_network.TOOLS", ())
    with pytest.raises(MissingToolError, match=r"not installed \(apt install mininet\)"):
        MininetNetwork([worker_address(0)], [SLOW])


@pytest.mark.parametrize(
    ("shape", "options"),
    [
        (Shape(10**11, 0), {}),
        (Shape(10**9, 0), {"bw": 1000.0, "use_tbf": True, "latency_ms": 10000.0}),
        (Shape(10**10, 1500 * 10**6), {"delay": "1500us"}),
    ],
)
def test_links_are_asked_for_what_mininet_can_do(shape, options):
    assert shape.options == options
