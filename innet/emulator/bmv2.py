"""BMv2's simple_switch_grpc as a child process: started bare, controlled over P4Runtime.

The switch starts without a program (`--no-p4`); a control plane loads one. Its P4Runtime
server listens on a UNIX socket, which can be reached from outside the switch's network
namespace and needs no free port. P4Runtime cannot set how many packets BMv2's egress queues
hold, so that goes through BMv2's own command line, where it is installed.
"""

import secrets
import signal
import socket
import subprocess
import tempfile
from contextlib import ExitStack
from pathlib import Path

from innet.emulator.child import Child
from innet.emulator.closing import Closing
from innet.emulator.places import Place
from innet.emulator.tools import require_tools

PROGRAM = "simple_switch_grpc"
COMMAND_LINE = "simple_switch_CLI"
DROP_PORT = 511
QUEUE_PACKETS = 4096
"""What each egress queue is made to hold: the results of all slots, and calls for help."""

DEFAULT_QUEUE_PACKETS = 64
"""What an egress queue of BMv2 holds unless it is told otherwise; beyond that it drops."""

_THRIFT_PORT = 9090  # in the switch's own namespace, so no other program can have it
_START_S = 30.0
_COMMAND_S = 30.0


class Bmv2(Closing):
    """A running switch whose port p is `place.interfaces[p - 1]`.

    `target` is the address for a P4Runtime client, `device` the device id to name there.
    `queue_packets` is what each egress queue holds. Use it with `with`: leaving ends the
    process. Raises MissingToolError where BMv2 is missing, ChildFailedError if it does not
    come up.
    """

    def __init__(self, place: Place) -> None:
        require_tools([PROGRAM])
        self.place = place
        self.queue_packets = queue_packets()
        self.device = secrets.randbelow(2**31 - 1) + 1
        with ExitStack() as started:
            folder = started.enter_context(tempfile.TemporaryDirectory(prefix="innet-"))
            self._socket = Path(folder, "p4runtime")
            self._child = self._start()
            started.callback(lambda: self._child.stop())
            self._started = started.pop_all()

    @property
    def target(self) -> str:
        """The gRPC address of the switch's P4Runtime server."""
        return f"unix:{self._socket}"

    @property
    def pid(self) -> int:
        """The switch's process."""
        return self._child.pid

    def require_running(self) -> None:
        """Raise ChildFailedError, with what the switch wrote last, if it has ended."""
        self._child.require_running()

    def require_at_work(self) -> None:
        """Raise ChildFailedError if the switch has ended or is stopped."""
        self._child.require_at_work()

    def output(self) -> str:
        """The end of what the switch has written."""
        return self._child.output()

    def kill(self) -> None:
        """End the switch at once, as a crash would."""
        self._child.kill()

    def restart(self) -> None:
        """Start the switch again: bare, with no program, no tables and no registers."""
        self._child.stop()
        self._child = self._start()

    def pause(self) -> None:
        """Stop the process where it is."""
        self._child.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Have it go on after a pause."""
        self._child.send_signal(signal.SIGCONT)

    def close(self) -> None:
        """End the switch; any number of times."""
        self._started.close()

    def _start(self) -> Child:
        self._socket.unlink(missing_ok=True)
        child = Child(f"the switch ({PROGRAM})", self.place.command(*self._arguments()))
        try:
            child.wait_until(self._is_listening, _START_S)
            self._set_queues(child)
        except BaseException:
            child.stop()
            raise
        return child

    def _arguments(self) -> list[str]:
        ports = enumerate(self.place.interfaces, start=1)
        interfaces = [word for port, name in ports for word in ("-i", f"{port}@{name}")]
        options = ["--no-p4", "--device-id", str(self.device), "--log-level", "off"]
        options += ["--thrift-port", str(_THRIFT_PORT)]
        own = ["--grpc-server-addr", self.target, "--drop-port", str(DROP_PORT)]
        return [PROGRAM, *options, *interfaces, "--", *own]

    def _is_listening(self) -> bool:
        with socket.socket(socket.AF_UNIX) as probe:
            return probe.connect_ex(str(self._socket)) == 0

    def _set_queues(self, child: Child) -> None:
        """Make the egress queues hold `queue_packets`."""
        if self.queue_packets == DEFAULT_QUEUE_PACKETS:
            return
        wanted = f"set_queue_depth {self.queue_packets}\n"
        command = self.place.command(COMMAND_LINE, "--thrift-port", str(_THRIFT_PORT))

        def was_set() -> bool:
            ran = subprocess.run(command, input=wanted, capture_output=True, text=True, check=False)
            return ran.returncode == 0

        child.wait_until(was_set, _COMMAND_S)


def queue_packets() -> int:
    """What egress queues will hold here: more than BMv2's default takes its command line."""
    try:
        # Asked for its help, it shows whether it finds all that it needs.
        asked = subprocess.run([COMMAND_LINE, "--help"], capture_output=True, check=False)
    except FileNotFoundError:
        return DEFAULT_QUEUE_PACKETS
    return QUEUE_PACKETS if asked.returncode == 0 else DEFAULT_QUEUE_PACKETS


def packet_ps(elements: int) -> int:
    """About what BMv2 takes for a packet of `elements` values, built with its log messages."""
    return (150 + 2 * elements) * 10**6
