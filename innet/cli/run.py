"""`innet run`: run a scenario and compare its algorithms."""

from pathlib import Path

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


def run(
    scenario: ScenarioFile,
    as_json: JsonForTable = False,
    quiet: Quiet = False,
    seed: Seed = None,
    out: Out = Path("runs"),
    overrides: Overrides = None,
    engine: EngineChoice = Engine.auto,
    plots: Plots = True,
) -> None:
    """Run a scenario and compare its algorithms.

    The results go to stdout and to the run directory OUT/NAME.
    """
    from innet.campaign.execute import Request, execute
    from innet.cli.interrupt import end_like_interrupt
    from innet.cli.outcome import show_outcome
    from innet.cli.output import write_note
    from innet.cli.progress import shown_progress

    end_like_interrupt()
    with shown_progress(quiet) as report:
        request = Request(scenario, tuple(overrides or ()), seed, out, plots, engine.value)
        outcome = execute(request, report, _say_nothing if quiet else write_note)
    show_outcome(outcome, as_json, quiet)


def _say_nothing(_: str) -> None:
    """Take a note that nobody wants."""
