"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

ScenarioFile = Annotated[Path, typer.Argument(metavar="SCENARIO", help="Scenario file (YAML).")]
Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Override a key; may be repeated."),
]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="Run directory of innet run.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no notes on stderr.")]
