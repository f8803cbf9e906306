"""The errors a user can meet, each with the exit code of the command that meets it.

Every message is complete by itself: it says where (file, line, key), what is wrong
and what would be right. No other exception type may reach a user.
"""


class InnetError(Exception):
    """A failure with a message for the user and an exit code."""

    exit_code = 1


class ConfigurationError(InnetError):
    """Bad input: a scenario, an option, a tensor file. Exit code 2.

    `file`, `line` (1-based) and `key` (dotted path) locate it where they are known;
    the message then starts with `FILE:LINE:`.
    """

    exit_code = 2

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        line: int | None = None,
        key: str | None = None,
    ) -> None:
        self.message = message
        self.file = file
        self.line = line
        self.key = key
        place = "" if file is None else f"{file}:" if line is None else f"{file}:{line}:"
        parts = [place, f"{key}:" if key else "", message]
        super().__init__(" ".join(part for part in parts if part))


def unreadable(file: object, error: Exception) -> ConfigurationError:
    """Return the error that says why a file cannot be read."""
    why = getattr(error, "strerror", None) or error
    return ConfigurationError(f"cannot be read: {why}", file=str(file))


class MissingToolError(InnetError):
    """A tool, package or right that this command needs is not there. Exit code 3."""

    exit_code = 3


class UnfinishedError(InnetError):
    """A run that cannot finish; the message names who waits for what. Exit code 1."""
