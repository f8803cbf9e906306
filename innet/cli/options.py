"""Options that several commands share."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Engine(StrEnum):
    """Engines that can be asked for."""

    auto = "auto"
    reference = "reference"
    compiled = "compiled"
    recurrence = "recurrence"


EngineChoice = Annotated[
    Engine, typer.Option("--engine", help="auto takes the fastest one that is exact.")
]
ScenarioFile = Annotated[Path, typer.Argument(metavar="SCENARIO", help="Scenario file (YAML).")]
Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Override a key; may be repeated."),
]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="Run directory of innet run.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no notes on stderr.")]
Grpc = Annotated[
    str, typer.Option("--grpc", metavar="ADDRESS", help="P4Runtime address of a running BMv2.")
]
DeviceId = Annotated[int, typer.Option("--device-id", help="The device id that BMv2 was given.")]
HostsFile = Annotated[
    Path | None,
    typer.Option(
        "--hosts",
        metavar="FILE",
        help="Hosts file: addresses and ports that are not by innet's scheme.",
    ),
]
DEFAULT_GRPC = "127.0.0.1:9559"
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the text.")]
JsonForTable = Annotated[
    bool, typer.Option("--json", help="Print one JSON object instead of the table.")
]
Seed = Annotated[int | None, typer.Option(help="Override the scenario's seed.")]
Out = Annotated[Path, typer.Option(help="Folder for run directories.")]
Plots = Annotated[
    bool, typer.Option("--plots/--no-plots", help="Draw the results into the run directory.")
]
