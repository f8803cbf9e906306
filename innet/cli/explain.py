"""`innet explain`: what limited each run and what would help."""

from innet.cli.options import RunFolder


def explain(run: RunFolder) -> None:
    """Say what limited each run and what would help, in sentences with numbers."""
    from innet.cli.output import write_lines
    from innet.report.by_kind import explain_folder

    write_lines(explain_folder(run))
