"""`innet check`: validate a scenario and say what it will run."""

from pathlib import Path
from typing import Annotated

import typer


def check(
    scenario: Annotated[Path, typer.Argument(help="Scenario file (YAML).")],
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Override a key; may be repeated."),
    ] = None,
    show: Annotated[
        bool,
        typer.Option("--show", help="Print the network, and every point with all its defaults."),
    ] = False,
    route: Annotated[
        str | None,
        typer.Option(metavar="RANK,RANK", help="With --show: the pair whose route is printed."),
    ] = None,
) -> None:
    """Validate a scenario and say what it will run."""
    from innet.scenario.describe import describe, describe_resolved
    from innet.scenario.load import load_scenario
    from innet.scenario.show import describe_network

    loaded = load_scenario(scenario, overrides or ())
    typer.echo(describe(loaded))
    if show or route is not None:
        typer.echo(describe_network(loaded, route))
    if show:
        typer.echo(describe_resolved(loaded))
