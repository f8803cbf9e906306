"""When an operation had all the ranks that it needed: until then no network could end it."""

from collections.abc import Iterable
from typing import Protocol

from innet.trace.steps import COMPUTE


class OpenSpan(Protocol):
    """A span of a step, as it was traced or stored."""

    @property
    def operation(self) -> str:
        """What the rank did."""

    @property
    def number(self) -> int:
        """Which operation it was; -1 for compute."""

    @property
    def start_ps(self) -> int:
        """When the rank entered it."""

    @property
    def end_ps(self) -> int:
        """When it was over for the rank."""


def entered_ps(spans: Iterable[OpenSpan]) -> dict[int, int]:
    """Return by number when each operation had all the ranks that it needed.

    That is when the last of its ranks entered it, but for those that came after some rank's end:
    what ends without a rank does not need it, as a quorum, or a broadcast its receivers. Of a
    message the sender counts alone.
    """
    entries: dict[int, list[int]] = {}
    first_end: dict[int, int] = {}
    for span in spans:
        if span.operation not in (COMPUTE, "recv"):
            entries.setdefault(span.number, []).append(span.start_ps)
            first_end[span.number] = min(span.end_ps, first_end.get(span.number, span.end_ps))
    return {
        number: max(start for start in starts if start <= first_end[number])
        for number, starts in entries.items()
    }
