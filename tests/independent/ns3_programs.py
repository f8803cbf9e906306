"""Builds programs against the headers and libraries in the PyPI package `ns3`, and runs them.

The package's Python bindings are not used: what they need has no wheels and is built for minutes.
"""

import json
import shutil
import subprocess
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

MODULES = ("core", "network", "point-to-point")
COMPILER = shutil.which("g++")


def ns3_package() -> Path | None:
    """Return the folder `ns3` of its site-packages, None where it is not installed."""
    try:
        return Path(str(distribution("ns3").locate_file("ns3")))
    except PackageNotFoundError:
        return None


needs_ns3 = pytest.mark.skipif(
    COMPILER is None or ns3_package() is None,
    reason="needs g++ and ns-3's libraries: pip install --no-deps ns3",
)


def build_ns3_program(name: str, folder: Path, package: Path | None = None) -> Path:
    """Compile the source `name`.cpp beside this file into a folder; return the program.

    `package` is the folder `ns3` of a site-packages, that of this Python unless given.
    """
    package = package or ns3_package()
    assert package is not None
    libraries = [find_library(package, module) for module in MODULES]
    program, source = folder / name, Path(__file__).with_name(f"{name}.cpp")
    command = [COMPILER, "-std=c++20", "-O2", "-isystem", package / "include"]
    command += [source, "-o", program, *libraries]
    command += [f"-Wl,-rpath,{libraries[0].parent}", "-Wl,--disable-new-dtags"]
    subprocess.run(command, check=True)
    return program


def find_library(package: Path, module: str) -> Path:
    (found,) = package.glob(f"lib*/libns3*-{module}.so")
    return found


def star_command(
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
