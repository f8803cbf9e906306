"""How an emulation and its processes talk: lines of JSON on a process's stdin and stdout.

The process that started another holds the other end of its stdin; when that closes, for
whatever reason, the other one ends too.
"""

import ctypes
import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Any

from innet.errors import InnetError

_BYTES_AT_ONCE = 1 << 16
_PR_SET_PDEATHSIG = 1

Command = dict[str, Any]


class ParentGoneError(InnetError):
    """Whoever started this process is there no more."""


class Conversation:
    """The child's side. Once `handle` is set it takes commands as a participant of a `loop`."""

    def __init__(self, incoming: int = 0, outgoing: int = 1) -> None:
        self.handle: Callable[[Command], None] = _ignore
        self._incoming = incoming
        self._outgoing = outgoing
        self._unread = b""

    def read(self) -> Command:
        """Wait for the next command. Raises ParentGoneError when there can be none."""
        while b"\n" not in self._unread:
            self._unread += self._bytes()
        line, self._unread = self._unread.split(b"\n", 1)
        command: Command = json.loads(line)
        return command

    def say(self, kind: str, **fields: Any) -> None:  # noqa: ANN401
        """Report something. Raises ParentGoneError when nobody listens."""
        line = json.dumps({"kind": kind, **fields}).encode() + b"\n"
        try:
            while line:
                line = line[os.write(self._outgoing, line) :]
        except BrokenPipeError:
            raise ParentGoneError("nobody listens") from None

    def descriptors(self) -> Sequence[int]:
        """The stream of commands."""
        return (self._incoming,)

    def next_time(self) -> int | None:
        """None: it has no timers."""
        return None

    def on_time(self, now: int) -> None:
        """Do nothing."""

    def on_readable(self, now: int) -> None:
        """Handle the commands that have come. Raises ParentGoneError at the stream's end."""
        self._unread += self._bytes()
        while b"\n" in self._unread:
            self.handle(self.read())

    def _bytes(self) -> bytes:
        data = os.read(self._incoming, _BYTES_AT_ONCE)
        if not data:
            raise ParentGoneError("whoever started this process has gone")
        return data


def run_process(work: Callable[[Conversation], None]) -> None:
    """Run a process's work and leave with its exit code; errors are reported, not printed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started it decides
    _end_with_parent()
    conversation = Conversation()
    try:
        work(conversation)
    except ParentGoneError:
        sys.exit(1)
    except InnetError as error:
        conversation.say("failed", message=str(error), exit_code=error.exit_code)
        sys.exit(error.exit_code)
    except Exception as error:
        if os.environ.get("INNET_DEBUG") == "1":
            raise
        told = f"{type(error).__name__}: {error}".partition("\n")[0]
        conversation.say("failed", message=f"internal error ({told})", exit_code=1)
        sys.exit(1)


def _end_with_parent() -> None:
    """Have the kernel kill this process with its parent, even if it is stopped or hangs."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _ignore(command: Command) -> None:
    """Take no commands yet."""
