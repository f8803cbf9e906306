"""How functions are compiled: into one kernel, without counting references to its arrays."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from numba import njit
from numba.core import event
from numba.extending import register_jitable

_PLAIN: dict[str, Any] = {"_nrt": False, "error_model": "numpy"}
# What is compiled into a kernel is never called from Python, so nothing is compiled for that.
_INNER: dict[str, Any] = {**_PLAIN, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}

_Function = TypeVar("_Function", bound=Callable[..., Any])

kernel: Callable[..., Any] = njit(**_PLAIN, cache=True)


def inlined(function: _Function) -> _Function:
    """Let compiled code call a function that nothing else calls."""
    compiled: _Function = njit(**_INNER, forceinline=True)(function)
    return compiled


def called(function: _Function) -> _Function:
    """Let compiled code call a function that is long and seldom called."""
    compiled: _Function = njit(**_INNER)(function)
    return compiled


def as_it_is(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let compiled code call a plain Python function, compiled from its own source."""
    compiled: Callable[..., Any] = register_jitable(**_INNER, forceinline=True)(function)
    return compiled


class _Announcer(event.Listener):
    """Says once that something is compiled and not taken from the cache."""

    def __init__(self, note: Callable[[str], None]) -> None:
        self._note: Callable[[str], None] | None = note

    def on_start(self, event: event.Event) -> None:
        if self._note is not None:
            self._note("compiling the engine; this is done once and takes some seconds")
            self._note = None

    def on_end(self, event: event.Event) -> None:
        """Nothing is said when it is done."""


@contextmanager
def announced(note: Callable[[str], None] | None) -> Iterator[None]:
    """Have it noted when something must be compiled."""
    if note is None:
        yield
        return
    with event.install_listener("numba:compile", _Announcer(note)):
        yield
