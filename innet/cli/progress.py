"""Progress with the time left, on stderr, for work that takes more than a second.

A terminal gets a bar that goes away; anything else gets a line every few seconds.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from innet.units import format_duration

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

PATIENCE_S = 1.0
LINE_EVERY_S = 5.0
BAR_EVERY_S = 0.1


class Step(Protocol):
    """How far the work is."""

    @property
    def done(self) -> float:
        """Share from 0 to 1."""

    @property
    def doing(self) -> str:
        """What is being done now."""

    @property
    def reached_ps(self) -> int | None:
        """The simulated time that this has reached, None where no time is simulated."""


StepType = TypeVar("StepType")


class Display(Generic[StepType]):
    """Shows steps of work once it has taken a second, and then at a pace of its own."""

    every_s = LINE_EVERY_S

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._next = self._start + PATIENCE_S

    def show(self, step: StepType) -> None:
        """Draw the step if it is time to."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + self.every_s
            self.draw(step, now - self._start)

    def draw(self, step: StepType, elapsed_s: float) -> None:
        """Show a step, `elapsed_s` after the start."""
        raise NotImplementedError

    def close(self) -> None:
        """Leave what was shown where it is."""


@contextmanager
def shown(
    quiet: bool,
    bar: Callable[[], Display[StepType]],
    lines: Callable[[], Display[StepType]],
) -> Iterator[Callable[[StepType], None]]:
    """Give a function that shows steps: `bar` on a terminal, else `lines`, nothing if `quiet`."""
    if quiet:
        yield lambda step: None
        return
    display = bar() if sys.stderr.isatty() else lines()
    try:
        yield display.show
    finally:
        display.close()


def shown_progress(quiet: bool) -> AbstractContextManager[Callable[[Step], None]]:
    """Give a function that takes the work's steps and shows them, or not when `quiet`."""
    return shown(quiet, _Bar, _Lines)


class _Lines(Display[Step]):
    """A line with the share done, the time left and the simulated time, every few seconds."""

    def draw(self, step: Step, elapsed_s: float) -> None:
        told = f"{step.done:.0%} done, {_how_far(step, elapsed_s)}: {step.doing}"
        print(f"innet: {told}", file=sys.stderr, flush=True)


class _Bar(Display[Step]):
    """Rich's bar; made when the work has taken a second."""

    every_s = BAR_EVERY_S

    def __init__(self) -> None:
        super().__init__()
        self._bar: Bar | None = None
        self._task: TaskID | None = None

    def draw(self, step: Step, elapsed_s: float) -> None:
        if self._bar is None:
            self._open()
        if self._bar is not None and self._task is not None:
            doing = f"{step.doing}, {_how_far(step, elapsed_s)}"
            self._bar.update(self._task, completed=step.done, description=doing)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

        self._bar = Progress(
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.description}"),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._bar.add_task("", total=1.0)
        self._bar.start()


def _how_far(step: Step, elapsed_s: float) -> str:
    """Say how long the rest will take, and what simulated time has been reached."""
    left = time_left(elapsed_s, step.done)
    if step.reached_ps is None:
        return left
    return f"{left}, {format_duration(step.reached_ps, 3)} simulated"


def time_left(elapsed_s: float, done: float) -> str:
    """Say how long the rest will take at the pace so far."""
    if done <= 0:
        return "time left unknown"
    left = elapsed_s * (1 - done) / done
    if left < 90:
        return f"about {left:.0f} s left"
    if left < 5400:
        return f"about {left / 60:.0f} min left"
    return f"about {left / 3600:.1f} h left"
