"""BMv2 as a child process. A program that only listens stands for it where it is missing."""

import os
import shutil
import socket
import sys
import textwrap

import pytest

from innet.emulator.bmv2 import DEFAULT_QUEUE_PACKETS, QUEUE_PACKETS, Bmv2, queue_packets
from innet.emulator.child import ChildFailedError
from innet.emulator.netns import TOOLS
from innet.emulator.places import Place
from innet.errors import MissingToolError

pytestmark = [
    pytest.mark.usefixtures("namespaces"),
    pytest.mark.skipif(
        any(shutil.which(tool) is None for tool in TOOLS), reason=f"needs {', '.join(TOOLS)}"
    ),
]

LISTENING = """
    import socket, sys, time
    print(*sys.argv[1:], flush=True)
    address = sys.argv[sys.argv.index("--grpc-server-addr") + 1].removeprefix("unix:")
    server = socket.socket(socket.AF_UNIX)
    server.bind(address)
    server.listen()
    time.sleep(600)
"""
HERE = Place(os.getpid(), ("a0", "b0"))


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """A PATH with programs of the test's own before all others."""
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")

    def add(name, script):
        program = tmp_path / name
        program.write_text(f"#!{sys.executable}\n{textwrap.dedent(script)}")
        program.chmod(0o755)

    add("simple_switch_CLI", "import sys; sys.exit(1)")
    return add


def listens(target):
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(target.removeprefix("unix:")) == 0


def test_the_switch_gets_its_ports_and_no_program(programs):
    programs("simple_switch_grpc", LISTENING)
    with Bmv2(HERE) as switch:
        assert listens(switch.target)
        words = switch.output().split()
        own = words.index("--")
        assert words[own:] == ["--", "--grpc-server-addr", switch.target, "--drop-port", "511"]
        assert "--no-p4" in words[:own]
        assert words[words.index("--device-id") + 1] == str(switch.device)
        assert words[words.index("--log-level") + 1] == "off"
        assert [words[i + 1] for i, word in enumerate(words) if word == "-i"] == ["1@a0", "2@b0"]
    assert not listens(switch.target)
    assert not os.path.exists(os.path.dirname(switch.target.removeprefix("unix:")))


def test_two_switches_have_different_device_ids(programs):
    programs("simple_switch_grpc", LISTENING)
    with Bmv2(HERE) as one, Bmv2(HERE) as other:
        assert one.device != other.device
        assert one.target != other.target


def test_one_that_does_not_come_up_says_what_it_wrote(programs):
    programs("simple_switch_grpc", "import sys; sys.exit('Cannot add interface a0')")
    with pytest.raises(ChildFailedError, match="exit code 1; it wrote:\nCannot add interface a0"):
        Bmv2(HERE)


def test_a_killed_switch_is_noticed_and_can_be_started_again(programs):
    programs("simple_switch_grpc", LISTENING)
    with Bmv2(HERE) as switch:
        before = switch.pid
        switch.kill()
        with pytest.raises(ChildFailedError, match=r"the switch .* was ended by SIGKILL"):
            switch.require_running()
        switch.restart()
        switch.require_running()
        assert switch.pid != before
        assert listens(switch.target)


def test_queues_keep_their_size_where_the_command_line_does_not_work(programs):
    programs("simple_switch_grpc", LISTENING)
    with Bmv2(HERE) as switch:
        assert switch.queue_packets == queue_packets() == DEFAULT_QUEUE_PACKETS


def test_queues_are_made_longer_by_the_command_line(programs, tmp_path):
    programs("simple_switch_grpc", LISTENING)
    told = tmp_path / "told"
    programs(
        "simple_switch_CLI",
        f"""
        import pathlib, sys
        if "--help" not in sys.argv:
            pathlib.Path({str(told)!r}).write_text(" ".join(sys.argv[1:]) + " " + sys.stdin.read())
        """,
    )
    with Bmv2(HERE) as switch:
        assert switch.queue_packets == QUEUE_PACKETS
    assert told.read_text() == f"--thrift-port 9090 set_queue_depth {QUEUE_PACKETS}\n"


def test_without_bmv2_the_error_says_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingToolError, match="apt install p4lang-bmv2") as missing:
        Bmv2(HERE)
    assert missing.value.exit_code == 3
