"""The `innet` command: finds the command that was asked for and turns errors into exit codes.

Only the module of the command that was asked for is imported, so that `innet --help` needs
neither NumPy nor anything else that is slow to load.
"""

import os
import sys
from collections.abc import Callable, Sequence
from functools import wraps
from importlib import import_module
from typing import Annotated, Any

import typer

from innet import __version__
from innet.errors import ConfigurationError, InnetError

# Name -> what `innet --help` says. A command is the function of its name in innet.cli.<name>,
# unless Python's own words forbid that name.
COMMANDS = {
    "run": "Run a scenario and compare its algorithms.",
    "sweep": "Run every point of a scenario's grid on many processes.",
    "emulate": "Run a scenario's in-network all-reduce with real packets.",
    "plot": "Draw what was swept, or bars, from run directories.",
    "compare": "Say what changed between two run directories.",
    "explain": "Say what limited each run and what would help.",
    "trace": "Write the timeline of a training step for a viewer.",
    "check": "Validate a scenario and say what it will run.",
    "new": "Write a commented scenario to start from.",
    "import": "Write a training scenario from another tool's step.",
    "schema": "Print the JSON Schema of scenario files, for editors.",
    "doctor": "Say what the emulator finds here and what is missing.",
}
# A group of commands -> what `innet --help` says, and its commands likewise. A command is the
# function <group>_<name> of innet.cli.<group>.
GROUPS = {
    "p4": (
        "Compile, deploy and test the P4 program.",
        {
            "compile": "Compile the P4 program with p4c.",
            "deploy": "Put the program and a scenario's job on a running BMv2.",
            "test": "Try random packets on a switch.",
            "status": "Show the jobs and counters of a running BMv2.",
        },
    ),
}
_RENAMED = {"import": "import_step"}
INTERRUPTED = 130
_CONTEXT = {"help_option_names": ["-h", "--help"]}


def main() -> None:
    """Run the command line of this process and leave with its exit code."""
    sys.exit(run_command(sys.argv[1:]))


def run_command(arguments: Sequence[str]) -> int:
    """Run one command line, without the program's name, and return its exit code."""
    try:
        # A command that is imported may fail too, so making the application is inside.
        build_app(arguments)(args=list(arguments), prog_name="innet")
    except SystemExit as leaving:
        code = leaving.code
        return code if isinstance(code, int) else 0 if code is None else 1
    except BaseException as error:
        return _exit_code(error)
    return 0


def build_app(arguments: Sequence[str]) -> typer.Typer:
    """Return the application with the commands that `arguments` may ask for loaded."""
    app = typer.Typer(
        name="innet",
        help="Simulate in-network aggregation for distributed training, packet by packet.",
        add_completion=False,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings=_CONTEXT,
    )
    app.callback()(_options)
    for name, told in COMMANDS.items():
        known = _RENAMED.get(name, name)
        function = (known, known) if name in arguments else None
        _add_command(app, name, told, function)
    for group, (told, commands) in GROUPS.items():
        part = typer.Typer(
            help=told, no_args_is_help=True, rich_markup_mode=None, context_settings=_CONTEXT
        )
        for name, told_of_command in commands.items():
            function = (group, f"{group}_{name}") if group in arguments else None
            _add_command(part, name, told_of_command, function)
        app.add_typer(part, name=group)
    return app


def _add_command(app: typer.Typer, name: str, told: str, function: tuple[str, str] | None) -> None:
    """Add a command; `function` is the module below innet.cli and the name to load it by."""
    command = _not_loaded if function is None else _guarded(*function)
    app.command(name, help=told, context_settings=_CONTEXT)(command)


def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Print the version and leave.",
            is_eager=True,
            callback=lambda wanted: _print_version() if wanted else None,
        ),
    ] = False,
) -> None:
    """Take the options that stand before a command."""


def _print_version() -> None:
    typer.echo(f"innet {__version__}")
    raise typer.Exit


def _not_loaded() -> None:
    """Stand for a command that the command line does not name."""


def _guarded(module: str, name: str) -> Callable[..., None]:
    """Return a command that reports its errors itself: Typer would exit with 1 on Ctrl-C."""
    command: Callable[..., None] = getattr(import_module(f"innet.cli.{module}"), name)

    @wraps(command)
    def guarded(*arguments: Any, **options: Any) -> None:  # noqa: ANN401
        try:
            command(*arguments, **options)
            sys.stdout.flush()
        except (InnetError, KeyboardInterrupt, OSError, MemoryError) as error:
            sys.exit(_exit_code(error))

    return guarded


def _exit_code(error: BaseException) -> int:
    """Report an error in one message on stderr and return the exit code."""
    if isinstance(error, ConfigurationError) and error.file is not None:
        # Editors and scripts find the place when the line starts with FILE:LINE:.
        return _failed(str(error), error.exit_code, "")
    if isinstance(error, InnetError):
        return _failed(str(error), error.exit_code)
    if isinstance(error, KeyboardInterrupt):
        return _failed("interrupted", INTERRUPTED)
    if isinstance(error, BrokenPipeError):
        # Whoever read the output has seen enough; nothing more can be written there.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    if isinstance(error, MemoryError):
        return _failed("not enough memory; a smaller size, or check: never, needs less", 1)
    if os.environ.get("INNET_DEBUG") == "1":
        raise error
    if isinstance(error, OSError) and error.strerror and error.filename:
        return _failed(f"{error.filename}: {error.strerror}", 2, "")
    told = f"{type(error).__name__}: {error}".partition("\n")[0]
    return _failed(f"internal error ({told}); please report it. INNET_DEBUG=1 shows where", 1)


def _failed(message: str, code: int, speaker: str = "innet: ") -> int:
    print(f"{speaker}{message}", file=sys.stderr)
    return code


if __name__ == "__main__":
    main()
