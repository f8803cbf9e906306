"""Starting `innet`: quick help, versions, usage errors."""

import subprocess
import sys

import pytest

from innet import __version__
from innet.cli.main import COMMANDS

SLOW_TO_IMPORT = ("numpy", "simpy", "matplotlib", "pydantic", "yaml", "numba", "rich.console")


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_imports_nothing_slow(option):
    program = (
        "import sys; from innet.cli.main import run_command; "
        f"assert run_command([{option!r}]) == 0; "
        f"sys.exit(str([name for name in {SLOW_TO_IMPORT!r} if name in sys.modules]))"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert found.stderr == "[]\n"
    for command in COMMANDS:
        assert f"\n  {command} " in found.stdout


def test_the_version(innet):
    assert innet("--version") == (0, f"innet {__version__}\n", "")


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_command_has_help(innet, command):
    code, out, err = innet(command, "--help")
    assert (code, err) == (0, "")
    assert f"Usage: innet {command}" in out
    assert COMMANDS[command] in out or COMMANDS[command].removesuffix(".") in out


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("frobnicate",),
        ("run",),
        ("run", "a.yaml", "b.yaml"),
        ("run", "a.yaml", "--engine", "quantum"),
        ("run", "a.yaml", "--seed", "x"),
        ("plot",),
        ("plot", "runs/a", "--y", "colour"),
        ("compare", "runs/a"),
        ("explain", "runs/a", "--nothing"),
    ],
)
def test_a_wrong_command_line_is_a_usage_error(innet, arguments):
    code, out, err = innet(*arguments)
    assert code == 2
    assert "Usage: innet" in out + err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    "arguments",
    [
        ("plot", "runs/none"),
        ("compare", "runs/none", "runs/none"),
        ("explain", "runs/none"),
    ],
)
def test_a_run_directory_that_is_not_there(innet, arguments):
    code, _, err = innet(*arguments)
    assert code == 2
    assert err.startswith("runs/none: there is no such run directory")


def test_the_module_is_the_command():
    found = subprocess.run(
        [sys.executable, "-m", "innet.cli.main", "run", "nothing.yaml"],
        capture_output=True,
        text=True,
    )
    assert found.returncode == 2
    assert found.stderr == "nothing.yaml: there is no such file\n"
