"""`innet doctor`: what the emulator finds on this machine."""

from typing import Annotated

import typer


def doctor(
    interfaces: Annotated[
        list[str] | None,
        typer.Option(
            "--interface",
            metavar="NAME",
            help="Also say which offloads of this interface to turn off; may be repeated.",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object instead of the text.")
    ] = False,
) -> None:
    """Say what the emulator finds here, what is missing, and what works without it."""
    from innet.cli.output import write_text
    from innet.emulator.doctor import examine, offloads_on
    from innet.emulator.doctor_text import as_json_text, as_text

    offloads = {name: offloads_on(name) for name in interfaces or ()}
    findings = examine()
    write_text((as_json_text if as_json else as_text)(findings, offloads))
