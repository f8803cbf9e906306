"""The star of veth pairs: frames pass as they are, and nothing is left of it, ever."""

import os
import select
import shutil
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from innet.emulator.netns import TOOLS, NamespaceNetwork
from innet.emulator.places import OFFLOADS, switch_address, worker_address
from innet.errors import MissingToolError

pytestmark = [
    pytest.mark.usefixtures("namespaces"),
    pytest.mark.skipif(
        any(shutil.which(tool) is None for tool in TOOLS), reason=f"needs {', '.join(TOOLS)}"
    ),
]

# Own frames come back to a raw socket marked as outgoing (4); they are no answer.
ECHO = """
    import socket
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) as port:
        port.bind(("port2", 0))
        print("ready", flush=True)
        while True:
            frame, origin = port.recvfrom(2048)
            if origin[2] != 4:
                port.send(frame)
"""
ASK = """
    import socket, sys
    frame = bytes.fromhex(sys.argv[1])
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) as own:
        own.bind(("eth0", 0))
        own.settimeout(10)
        own.send(frame)
        while True:
            answer, origin = own.recvfrom(2048)
            if origin[2] != 4:
                break
    print(answer == frame)
"""


def python(program, *arguments):
    return [sys.executable, "-c", textwrap.dedent(program), *arguments]


def namespaces_of_links():
    listed = subprocess.run(["ip", "link"], capture_output=True, text=True, check=True)
    return listed.stdout


@pytest.fixture
def star():
    with NamespaceNetwork([worker_address(worker) for worker in range(3)]) as network:
        yield network


def test_a_frame_of_the_largest_packet_passes_as_it_is(star):
    # A wrong IPv4 checksum included: no interface may put anything right.
    frame = worker_address(2).mac + worker_address(1).mac + b"\x08\x00" + bytes(1052)
    echo = star.switch.command(*python(ECHO))
    with subprocess.Popen(echo, stdout=subprocess.PIPE, text=True) as echoing:
        try:
            assert echoing.stdout.readline() == "ready\n"
            ask = star.workers[1].command(*python(ASK, frame.hex()))
            answered = subprocess.run(ask, capture_output=True, text=True, check=True)
        finally:
            echoing.kill()
    assert answered.stdout == "True\n"


def test_offloads_are_off_at_both_ends(star):
    for place in (star.switch, *star.workers):
        for interface in place.interfaces:
            shown = subprocess.run(
                place.command("ethtool", "-k", interface),
                capture_output=True,
                text=True,
                check=True,
            ).stdout
            for feature in OFFLOADS.values():
                assert f"\n{feature}: off" in shown


def test_workers_have_the_addresses_of_the_scheme(star):
    shown = subprocess.run(
        star.workers[2].command("ip", "-br", "link", "show", "eth0"),
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "02:00:00:00:00:03" in shown
    assert worker_address(2).ip_text == "10.0.0.3"
    assert switch_address().ip_text == "10.0.0.254"
    assert switch_address().mac_text == "02:00:00:00:00:fe"


def test_nothing_shows_outside_and_nothing_is_left():
    before = namespaces_of_links()
    with NamespaceNetwork([worker_address(0), worker_address(1)]) as network:
        assert namespaces_of_links() == before
        holders = [place.pid for place in (*network.workers, network.switch)]
        assert all(Path(f"/proc/{pid}").exists() for pid in holders)
    assert not any(Path(f"/proc/{pid}").exists() for pid in holders)
    assert namespaces_of_links() == before
    network.close()


def test_nothing_is_left_after_innet_was_killed():
    program = """
        import signal
        from innet.emulator.netns import NamespaceNetwork
        from innet.emulator.places import worker_address
        network = NamespaceNetwork([worker_address(0)])
        print(*(place.pid for place in (network.switch, *network.workers)), flush=True)
        signal.pause()
    """
    with subprocess.Popen(python(program), stdout=subprocess.PIPE, text=True) as parent:
        holders = [int(word) for word in parent.stdout.readline().split()]
        assert len(holders) == 2
        descriptors = [os.pidfd_open(holder) for holder in holders]
        os.kill(parent.pid, signal.SIGKILL)
    for descriptor in descriptors:
        # Readable means that the process has ended.
        assert select.select([descriptor], [], [], 10)[0]
        os.close(descriptor)


def test_without_the_right_the_error_says_what_to_do():
    program = """
        from innet.emulator.netns import NamespaceNetwork
        from innet.emulator.places import worker_address
        from innet.errors import InnetError
        try:
            NamespaceNetwork([worker_address(0)])
        except InnetError as error:
            print(error.exit_code, error)
    """
    without = ["setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin"]
    ran = subprocess.run([*without, *python(program)], capture_output=True, text=True, check=True)
    assert ran.stdout.startswith("3 network namespaces cannot be made here; they need root")
    assert "--net loopback" in ran.stdout


def test_a_missing_tool_names_how_to_install_it(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingToolError) as missing:
        NamespaceNetwork([worker_address(0)])
    assert "ethtool is not on the PATH (apt install ethtool)" in str(missing.value)
    assert missing.value.exit_code == 3
