"""The programs and packages that parts of the emulator need, and where to get them."""

import shutil
from collections.abc import Sequence

from innet.errors import MissingToolError

_P4LANG = "p4lang's packages for Debian and Ubuntu, or its sources (see"

INSTALL = {
    "p4c-bm2-ss": f"apt install p4lang-p4c: {_P4LANG} github.com/p4lang/p4c)",
    "simple_switch_grpc": f"apt install p4lang-bmv2: {_P4LANG} github.com/p4lang/behavioral-model)",
    "simple_switch_CLI": "it comes with BMv2 and needs python3-thrift (apt install python3-thrift)",
    "finsy": "pip install 'innet[bmv2]'",
    "scapy": "pip install 'innet[pcap]'",
    "mininet": "apt install mininet",
    "setpriv": "apt install util-linux",
    "unshare": "apt install util-linux",
    "nsenter": "apt install util-linux",
    "ip": "apt install iproute2",
    "tc": "apt install iproute2",
    "ethtool": "apt install ethtool",
}
"""Program or Python package -> how to install it."""


def require_tools(programs: Sequence[str]) -> None:
    """Raise MissingToolError, which says how to install them, unless all are on the PATH."""
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        told = [f"{program} is not on the PATH ({INSTALL[program]})" for program in missing]
        raise MissingToolError("; ".join(told))
