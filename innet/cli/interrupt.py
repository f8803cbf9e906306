"""A batch system's signal to end is taken like Ctrl-C, so that finished work is not lost."""

import signal
from typing import NoReturn


def end_like_interrupt() -> None:
    """From now on SIGTERM raises KeyboardInterrupt."""
    signal.signal(signal.SIGTERM, _interrupt)


def _interrupt(_number: int, _frame: object) -> NoReturn:
    raise KeyboardInterrupt
