"""`innet run`: run a scenario and compare its algorithms."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from innet.cli.interrupt import end_like_interrupt
from innet.cli.options import Overrides, Quiet, ScenarioFile


class Engine(StrEnum):
    """Engines that can be asked for."""

    auto = "auto"
    reference = "reference"


def run(
    scenario: ScenarioFile,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object instead of the table.")
    ] = False,
    quiet: Quiet = False,
    seed: Annotated[int | None, typer.Option(help="Override the scenario's seed.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for run directories.")] = Path("runs"),
    overrides: Overrides = None,
    # There is one engine so far, so both choices run it; the table says which one ran.
    _engine: Annotated[
        Engine, typer.Option("--engine", help="auto takes the fastest one that is exact.")
    ] = Engine.auto,
    plots: Annotated[
        bool, typer.Option("--plots/--no-plots", help="Draw the results into the run directory.")
    ] = True,
) -> None:
    """Run a scenario and compare its algorithms.

    The results go to stdout and to the run directory OUT/NAME.
    """
    from innet.campaign.execute import Request, execute
    from innet.cli.output import write_lines, write_note, write_text
    from innet.cli.progress import shown_progress
    from innet.errors import InnetError
    from innet.report.results import json_text
    from innet.report.table import table_lines

    end_like_interrupt()
    with shown_progress(quiet) as report:
        request = Request(scenario, tuple(overrides or ()), seed, out, plots)
        outcome = execute(request, report)
    if as_json:
        write_text(json_text(outcome.results.as_json()))
    else:
        write_lines(table_lines(outcome.results, outcome.manifest["scenario"]["resolved"]))
    if not quiet:
        for file in outcome.files:
            write_note(f"wrote {file}")
    if outcome.failures:
        raise InnetError("\ninnet: ".join(outcome.failures))
