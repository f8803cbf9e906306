"""What a scenario will run, in words and numbers, before anything runs."""

from collections import Counter
from collections.abc import Iterator

import yaml

from innet.plan.offload import slot_bytes
from innet.plan.ways import filling_window, slowest_packet_ps, tree_round_trip_ps, tree_ways
from innet.scenario.build import build_plan, packet_bytes, should_check
from innet.scenario.describe_step import step_facts, wire_type
from innet.scenario.load import Point, expand
from innet.scenario.network import network_of
from innet.scenario.quantities import shown
from innet.scenario.schema import Scenario
from innet.scenario.topologies import StarSection
from innet.units import format_duration, format_rate, format_size, noun_for
from innet.wire.dtypes import ITEMSIZE

_LISTED_POINTS = 24


def describe(scenario: Scenario) -> str:
    """Return what will run: the points, and the derived numbers of each distinct setting.

    Raises ConfigurationError when a file of `collective.tensors` is not there.
    """
    _refuse_missing_files(scenario)
    points = expand(scenario)
    runs = len(points) * len(scenario.algorithms)
    if any("algorithms" in point.parameters for point in points):
        runs = sum(len(point.scenario.algorithms) for point in points)
    lines = [f"{scenario.name}: valid, {_count(len(points), 'point')}, {_count(runs, 'run')}"]
    for index, point in enumerate(points[:_LISTED_POINTS]):
        if point.parameters:
            lines.append(f"point {index + 1}: {written_parameters(point)}")
        lines.extend(f"  {name:12} {text}" for name, text in _facts(point.scenario))
    if len(points) > _LISTED_POINTS:
        lines.append(f"and {_count(len(points) - _LISTED_POINTS, 'more point')}")
    return "\n".join(lines)


def describe_resolved(scenario: Scenario) -> str:
    """Return every point as a complete scenario file, defaults written out, as YAML documents."""
    documents = [
        (written_parameters(point), point.scenario.resolved()) for point in expand(scenario)
    ]
    return "\n".join(
        f"--- # {title or 'the only point'}\n{yaml.safe_dump(document, sort_keys=False)}"
        for title, document in documents
    ).rstrip()


def written_parameters(point: Point) -> str:
    """Write a point's parameters as `topology.workers=16, topology.link.loss=0.001`."""
    return ", ".join(
        f"{key}={value if isinstance(value, str) else shown(value)}"
        for key, value in point.parameters.items()
    )


def _refuse_missing_files(scenario: Scenario) -> None:
    for path in scenario.tensor_files:
        if not path.is_file():
            raise scenario.origin.error(("collective", "tensors"), f"there is no file {path}")


def _facts(scenario: Scenario) -> Iterator[tuple[str, str]]:
    yield "algorithms", ", ".join(scenario.algorithms)
    yield "workers", _workers(scenario)
    yield from _network(scenario)
    if scenario.training is not None:
        yield from step_facts(scenario)
    else:
        yield from _collective(scenario)
    if scenario.faults:
        yield "faults", ", ".join(fault.verb for fault in scenario.faults)


def _collective(scenario: Scenario) -> Iterator[tuple[str, str]]:
    yield "tensor", _tensor(scenario)
    if "in_network" in scenario.algorithms:
        yield "in_network", _pool(scenario)


def _workers(scenario: Scenario) -> str:
    count = str(scenario.topology.workers)
    if not scenario.workers:
        return count
    return f"{count}, of which {', '.join(map(str, sorted(scenario.workers)))} differ"


def _network(scenario: Scenario) -> Iterator[tuple[str, str]]:
    topology = scenario.topology
    if isinstance(topology, StarSection):
        link = topology.link
        yield "link", _link(link.rate, link.delay, link.loss, link.queue)
        return
    roles = Counter(topology.switches.values())
    told = ", ".join(f"{count} {role}" for role, count in roles.items())
    yield "topology", f"{topology.kind}; switches: {told}"
    graph, _ = network_of(scenario, topology.workers)
    for name in graph.link_classes:
        # Of a cable's two directions the second one begins at a switch, so it has the queue.
        cables = [link for link in graph.links if link.link_class == name][1::2]
        alike = Counter(_link(x.rate_bps, x.delay_ps, x.loss, x.queue_bytes) for x in cables)
        usual, count = alike.most_common(1)[0]
        differ = f", of which {len(cables) - count} differ" if count < len(cables) else ""
        yield f"{name} link", f"{usual} ({_count(len(cables), 'cable')}{differ})"


def _link(rate_bps: int, delay_ps: int, loss: float, queue_bytes: int | None) -> str:
    queue = "unlimited queue" if queue_bytes is None else f"queue {format_size(queue_bytes)}"
    rate, delay = format_rate(rate_bps), format_duration(delay_ps)
    return f"{rate}, {delay}, loss {loss:g}, {queue}"


def _tensor(scenario: Scenario) -> str:
    collective = scenario.collective
    elements = collective.elements
    if elements is None or collective.size is None:
        files = scenario.tensor_files
        return f"{collective.dtype} from {_count(len(files), 'file')}"
    size = f"{format_size(collective.size)}, {elements} elements of {collective.dtype}"
    if not should_check(scenario):
        return f"{size}; timing only, nothing is summed"
    memory = 2 * elements * ITEMSIZE[collective.dtype] * scenario.topology.workers
    return f"{size}; every result is checked (tensors and results take {_about(memory)})"


def _pool(scenario: Scenario) -> str:
    plan = build_plan(scenario, "in_network", False, scenario.collective.elements or 0)
    assert plan.aggregation is not None
    ways = tree_ways(plan.graph, plan.routes, plan.aggregation.tree)
    size = packet_bytes(scenario)
    elements, slots = scenario.collective.elements, scenario.switch.slots
    round_trip = tree_round_trip_ps(ways, plan.hosts, size)
    slowest = slowest_packet_ps((way.up + way.down for way in ways), size)
    needed = filling_window(round_trip, slowest)
    memory = slots * slot_bytes(scenario.packet.elements)
    parts = [
        f"packets of {size} B with {wire_type(scenario)}",
        f"{slots} slots ({needed} fill the link)",
    ]
    if elements is not None:
        parts.insert(0, f"{-(-elements // scenario.packet.elements)} chunks a worker")
    return ", ".join([*parts, f"switch memory {format_size(memory)}"])


def _about(size: int) -> str:
    """Write a size to three digits in a binary unit."""
    for unit, scale in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size >= scale:
            return f"{size / scale:.3g} {unit}"
    return f"{size} B"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun_for(number, noun)}"
