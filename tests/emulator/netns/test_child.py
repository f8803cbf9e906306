"""Programs that innet starts end with it, whatever happens, and say why when they fail."""

import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from innet.emulator.child import Child, ChildFailedError

pytestmark = pytest.mark.skipif(shutil.which("setpriv") is None, reason="setpriv is missing")


def is_gone(pid: int) -> bool:
    """Wait for the end of a process: no such process, or one that nobody has reaped yet."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
        time.sleep(0.01)
    return False


def first_line(child: Child) -> str:
    child.wait_until(lambda: "\n" in child.output(), 10)
    return child.output().splitlines()[0]


def test_a_child_that_ends_by_itself_is_reported_with_what_it_wrote():
    with (
        Child("the helper", ["sh", "-c", "echo no such port; exit 3"]) as child,
        pytest.raises(ChildFailedError) as failed,
    ):
        child.wait_until(lambda: False, 10)
    message = "the helper has ended with exit code 3; it wrote:\nno such port"
    assert str(failed.value) == message
    assert failed.value.exit_code == 1


def test_a_crash_names_the_signal():
    with Child("the helper", ["sleep", "infinity"]) as child:
        child.kill()
        with pytest.raises(ChildFailedError, match=r"^the helper was ended by SIGKILL$"):
            child.require_running()


def test_one_that_is_stopped_runs_but_is_not_at_work():
    with Child("the helper", ["sleep", "infinity"]) as child:
        child.wait_until(lambda: b"sleep" in command_of(child), 10)
        child.require_at_work()
        child.send_signal(signal.SIGSTOP)
        with pytest.raises(ChildFailedError, match=r"^the helper is stopped$"):
            child.wait_until(lambda: child.require_at_work() is not None, 10)
        child.require_running()


def command_of(child):
    return Path(f"/proc/{child.pid}/cmdline").read_bytes()


def test_one_that_is_never_ready_is_reported():
    with (
        Child("the helper", ["sleep", "infinity"]) as child,
        pytest.raises(ChildFailedError, match=r"^the helper is not ready after 0\.05 s$"),
    ):
        child.wait_until(lambda: False, 0.05)


def test_a_program_that_is_not_there_is_named():
    with (
        Child("the helper", ["no-such-program"]) as child,
        pytest.raises(ChildFailedError, match="failed to execute no-such-program"),
    ):
        child.wait_until(lambda: False, 10)


def test_stopping_also_ends_what_the_child_started():
    with Child("the helper", ["sh", "-c", "sleep infinity & echo $!; wait"]) as child:
        grandchild = int(first_line(child))
    assert is_gone(grandchild)
    assert is_gone(child.pid)


def test_stopping_ends_a_child_that_ignores_being_asked(monkeypatch):
    monkeypatch.setattr("innet.emulator.child._TERMINATE_S", 0.05)
    with Child(
        "the helper", ["sh", "-c", "trap '' TERM; echo; while :; do sleep 1; done"]
    ) as child:
        first_line(child)
    assert is_gone(child.pid)


def test_stopping_twice_and_after_a_crash_does_nothing():
    child = Child("the helper", ["sleep", "infinity"])
    child.kill()
    child.stop()
    child.stop()
    assert not child.is_running()
    with pytest.raises(ChildFailedError, match="was stopped"):
        child.require_running()


def test_a_child_ends_when_innet_is_killed():
    program = """
        from innet.emulator.child import Child
        import signal
        print(Child("the helper", ["sleep", "infinity"]).pid, flush=True)
        signal.pause()
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        child = int(parent.stdout.readline())
        assert not Path(f"/proc/{child}/stat").read_text().endswith("Z")
        os.kill(parent.pid, signal.SIGKILL)
    assert is_gone(child)
