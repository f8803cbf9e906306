"""Errors of programs that innet's pipeline cannot run, and of packets that break a program."""

from innet.errors import ConfigurationError, InnetError


class PipelineError(InnetError):
    """A packet made the program do what would crash or hang BMv2 too. Exit code 1."""


def unsupported(what: str, where: str) -> ConfigurationError:
    """An error for a program that uses `what`, which is not implemented, in `where`."""
    return ConfigurationError(f"{where}: {what} is not implemented in innet's P4 pipeline")
