"""`innet compare`: what changed between two run directories."""

from innet.cli.options import RunFolder


def compare(before: RunFolder, after: RunFolder) -> None:
    """Say what changed between two run directories: configuration and times."""
    from innet.cli.output import write_lines
    from innet.report.compare import compare_lines
    from innet.report.results import read_run

    write_lines(compare_lines(read_run(before), read_run(after)))
