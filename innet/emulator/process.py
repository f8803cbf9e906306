"""A Python process of innet's own, as the one who starts it sees it: told things, and heard."""

import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import innet
from innet.emulator.codec import encode
from innet.errors import InnetError

_PATIENCE_S = 2.0
_LOOK_EVERY_S = 0.05
_BYTES_AT_ONCE = 1 << 16

Report = dict[str, Any]


class ProcessFailedError(InnetError):
    """A process of an emulation failed. Exit code 1, or what the process gave."""

    def __init__(self, message: str, exit_code: int = 1) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class Process:
    """A process that runs `python -m module`, in a session of its own.

    It ends when its stdin closes (see `talk`), so also when this process is killed; `stop`
    closes it, and kills what does not end by itself. `prefix` is put before its command.
    """

    def __init__(
        self,
        name: str,
        module: str,
        settings: Any,  # noqa: ANN401 - a dataclass of `settings`
        prefix: Sequence[str] = (),
        descriptors: Sequence[int] = (),
    ) -> None:
        self.name = name
        self.last: Report = {}
        """The last report that it gave."""
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - stop closes it
        self._unread = b""
        self._popen = subprocess.Popen(
            [*prefix, sys.executable, "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            bufsize=0,
            pass_fds=list(descriptors),
            start_new_session=True,
            env=_environment(),
        )
        assert self._popen.stdout is not None
        os.set_blocking(self._popen.stdout.fileno(), False)
        self._tell(encode(settings))

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._popen.pid

    def fileno(self) -> int:
        """What to wait for, for reading, before `reports` has news."""
        assert self._popen.stdout is not None
        return self._popen.stdout.fileno()

    def tell(self, kind: str, **fields: Any) -> None:  # noqa: ANN401
        """Tell it something; whether it still lives is for `ending` to say."""
        self._tell({"kind": kind, **encode(fields)})

    def _tell(self, document: Any) -> None:  # noqa: ANN401
        assert self._popen.stdin is not None
        line = json.dumps(document).encode() + b"\n"
        with suppress(BrokenPipeError):
            while line:
                line = line[self._popen.stdin.write(line) :]

    def reports(self) -> list[Report]:
        """What it has reported since the last call. Raises ProcessFailedError if it failed."""
        assert self._popen.stdout is not None
        while data := self._popen.stdout.read(_BYTES_AT_ONCE):
            self._unread += data
        *lines, self._unread = self._unread.split(b"\n")
        found: list[Report] = [json.loads(line) for line in lines]
        for report in found:
            if report["kind"] == "failed":
                raise ProcessFailedError(f"{self.name}: {report['message']}", report["exit_code"])
            self.last = report
        return found

    def ending(self) -> str | None:
        """How it ended, with the last line that it wrote to stderr; None while it runs."""
        code = self._popen.poll()
        if code is None:
            return None
        how = f"ended with exit code {code}" if code >= 0 else f"was killed by signal {-code}"
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return f"{self.name} {how}" + (f" ({lines[-1].strip()})" if lines else "")

    def ask(self, kind: str, answer: str, patience_s: float, **fields: Any) -> Report:  # noqa: ANN401
        """Tell it something and wait for a report of the kind `answer`, as `wait` does."""
        self.tell(kind, **fields)
        return self.wait(answer, patience_s)

    def wait(self, answer: str, patience_s: float) -> Report:
        """Wait for a report of the kind `answer`. ProcessFailedError when none comes in time."""
        deadline = time.monotonic() + patience_s
        while True:
            ended = self.ending()  # asked first: what it said before must not be missed
            for report in self.reports():
                if report["kind"] == answer:
                    return report
            if ended is not None:
                raise ProcessFailedError(ended)
            if time.monotonic() > deadline:
                raise ProcessFailedError(f"{self.name} has not answered for {patience_s:g} s")
            select.select([self.fileno()], [], [], _LOOK_EVERY_S)

    def stop(self) -> None:
        """End it, at once if it does not end by itself; any number of times."""
        self.close()
        self.reap(_PATIENCE_S)

    def close(self) -> None:
        """Close its stdin, which ends it; `reap` waits for that."""
        assert self._popen.stdin is not None
        with suppress(BrokenPipeError):
            self._popen.stdin.close()

    def reap(self, patience_s: float) -> None:
        """Wait until it has ended; kill it after `patience_s`."""
        try:
            self._popen.wait(patience_s)
        except subprocess.TimeoutExpired:
            self._popen.kill()
            self._popen.wait()
        finally:
            assert self._popen.stdout is not None
            self._popen.stdout.close()
            self._errors.close()


def stop_all(processes: Sequence[Process]) -> None:
    """End processes together."""
    for process in processes:
        process.close()
    deadline = time.monotonic() + _PATIENCE_S
    for process in processes:
        process.reap(max(0.0, deadline - time.monotonic()))


def _environment() -> dict[str, str]:
    """This process's environment, in which the same innet is found, and no idle threads start."""
    folder = str(Path(innet.__file__).parents[1])
    path = os.pathsep.join(filter(None, (folder, os.environ.get("PYTHONPATH"))))
    return {**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"}
