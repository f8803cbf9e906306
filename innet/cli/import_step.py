"""`innet import`: a scenario from a step that another tool has recorded or described."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from innet.cli.output import write_note


class Format(StrEnum):
    """What can be imported."""

    chakra = "chakra"
    astra_sim = "astra-sim"
    simai = "simai"


def import_step(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="One file, or a Chakra trace a rank.")
    ],
    format: Annotated[
        Format,
        typer.Option(
            help="chakra: execution traces of MLCommons; astra-sim: its text workloads; "
            "simai: workload files of AICB."
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Scenario file to write.")],
    ranks: Annotated[
        int | None, typer.Option(min=2, help="All ranks, where the files do not say.")
    ] = None,
    model_parallel: Annotated[
        int | None,
        typer.Option(min=1, help="Ranks that share a model, where a layer workload says not."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
) -> None:
    """Write a training scenario from another tool's step; say what was left out."""
    from innet.scenario.imports import import_scenario

    notes = import_scenario(
        files,
        format.value,
        output,
        ranks=ranks,
        model_parallel=model_parallel,
        force=force,
    )
    for note in notes:
        write_note(note)
    typer.echo(f"wrote {output}; next: innet check {output}")
