"""Draw a network: tiers as rows, racks grouped, cables coloured by class, switches that can sum."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from innet.files import write_whole
from innet.metrics.layout import DrawnCable, DrawnNode, Layout
from innet.report.plot import plot_format, rendered
from innet.report.style import ALGORITHM_STYLES
from innet.units import format_duration, format_rate, noun_for

# Tiers from hosts up, and colours of the classes of links in the order of their first links.
_CLASS_COLOURS = ("#56B4E9", "#0072B2", "#009E73", "#CC79A7", "#8A7B00", "#E69F00")
_SUMS = ALGORITHM_STYLES["in_network"][0]
_FORWARDS = "#8C8C8C"
_HOST = "#333333"
_INCHES_A_TIER = 1.05
_WIDEST_INCHES = 7.2
_NAMED_HOSTS = 24  # as many hosts have room for names of their own
# Inches that a character of a name, and the box around it, take at a size in points.
_INCHES_A_CHARACTER = 0.0085
_BOX_INCHES = 0.12


def write_topology(layout: Layout, title: str, path: Path) -> None:
    """Draw a network into a file, SVG, PNG or PDF by its ending."""
    write_whole(path, draw_topology(layout, title, plot_format(path)))


def draw_topology(layout: Layout, title: str, file_format: str) -> bytes:
    """Return a network as the bytes of an svg, png or pdf file."""
    return rendered(lambda: _figure(layout, title), file_format)


def _figure(layout: Layout, title: str) -> Any:  # noqa: ANN401
    from matplotlib.figure import Figure

    tiers = max(node.tier for node in layout.nodes) + 1
    width = min(_WIDEST_INCHES, max(3.6, 0.2 * (layout.width + 2)))
    figure = Figure(figsize=(width, 0.7 + _INCHES_A_TIER * (tiers - 1)), layout="constrained")
    axes = figure.subplots()
    axes.set_axis_off()
    margin = max(1.0, 0.03 * layout.width)
    axes.set_xlim(-margin, layout.width + margin)
    axes.set_ylim(-0.5, tiers - 1 + 0.3)
    colours = _colours(layout.cables)
    inches = width / (layout.width + 2 * margin)
    _draw_groups(axes, layout, inches)
    for cable in layout.cables:
        _draw_cable(axes, layout.nodes, cable, colours[cable.link_class])
    _draw_hosts(axes, [node for node in layout.nodes if not node.switch])
    for tier in range(1, tiers):
        _draw_switches(axes, [x for x in layout.nodes if x.switch and x.tier == tier], inches)
    axes.set_title(title, loc="left", fontsize=8.5, color="#444444")
    figure.legend(
        handles=list(_handles(layout, colours)),
        loc="outside lower left",
        ncols=2 if width > 5 else 1,
        frameon=False,
        handlelength=1.8,
    )
    return figure


def _colours(cables: Sequence[DrawnCable]) -> dict[str, str]:
    classes = list(dict.fromkeys(cable.link_class for cable in cables))
    return {name: _CLASS_COLOURS[x % len(_CLASS_COLOURS)] for x, name in enumerate(classes)}


def _draw_groups(axes: Any, layout: Layout, inches: float) -> None:  # noqa: ANN401
    """Shade the hosts that stand together, and say which they are where they have no names.

    `inches` is the width of a host.
    """
    from matplotlib.patches import FancyBboxPatch

    hosts = [node for node in layout.nodes if not node.switch]
    crowded = len(hosts) > _NAMED_HOSTS
    groups = [[layout.nodes[place] for place in group] for group in layout.groups]
    room = all(
        len(_range_of(group)) * 6.5 * _INCHES_A_CHARACTER < len(group) * inches for group in groups
    )
    height = 0.6 if crowded and room else 0.52
    for group in groups:
        left, right = group[0].x - 0.5, group[-1].x + 0.5
        box = FancyBboxPatch(
            (left, 0.18 - height),
            right - left,
            height,
            boxstyle="round,pad=0,rounding_size=0.12",
            mutation_aspect=0.3,
            facecolor="#F1F1EE",
            edgecolor="none",
            zorder=0,
        )
        axes.add_patch(box)
        if crowded and room:
            middle = (left + right) / 2
            axes.text(middle, -0.2, _range_of(group), ha="center", va="top", fontsize=6.5)


def _range_of(members: Sequence[DrawnNode]) -> str:
    """Write the numbers of some workers: `0-15`, or the names where they are not in a row."""
    numbers = [node.name.removeprefix("worker") for node in members]
    if len(numbers) == 1 or not all(number.isdecimal() for number in numbers):
        return numbers[0] if len(numbers) == 1 else f"{numbers[0]}..{numbers[-1]}"
    return f"{numbers[0]}\u2013{numbers[-1]}"


def _draw_cable(axes: Any, nodes: Sequence[DrawnNode], cable: DrawnCable, colour: str) -> None:  # noqa: ANN401
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path as Curve

    lower, upper = nodes[cable.lower], nodes[cable.upper]
    thick = 1.0 if len(nodes) <= 100 else 0.5
    ends = (lower.x, lower.tier), (upper.x, upper.tier)
    for place in range(cable.count):
        # Parallel cables fan out in the middle so that they can be counted.
        bend = place - (cable.count - 1) / 2
        across, up = (0.0, 0.3 * bend) if lower.tier == upper.tier else (0.7 * bend, 0.0)
        middle = ((lower.x + upper.x) / 2 + across, (lower.tier + upper.tier) / 2 + up)
        curve = Curve([ends[0], middle, ends[1]], [Curve.MOVETO, Curve.CURVE3, Curve.CURVE3])
        axes.add_patch(
            PathPatch(
                curve, facecolor="none", edgecolor=colour, linewidth=thick, alpha=0.8, zorder=1
            )
        )


def _draw_hosts(axes: Any, hosts: Sequence[DrawnNode]) -> None:  # noqa: ANN401
    size = 22.0 if len(hosts) <= 32 else 9.0 if len(hosts) <= 96 else 3.0
    places = [node.x for node in hosts]
    axes.scatter(places, [0] * len(hosts), s=size, marker="s", color=_HOST, linewidths=0, zorder=3)
    if len(hosts) <= _NAMED_HOSTS:
        for node in hosts:
            number = node.name.removeprefix("worker")
            axes.text(node.x, -0.13, number, ha="center", va="top", fontsize=6.5)


def _draw_switches(axes: Any, switches: Sequence[DrawnNode], inches: float) -> None:  # noqa: ANN401
    """Draw a tier as boxes with names, where there is room for these, else as dots."""
    places = sorted(switch.x for switch in switches)
    gap = min((b - a for a, b in pairwise(places)), default=10.0) * inches
    longest = max(len(_name(switch)) for switch in switches)
    sizes = (7.0, 6.0, 5.0)
    room = (size for size in sizes if longest * size * _INCHES_A_CHARACTER + _BOX_INCHES < gap)
    size = next(room, None)
    for switch in switches:
        colour = _SUMS if switch.aggregates else _FORWARDS
        face = colour if switch.aggregates else "white"
        if size is None:
            dot = {"s": 20, "facecolor": face, "edgecolor": colour, "linewidths": 1.0}
            axes.scatter([switch.x], [switch.tier], zorder=4, **dot)
        else:
            _draw_box(axes, switch, size, face, colour)


def _draw_box(axes: Any, switch: DrawnNode, size: float, face: str, edge: str) -> None:  # noqa: ANN401
    axes.text(
        switch.x,
        switch.tier,
        _name(switch),
        ha="center",
        va="center",
        fontsize=size,
        color="white" if switch.aggregates else "#333333",
        zorder=5,
        bbox={
            "boxstyle": "round,pad=0.35,rounding_size=0.25",
            "facecolor": face,
            "edgecolor": edge,
            "linewidth": 1.0,
        },
    )


def _name(switch: DrawnNode) -> str:
    return switch.name.replace("aggregation", "agg")


def _handles(layout: Layout, colours: dict[str, str]) -> Iterator[Any]:
    from matplotlib.lines import Line2D

    for name, colour in colours.items():
        yield Line2D([], [], color=colour, linewidth=1.6, label=_class_label(layout.cables, name))
    workers = sum(not node.switch for node in layout.nodes)
    label = f"{workers} {noun_for(workers, 'worker')}"
    yield Line2D(
        [],
        [],
        color=_HOST,
        marker="s",
        markersize=3,
        linestyle="",
        label=f"{workers} {noun_for(workers, 'worker')}",
    )
    switches = [node for node in layout.nodes if node.switch]
    for aggregates, label in ((True, "switch that can sum"), (False, "switch that forwards")):
        if any(node.aggregates is aggregates for node in switches):
            colour = _SUMS if aggregates else _FORWARDS
            yield Line2D(
                [],
                [],
                color=colour,
                marker="s",
                markersize=6,
                markerfacecolor=colour if aggregates else "white",
                linestyle="",
                label=label,
            )


def _class_label(cables: Sequence[DrawnCable], name: str) -> str:
    """Write what the cables of a class are like: `host: 100 Gbps, 500 ns`."""
    alike: dict[str, int] = {}
    for cable in cables:
        if cable.link_class == name:
            told = f"{format_rate(cable.rate_bps)}, {format_duration(cable.delay_ps)}"
            alike[told] = alike.get(told, 0) + cable.count
    usual = max(alike, key=lambda told: alike[told])
    others = sum(alike.values()) - alike[usual]
    count = f"{alike[usual]} \u00d7 " if alike[usual] > 1 else ""
    return f"{name}: {count}{usual}" + (f"; {others} differ" if others else "")
