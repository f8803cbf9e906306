"""How plots look: one colour and marker an algorithm, the same in every plot.

The colours are those of Okabe and Ito, which people with any colour vision can tell apart, with
a darker yellow; markers tell the lines apart in grey print.
"""

from collections.abc import Mapping
from typing import Any

ALGORITHM_STYLES: Mapping[str, tuple[str, str]] = {
    "in_network": ("#D55E00", "o"),
    "ring": ("#0072B2", "s"),
    "double_tree": ("#009E73", "^"),
    "binomial_tree": ("#CC79A7", "v"),
    "halving_doubling": ("#56B4E9", "D"),
    "recursive_doubling": ("#E69F00", "P"),
    "parameter_server": ("#000000", "X"),
    "sharded_parameter_server": ("#8A7B00", "*"),
}
_OTHER_STYLE = ("#777777", "h")

# The lines of the first variant, the second and so on; their markers are filled, hollow, pale.
VARIANT_LINES: tuple[Any, ...] = ("solid", (0, (1, 1)), (0, (5, 1, 1, 1)), (0, (3, 1, 1, 1, 1, 1)))

# Sizes for a figure of a paper's text width; text becomes outlines, the same on every machine.
SETTINGS: Mapping[str, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 8.5,
    "axes.titlesize": 8.5,
    "axes.labelsize": 8.5,
    "legend.fontsize": 8,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "axes.axisbelow": True,
    "axes.unicode_minus": False,
    "lines.linewidth": 1.4,
    "lines.markersize": 4.5,
    "lines.dash_capstyle": "butt",
    "svg.hashsalt": "innet",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
    "savefig.dpi": 200,
}


def style_of(algorithm: str) -> tuple[str, str]:
    """Return an algorithm's colour and marker."""
    return ALGORITHM_STYLES.get(algorithm, _OTHER_STYLE)


def marker_fill(colour: str, variant: int) -> Any:  # noqa: ANN401
    """Return what fills the markers of a variant: the line's colour, white, or a tint of it."""
    if variant % 3 == 0:
        return colour
    if variant % 3 == 1:
        return "white"
    return tinted(colour, 0.4)


def tinted(colour: str, strength: float) -> tuple[float, float, float]:
    """Return a colour mixed with white: the whole colour at 1, white at 0."""
    red, green, blue = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    return 1 - strength * (1 - red), 1 - strength * (1 - green), 1 - strength * (1 - blue)


def label_of(algorithm: str, variant: str | None = None) -> str:
    """Return an algorithm's name for people, with its variant when several are shown."""
    name = "in-network" if algorithm == "in_network" else algorithm.replace("_", " ")
    return name if variant is None else f"{name} ({variant})"
