"""`innet trace`: write the timeline of a training step for a viewer."""

from pathlib import Path
from typing import Annotated

import typer

from innet.cli.options import Quiet, RunFolder


def trace(
    run: RunFolder,
    perfetto: Annotated[
        bool, typer.Option("--perfetto", help="Write what ui.perfetto.dev opens.")
    ] = False,
    algorithm: Annotated[
        str | None, typer.Option(help="Whose step; default in_network, or else the first.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write; default RUN/trace_ALGORITHM.json."),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Write the timeline of a training step: a track a rank and lane."""
    from innet.campaign.timeline import write_perfetto
    from innet.cli.output import write_text

    if not perfetto:
        raise typer.BadParameter("say in which format: --perfetto")
    written = write_perfetto(run, algorithm, out)
    if not quiet:
        write_text(f"{written}\n")
