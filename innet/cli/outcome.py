"""How the commands that run scenarios show what came out, and how they are stopped."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from innet.campaign.execute import Outcome


def show_outcome(outcome: "Outcome", as_json: bool, quiet: bool) -> None:
    """Write the results to stdout and what was written to stderr; InnetError on failures."""
    from innet.cli.output import write_lines, write_note, write_text
    from innet.errors import InnetError
    from innet.report.results import json_text

    if as_json:
        write_text(json_text(outcome.results.as_json()))
    else:
        resolved = outcome.manifest["scenario"]["resolved"]
        write_lines(outcome.kind.lines(outcome.results, resolved))
    if not quiet:
        for file in outcome.files:
            write_note(f"wrote {file}")
    if outcome.failures:
        raise InnetError("\ninnet: ".join(outcome.failures))
