"""`innet plot`: draw what was swept."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from innet.cli.options import Quiet


class Measure(StrEnum):
    """What can be drawn along y."""

    time = "time"
    algbw = "algbw"
    busbw = "busbw"
    rate = "rate"


class StepChart(StrEnum):
    """What can be drawn of training steps."""

    auto = "auto"
    gain = "gain"
    shares = "shares"
    timeline = "timeline"


def plot(
    runs: Annotated[
        list[Path] | None, typer.Argument(metavar="RUN...", help="Run directories of innet run.")
    ] = None,
    topology: Annotated[
        Path | None,
        typer.Option(metavar="SCENARIO", help="Draw the network of a scenario file instead."),
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="With --topology: override a key."),
    ] = None,
    x: Annotated[
        str, typer.Option("--x", help="size, workers, loss, window, auto, or a swept key.")
    ] = "auto",
    y: Annotated[Measure, typer.Option("--y", help="rate is aggregated elements/s.")] = (
        Measure.time
    ),
    lines: Annotated[
        str | None,
        typer.Option(help="A swept key whose values get lines of their own, not panels."),
    ] = None,
    chart: Annotated[
        StepChart,
        typer.Option(help="Training: gain (auto: of runs or a sweep), shares of steps, timeline."),
    ] = StepChart.auto,
    algorithm: Annotated[
        str | None, typer.Option(help="With --chart timeline: one algorithm alone.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="File to write, .svg, .png or .pdf; default RUN/plots/X_Y.svg, or "
            "NAME_topology.svg.",
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Draw what was swept, or bars, from run directories, or a scenario's network.

    One line an algorithm, lower bounds dashed; of training steps the gain of in-network
    aggregation, how steps are spent, or a timeline a rank.
    """
    from innet.campaign.topology import draw_scenario
    from innet.cli.output import write_text
    from innet.report.by_kind import draw_folders

    if (topology is None) == (not runs):
        raise typer.BadParameter("give either run directories or --topology SCENARIO")
    if topology is not None:
        written = draw_scenario(topology, overrides or (), out)
    else:
        written = draw_folders(runs or [], x, y.value, out, lines, chart.value, algorithm)
    if not quiet:
        write_text(f"{written}\n")
