"""How functions are compiled: into one kernel, without counting references to its arrays."""

from collections.abc import Callable
from typing import Any

from numba import njit
from numba.extending import register_jitable

_PLAIN: dict[str, Any] = {"_nrt": False, "error_model": "numpy"}

inlined: Callable[..., Any] = njit(**_PLAIN, forceinline=True)
kernel: Callable[..., Any] = njit(**_PLAIN, cache=True)


def as_it_is(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let compiled code call a plain Python function, compiled from its own source."""
    compiled: Callable[..., Any] = register_jitable(**_PLAIN, forceinline=True)(function)
    return compiled
