"""Columns of text that stay in place: as wide as their widest cell, two spaces apart."""

from collections.abc import Sequence

GAP = "  "

Cells = Sequence[str]


def widths_of(rows: Sequence[Cells]) -> list[int]:
    """Return the width of every column over all rows, heads included."""
    return [max(map(len, column)) for column in zip(*rows, strict=True)]


def aligned(cells: Cells, widths: Sequence[int], left: Sequence[int] = ()) -> str:
    """Return a line of cells, those of the columns `left` at the left, the others at the right."""
    placed = [
        cell.ljust(width) if place in left else cell.rjust(width)
        for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return GAP.join(placed).rstrip()
