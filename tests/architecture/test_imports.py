"""What each room imports: the contracts in pyproject.toml and the protocol's own short list."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# No clock, no randomness, no socket, no log: a machine is told the time and hands over packets.
PROTOCOL_MAY_IMPORT = {
    "abc",
    "collections",
    "dataclasses",
    "enum",
    "innet.errors",
    "innet.protocol",
    "math",
    "numpy",
    "typing",
}
LOADERS = {"__import__", "eval", "exec", "importlib"}
HEAVY = ("matplotlib", "numba", "scapy", "simpy")


def test_rooms_keep_to_their_contracts():
    lint = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    done = subprocess.run(
        [sys.executable, "-c", lint, "--no-cache"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout


def imported_by(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or "")
        elif isinstance(node, ast.Name) and node.id in LOADERS:
            yield node.id


def forbidden_to_the_protocol(source: str) -> list[str]:
    def allowed(name: str) -> bool:
        return any(name == room or name.startswith(f"{room}.") for room in PROTOCOL_MAY_IMPORT)

    return [name for name in imported_by(source) if not allowed(name)]


def test_the_protocol_has_no_clock_no_chance_and_no_socket():
    files = sorted((ROOT / "innet" / "protocol").glob("**/*.py"))
    assert len(files) > 3
    for file in files:
        assert forbidden_to_the_protocol(file.read_text(encoding="utf-8")) == [], file


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import time", ["time"]),
        ("def f():\n    from random import random", ["random"]),
        ("import numpy as np, socket", ["socket"]),
        ("from innet.wire.headers import Header", ["innet.wire.headers"]),
        ("from innet import wire", ["innet"]),
        ("from ..units import format_rate", ["..units"]),
        ("t = __import__('time')", ["__import__"]),
        ("from innet.protocol.machine import NEVER\nimport collections.abc", []),
    ],
)
def test_a_forbidden_import_is_found_wherever_it_stands(source, found):
    assert forbidden_to_the_protocol(source) == found


@pytest.mark.parametrize(
    "words", [["--help"], ["schema"], ["check", str(ROOT / "scenarios" / "quickstart.yaml")]]
)
def test_commands_that_simulate_nothing_load_nothing_heavy(words):
    program = (
        "import sys; from innet.cli.main import run_command; "
        f"assert run_command({words!r}) == 0; "
        f"sys.exit(str([name for name in {HEAVY!r} if name in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout
    assert done.stderr == "[]\n"
