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

    One line an algorithm, lower bounds dashed.
    """
    from innet.campaign.topology import draw_scenario
    from innet.cli.output import write_text
    from innet.report.draw import draw_runs

    if (topology is None) == (not runs):
        raise typer.BadParameter("give either run directories or --topology SCENARIO")
    if topology is not None:
        written = draw_scenario(topology, overrides or (), out)
    else:
        written = draw_runs(runs or [], x, y.value, out, lines)
    if not quiet:
        write_text(f"{written}\n")
