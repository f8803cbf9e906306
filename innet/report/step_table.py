"""The table of a training scenario's results (stand-in until the real one is there)."""

from collections.abc import Mapping
from typing import Any

from rich.text import Text

from innet.report.numbers import short_duration
from innet.report.step_results import StepResults


def step_table_lines(results: StepResults, scenario: Mapping[str, Any]) -> list[Text]:
    """Return the table, a Text a line."""
    lines = [Text(f"# {results.name}: training step", "bold")]
    for point in results.points:
        if point.parameters:
            lines.append(Text(", ".join(f"{k}={v}" for k, v in point.parameters.items())))
        for run in point.runs:
            lines.append(Text(f"  {run.algorithm:20} {run.engine:10} {short_duration(run.step_ps)}"))
        if point.gain is not None:
            lines.append(Text(f"  gain over {point.gain.over}: {point.gain.gain:.3g}"))
    return lines
