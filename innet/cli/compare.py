"""`innet compare`: what changed between two run directories."""

from innet.cli.options import RunFolder


def compare(before: RunFolder, after: RunFolder) -> None:
    """Say what changed between two run directories: configuration and times."""
    from innet.cli.output import write_lines
    from innet.report.by_kind import compare_folders

    write_lines(compare_folders(before, after))
