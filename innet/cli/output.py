"""Results go to stdout, everything else to stderr. A reader that leaves early ends nothing."""

import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.text import Text


def write_text(text: str) -> None:
    """Write a text to stdout as it is."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        _discard_stdout()


def write_lines(lines: Iterable["Text"]) -> None:
    """Write lines to stdout, coloured on a terminal only, never wrapped or cut."""
    from rich.console import Console

    # Rich would leave with 1 by itself when the reader has gone, so it does not write.
    console = Console(file=sys.stdout, highlight=False, emoji=False, markup=False)
    with console.capture() as capture:
        for line in lines:
            console.print(line, soft_wrap=True)
    write_text(capture.get())


def write_note(text: str) -> None:
    """Write a line for people to stderr."""
    print(text, file=sys.stderr)


def _discard_stdout() -> None:
    """Send what is still to come nowhere: whoever read the output has seen enough."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
