"""Builds ns3_star.cpp with the headers and libraries in the PyPI package `ns3`, and runs it.

The package's Python bindings are not used: what they need has no wheels and is built for minutes.
"""

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

MODULES = ("core", "network", "point-to-point")
COMPILER = shutil.which("g++")


def build_ns3_star(package: Path, program: Path) -> None:
    """Compile for the ns-3 in `package`, the folder `ns3` of its site-packages."""
    libraries = [find_library(package, module) for module in MODULES]
    folder = libraries[0].parent
    command = [COMPILER, "-std=c++20", "-O2", "-isystem", package / "include"]
    command += [Path(__file__).with_suffix(".cpp"), "-o", program, *libraries]
    command += [f"-Wl,-rpath,{folder}", "-Wl,--disable-new-dtags"]
    subprocess.run(command, check=True)


def find_library(package: Path, module: str) -> Path:
    (found,) = package.glob(f"lib*/libns3*-{module}.so")
    return found


def ns3_command(
    program: Path,
    *,
    rates: Sequence[str],
    packet_bytes: int,
    chunks: int,
    window: int,
    delay: str,
    latency: str,
    resolution: str,
) -> list[str]:
    """Return the command that simulates a star; it prints one JSON object."""
    sizes = map(str, (packet_bytes, chunks, window))
    return [str(program), resolution, *sizes, delay, latency, *rates]


def finish_times_ps(command: Sequence[str]) -> list[int]:
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["finish_ps"]
