"""Programs that innet starts: each in a process group of its own, and never left behind.

A child gets SIGKILL from the kernel when the thread that started it ends, so nothing stays
even after innet itself was killed; `Child` waits until that is set up. Children are ended by
their own process group, never by name; a child that has ended is not reaped before that, so
its group cannot be another's.
"""

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from innet.emulator.closing import Closing
from innet.emulator.tools import require_tools
from innet.errors import InnetError

_BINDER = ["setpriv", "--pdeathsig", "KILL", "--"]
_TERMINATE_S = 2.0
_POLL_S = 0.01
_LOOK_S = 0.001
_LAST_BYTES = 2000


class ChildFailedError(InnetError):
    """A program that innet started has ended by itself, or never came up. Exit code 1."""


class Child(Closing):
    """A running program. Its output is kept, for the message if it fails.

    Start it from a thread that lives as long as the child should: the kernel ends the child
    together with that thread. Raises MissingToolError where setpriv is missing.
    """

    def __init__(self, name: str, command: Sequence[str]) -> None:
        require_tools(_BINDER[:1])
        self.name = name
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - stop closes it
        self._stopped = False
        self._process = subprocess.Popen(
            [*_BINDER, *command],
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._wait_for_program()

    @property
    def pid(self) -> int:
        """The program's process, which is also its group."""
        return self._process.pid

    def is_running(self) -> bool:
        """Say whether the program still runs."""
        return not self._stopped and self._status(os.WNOHANG) is None

    def require_running(self) -> None:
        """Raise ChildFailedError, with the end of what the program wrote, if it has ended."""
        if self._stopped:
            raise ChildFailedError(f"{self.name} was stopped")
        status = self._status(os.WNOHANG)
        if status is not None:
            raise ChildFailedError(f"{self.name} {_ending(status)}{self._said()}")

    def require_at_work(self) -> None:
        """Raise ChildFailedError if the program has ended, or was stopped by a signal."""
        self.require_running()
        state = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0]
        if state in "Tt":
            raise ChildFailedError(f"{self.name} is stopped")

    def wait_until(self, is_ready: Callable[[], bool], seconds: float) -> None:
        """Wait until `is_ready()`. Raises ChildFailedError if the child ends or takes longer."""
        deadline = time.monotonic() + seconds
        while not is_ready():
            self.require_running()
            if time.monotonic() > deadline:
                late = f"{self.name} is not ready after {seconds:g} s"
                raise ChildFailedError(late + self._said())
            time.sleep(_POLL_S)

    def send_signal(self, number: int) -> None:
        """Send a signal to the program alone; one that has ended does not mind."""
        os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill the program and all it started at once, as a crash would."""
        os.killpg(self.pid, signal.SIGKILL)
        self._status(0)

    def stop(self) -> None:
        """End the program and all it started; any number of times."""
        if self._stopped:
            return
        if self.is_running():
            os.killpg(self.pid, signal.SIGTERM)
            with suppress(ChildFailedError):
                self.wait_until(lambda: False, _TERMINATE_S)
        self.kill()
        self._stopped = True
        self._process.wait()
        self._log.close()

    def close(self) -> None:
        """End it with the `with` block."""
        self.stop()

    def output(self) -> str:
        """The end of what the program has written so far; nothing once it was stopped."""
        if self._stopped:
            return ""
        size = os.fstat(self._log.fileno()).st_size
        start = max(0, size - _LAST_BYTES)
        return os.pread(self._log.fileno(), _LAST_BYTES, start).decode(errors="replace")

    def _wait_for_program(self) -> None:
        """Wait until the child is bound to end with this process, and runs the program.

        While the kernel puts one program in the place of another there is no command to read.
        """
        while self.is_running() and _command(self.pid)[: len(_BINDER)] in (_BINDER, [""]):
            time.sleep(_LOOK_S)

    def _said(self) -> str:
        output = self.output().strip()
        return f"; it wrote:\n{output}" if output else ""

    def _status(self, options: int) -> "os.waitid_result | None":
        """How the program ended; None while it runs. It stays a zombie until it is reaped."""
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT | options)


def _command(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/cmdline").read_text().split("\0")


def _ending(status: "os.waitid_result") -> str:
    if status.si_code == os.CLD_EXITED:
        return f"has ended with exit code {status.si_status}"
    names = {int(number): number.name for number in signal.Signals}
    return f"was ended by {names.get(status.si_status, f'signal {status.si_status}')}"
