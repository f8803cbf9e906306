"""A star in Mininet, built by a script that runs under the Python that has Mininet.

Mininet shapes links with the kernel's queueing disciplines and carries on when the kernel does
not have one. What was really set is read back here, and what was not is said.
"""

import json
import secrets
import select
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from innet.emulator.closing import Closing
from innet.emulator.mininet_python import find_mininet
from innet.emulator.places import HostAddress, Place, wait_for_carrier
from innet.emulator.tools import INSTALL, require_tools
from innet.errors import InnetError, MissingToolError
from innet.plan.plan import Plan

TOOLS = ("nsenter", "ip", "ethtool", "tc")
MAXIMUM_RATE_BPS = 10**9
"""Mininet takes no rate above this."""

_SCRIPT = Path(__file__).with_name("mininet_script.py")
_BUILD_S = 120.0
_REMOVE_S = 30.0
# A token bucket must let whole bursts of a window wait, as a link's queue without limit does.
_UNLIMITED_WAIT_MS = 10_000.0


@dataclass(frozen=True, slots=True)
class Shape:
    """What a worker's cable should be like, in each direction. 0 ps: no delay is asked for."""

    rate_bps: int
    delay_ps: int

    @property
    def options(self) -> dict[str, object]:
        """The options of Mininet's TCLink for it."""
        options: dict[str, object] = {}
        if self.rate_bps <= MAXIMUM_RATE_BPS:
            options |= {"bw": self.rate_bps / 1e6, "use_tbf": True}
            options["latency_ms"] = _UNLIMITED_WAIT_MS
        if self.delay_ps:
            options["delay"] = f"{self.delay_ps / 1e6:g}us"
        return options


def shapes_of(plan: Plan) -> list[Shape]:
    """What each worker's cable is like in a plan."""
    links = [plan.graph.links[plan.graph.links_out[host.node][0]] for host in plan.hosts]
    return [Shape(link.rate_bps, link.delay_ps) for link in links[: plan.workers]]


class MininetNetwork(Closing):
    """The running network. Use it with `with`: leaving removes everything.

    `switch` is where the switch runs, `workers[w]` where worker w does; hosts have their MAC and
    IPv4 addresses, and nothing in a name clashes with another Mininet. Raises MissingToolError
    without Mininet or one of `TOOLS`.
    """

    def __init__(self, addresses: Sequence[HostAddress], shapes: Sequence[Shape]) -> None:
        require_tools(TOOLS)
        found = find_mininet()
        if found is None:
            raise MissingToolError(f"Mininet is not installed ({INSTALL['mininet']})")
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - close closes it
        self._script = subprocess.Popen(
            # Isolated, so that the folder of the script is no place for modules.
            [found[0], "-I", str(_SCRIPT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,
            bufsize=0,
        )
        with ExitStack() as started:
            started.callback(self.close)
            built = self._build(addresses, shapes)
            self.switch = _place(built["switch"])
            self.workers = tuple(_place(worker) for worker in built["workers"])
            wait_for_carrier(self.switch)
            started.pop_all()
        self.not_enforced = tuple(_not_enforced(shapes, built))

    def close(self) -> None:
        """Remove everything; any number of times."""
        assert self._script.stdin is not None
        assert self._script.stdout is not None
        self._script.stdin.close()
        try:
            self._script.wait(_REMOVE_S)
        except subprocess.TimeoutExpired:
            self._script.kill()
            self._script.wait()
        self._script.stdout.close()
        self._errors.close()

    def _build(self, addresses: Sequence[HostAddress], shapes: Sequence[Shape]) -> Any:  # noqa: ANN401
        """Tell the script what to build, and wait for what it says."""
        wanted = {
            # In every interface's name, and so short.
            "name": f"in{secrets.token_hex(2)}",
            "workers": [
                {"mac": address.mac_text, "ip": address.ip_text, "link": shape.options}
                for address, shape in zip(addresses, shapes, strict=True)
            ],
        }
        assert self._script.stdin is not None
        assert self._script.stdout is not None
        with suppress(BrokenPipeError):  # one that has ended says nothing either
            self._script.stdin.write(json.dumps(wanted).encode() + b"\n")
        ready, _, _ = select.select([self._script.stdout], [], [], _BUILD_S)
        line = self._script.stdout.readline() if ready else b""
        if not line:
            raise InnetError(f"Mininet built no network: {self._last_words()}")
        built = json.loads(line)
        if "failed" in built:
            told = " ".join([built["failed"], *built["errors"]])
            raise InnetError(f"Mininet built no network: {told}")
        return built

    def _last_words(self) -> str:
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else f"no answer within {_BUILD_S:g} s"


def _place(node: Mapping[str, Any]) -> Place:
    return Place(node["pid"], tuple(node["interfaces"]))


def _not_enforced(shapes: Sequence[Shape], built: Mapping[str, Any]) -> Iterator[str]:
    """What the links are not like, in sentences."""
    if any(shape.rate_bps > MAXIMUM_RATE_BPS for shape in shapes):
        yield "link rates above 1 Gbps are not enforced: Mininet takes none"
    told = f" (Mininet: {built['errors'][-1].split('Error: ')[-1]})" if built["errors"] else ""
    for what, option, discipline in (("rate", "bw", "tbf"), ("delay", "delay", "netem")):
        if any(
            option in shape.options and discipline not in kinds
            for shape, kinds in zip(shapes, built["switch"]["disciplines"], strict=True)
        ):
            yield f"the links' {what} is not enforced: no {discipline} in this kernel{told}"
