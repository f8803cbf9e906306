"""The machine's monotonic clock, in the protocol's picoseconds."""

import time

PS_PER_NS = 1000
PS_PER_SECOND = 10**12


class Clock:
    """Time since the clock was made. It never goes back."""

    def __init__(self) -> None:
        self._start = time.monotonic_ns()

    def now(self) -> int:
        """Picoseconds since the start; the machine counts nanoseconds at best."""
        return (time.monotonic_ns() - self._start) * PS_PER_NS
