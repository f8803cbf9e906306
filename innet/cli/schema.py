"""`innet schema`: the JSON Schema of scenario files."""

from pathlib import Path
from typing import Annotated

import typer


def schema(
    out: Annotated[
        Path | None, typer.Option("--out", help="Write to this file instead of stdout.")
    ] = None,
) -> None:
    """Print the JSON Schema of scenario files, for editors."""
    from innet.files import write_whole
    from innet.scenario.create import schema_text

    if out is None:
        typer.echo(schema_text(), nl=False)
    else:
        write_whole(out, schema_text().encode())
