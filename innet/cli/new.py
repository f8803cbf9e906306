"""`innet new`: write a commented scenario to start from."""

from pathlib import Path
from typing import Annotated

import typer


def new(
    path: Annotated[Path, typer.Argument(help="File to write.")] = Path("scenario.yaml"),
    template: Annotated[
        str, typer.Option("--template", "-t", help="quickstart, sweep, faults, tensors or racks.")
    ] = "quickstart",
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
) -> None:
    """Write a commented scenario to start from."""
    from innet.scenario.create import create_scenario

    written = create_scenario(path, template, force)
    typer.echo(f"wrote {', '.join(map(str, written))}; next: innet check {path}")
