"""Draw the network of a scenario file."""

from collections.abc import Sequence
from pathlib import Path

from innet.metrics.layout import layout_of
from innet.report.plot import plot_format
from innet.report.topology import write_topology
from innet.scenario.load import load_scenario
from innet.scenario.show import first_plan


def draw_scenario(file: Path, overrides: Sequence[str] = (), out: Path | None = None) -> Path:
    """Draw the network of a scenario's first point; return the file, by default NAME.svg here.

    Raises ConfigurationError for a bad scenario or a file that cannot be written.
    """
    if out is not None:
        plot_format(out)
    scenario = load_scenario(file, overrides)
    path = Path(f"{scenario.name}_topology.svg") if out is None else out
    write_topology(layout_of(first_plan(scenario).graph), scenario.name, path)
    return path
