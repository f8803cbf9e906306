"""`innet sweep`: run every point of a scenario's grid on many processes."""

import os
from pathlib import Path
from typing import Annotated

import typer

from innet.cli.options import (
    Engine,
    EngineChoice,
    JsonForTable,
    Out,
    Overrides,
    Plots,
    Quiet,
    ScenarioFile,
    Seed,
)


def sweep(
    scenario: ScenarioFile,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", min=1, help="Processes; default: all cores.")
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Dask scheduler whose workers run the points."),
    ] = None,
    as_json: JsonForTable = False,
    quiet: Quiet = False,
    seed: Seed = None,
    out: Out = Path("runs"),
    overrides: Overrides = None,
    engine: EngineChoice = Engine.auto,
    plots: Plots = True,
) -> None:
    """Run every point of a scenario's grid on this machine's cores or on a Dask cluster.

    Leaves in OUT/NAME what `innet run` leaves there. A point that is finished is kept in
    OUT/NAME/points: run the command again to go on after any stop, remove that folder to start
    afresh. A point that fails does not stop the others.
    """
    from innet.campaign.execute import Request
    from innet.campaign.sweep import Crew
    from innet.campaign.sweep import sweep as run_sweep
    from innet.cli.interrupt import end_like_interrupt
    from innet.cli.outcome import show_outcome
    from innet.cli.sweep_status import shown_status

    end_like_interrupt()
    crew = Crew(jobs or os.cpu_count() or 1, cluster)
    with shown_status(quiet) as report:
        request = Request(scenario, tuple(overrides or ()), seed, out, plots, engine.value)
        outcome = run_sweep(request, crew, report)
    show_outcome(outcome, as_json, quiet)
