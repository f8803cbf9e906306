"""What changed between two runs of training scenarios: the configuration, and every step."""

from collections.abc import Iterator

from rich.text import Text

from innet.metrics.step_figures import StepSummary
from innet.report.compare import Pair, Points, aligned_rows, alone_lines, change_lines, pairs, ratio
from innet.report.numbers import short_duration
from innet.report.step_results import StepPoint, StoredSteps
from innet.report.step_table import point_title

_HEADS = (
    "point",
    "algorithm",
    "step A",
    "step B",
    "B/A",
    "exposed A",
    "exposed B",
    "hidden A",
    "hidden B",
    "limited by",
)


def compare_step_lines(before: StoredSteps, after: StoredSteps) -> list[Text]:
    """Return the comparison, a Text a line: configuration, then every step, then the gains."""
    lines = change_lines(before, after)
    matched = pairs(_points(before), _points(after))
    lines += aligned_rows(_pair_rows(matched))
    lines += alone_lines(matched)
    lines += [Text(), Text("exposed and hidden are means over ranks", "dim")]
    gains = [*_gains("A", before.results.points), *_gains("B", after.results.points)]
    return [*lines, Text(), *gains] if gains else lines


def _points(run: StoredSteps) -> Points[StepSummary]:
    return [(point.parameters, point.runs) for point in run.results.points]


def _pair_rows(found: list[Pair[StepSummary]]) -> Iterator[tuple[str, ...]]:
    yield _HEADS
    for pair in found:
        if pair.before is None or pair.after is None:
            continue
        before, after = pair.before, pair.after
        yield (
            pair.point,
            pair.algorithm,
            *map(_duration, (before.step_ps, after.step_ps)),
            ratio(before.step_ps, after.step_ps),
            *map(_duration, (before.mean.exposed_ps, after.mean.exposed_ps)),
            *map(_duration, (before.mean.hidden_ps, after.mean.hidden_ps)),
            " -> ".join(dict.fromkeys((before.limited_by, after.limited_by))),
        )


def _gains(name: str, points: tuple[StepPoint, ...]) -> Iterator[Text]:
    for point in points:
        if point.gain is not None:
            swept = point_title(point)
            at = f" at {swept}" if swept else ""
            told = f"gain {point.gain.gain:.4g} over {point.gain.over}"
            yield Text(f"{name}{at}: {told}{', a loss' if point.gain.gain < 1 else ''}")


def _duration(duration_ps: int) -> str:
    return short_duration(duration_ps, 4)
