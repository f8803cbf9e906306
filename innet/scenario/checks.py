"""What must hold between the keys of a scenario."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from innet.collectives.algorithms import ALGORITHMS
from innet.plan.offload import DEFAULT_OPERATIONS, misfit, slot_bytes
from innet.plan.tree import aggregation_tree
from innet.scenario.faults import Crash, Fault, PacketVerb, Partition, Pause, Place, Restart
from innet.scenario.located import Problem
from innet.scenario.network import Places, network_of
from innet.scenario.quantities import shown
from innet.scenario.topologies import GraphSection, StarSection, listed
from innet.scenario.training import TrainingSection
from innet.topology.routes import shortest_routes
from innet.units import noun_for

if TYPE_CHECKING:
    from innet.scenario.schema import Scenario

# Hours of work for any engine; above it a typing mistake is likelier than patience.
MAXIMUM_PACKETS = 10**11


def inconsistencies(scenario: "Scenario", most_workers: int | None = None) -> Iterator[Problem]:
    """Yield the path of each key that contradicts another, and what would be right.

    `most_workers` is the largest number of workers in the sweep that the scenario is a point
    of: workers that exist only at other points may be named.
    """
    yield from _pool(scenario)
    if scenario.training is None:
        yield from _extent(scenario)
        yield from _files(scenario)
        yield from _offload(scenario)
    else:
        yield from _step(scenario, scenario.training)
    workers = max(scenario.topology.workers, most_workers or 0)
    for worker in scenario.workers:
        if worker >= workers:
            yield ("workers", worker), no_worker(worker, workers)
    server = "parameter_server" in scenario.algorithms
    problems = list(_server(scenario, server))
    yield from problems
    if not problems and (scenario.faults or not isinstance(scenario.topology, StarSection)):
        yield from _on_the_network(scenario, workers, server)


def _offload(scenario: "Scenario") -> Iterator[Problem]:
    """An all-reduce of all workers runs in the network or not at all."""
    if "in_network" not in scenario.algorithms:
        return
    resources, count = scenario.switch.resources, scenario.topology.workers
    for name in DEFAULT_OPERATIONS:
        if name not in resources.operations:
            yield ("switch", "operations"), f"in_network needs {name} for its all-reduce"
    graph, hosts = network_of(scenario, count)
    tree = aggregation_tree(shortest_routes(graph, hosts, scenario.seed), range(count))
    why = misfit(graph, tree, resources)
    if not tree:
        why = (
            "in_network needs a switch that can sum and that every worker reaches, and here is "
            "none; say in topology.aggregates which switches can sum"
        )
    if why:
        yield ("algorithms", scenario.algorithms.index("in_network")), why


def _on_the_network(scenario: "Scenario", workers: int, server: bool) -> Iterator[Problem]:
    count = scenario.topology.workers
    graph, hosts = network_of(scenario, count + server)
    network = _Network(Places(graph, hosts, count), workers, server, _switches(scenario))
    for index, fault in enumerate(scenario.faults):
        for key, problem in _fault(fault, network):
            yield ("faults", index, fault.verb, *key), problem


def _switches(scenario: "Scenario") -> tuple[str, ...]:
    topology = scenario.topology
    return ("switch",) if isinstance(topology, StarSection) else tuple(topology.switches)


def _server(scenario: "Scenario", server: bool) -> Iterator[Problem]:
    topology = scenario.topology
    if not isinstance(topology, GraphSection) or not server:
        return
    ends = {name for pair in topology.pairs() for name in pair}
    if "server" not in ends:
        yield (
            ("topology", "links"),
            "parameter_server needs a host named server; give it a cable, such as "
            "{from: server, to: " + topology.names[0] + ", class: ...}",
        )


def without_absent_workers(scenario: "Scenario") -> "Scenario":
    """Return the scenario without what it says of workers that exist at other points only."""
    count = scenario.topology.workers
    workers = {index: worker for index, worker in scenario.workers.items() if index < count}
    faults = tuple(fault for fault in scenario.faults if _is_met(fault, count))
    return scenario.model_copy(update={"workers": workers, "faults": faults})


def _is_met(fault: Fault, workers: int) -> bool:
    action = fault.action
    places = [getattr(action, name, None) for name in ("source", "target", "node")]
    return all(not isinstance(place, int) or place < workers for place in places)


def no_worker(worker: int, workers: int) -> str:
    """Say that an index is outside the workers."""
    return f"there is no worker {worker}; there are {workers}: 0 to {workers - 1}"


def _pool(scenario: "Scenario") -> Iterator[Problem]:
    if scenario.switch.slots < scenario.host.cores:
        yield (
            ("switch", "slots"),
            f"{scenario.switch.slots} slots cannot be split over {scenario.host.cores} cores; "
            "write at least host.cores",
        )
    memory, each = scenario.switch.memory, slot_bytes(scenario.packet.elements)
    if memory is not None and scenario.switch.slots * each > memory:
        yield (
            ("switch", "slots"),
            f"{scenario.switch.slots} slots take {each} B each; switch.memory holds at most "
            f"{memory // each}",
        )
    yield from _passes(scenario)


def _passes(scenario: "Scenario") -> Iterator[Problem]:
    switch, elements = scenario.switch, scenario.packet.elements
    if switch.elements_per_pass is None or elements <= switch.elements_per_pass * switch.passes:
        return
    passes, noun = switch.passes, noun_for(switch.passes, "pass", "passes")
    yield (
        ("switch", "elements_per_pass"),
        f"{passes} {noun} of {switch.elements_per_pass} values cannot add the {elements} of a "
        f"packet; write fewer packet.elements, or at least "
        f"{-(-elements // switch.elements_per_pass)} switch.passes",
    )


def _extent(scenario: "Scenario") -> Iterator[Problem]:
    elements, workers = scenario.collective.elements, scenario.topology.workers
    if elements is None or scenario.collective.size is None:
        return
    packets = 0
    if "in_network" in scenario.algorithms:
        packets = -(-elements // scenario.packet.elements)
    if scenario.algorithms != ("in_network",):
        packets = max(packets, -(-scenario.collective.size // scenario.message.payload))
    if packets * workers > MAXIMUM_PACKETS:
        yield (
            ("collective", "size"),
            f"{packets} packets for each of {workers} workers are too many to simulate; "
            f"{MAXIMUM_PACKETS} in all at most",
        )


def _step(scenario: "Scenario", training: TrainingSection) -> Iterator[Problem]:
    workers, placement = scenario.topology.workers, training.placement
    if training.ranks != workers:
        told = f"{training.ranks} ranks do not run on {workers} workers; the mesh's axes must have"
        yield ("training", "mesh"), f"{told} {workers} as their product"
    elif not isinstance(placement, str) and sorted(placement) != list(range(workers)):
        told = f"every worker of 0 to {workers - 1} must stand in the list once"
        yield ("training", "placement"), told
    for place, name in enumerate(scenario.algorithms):
        if name != "in_network" and ALGORITHMS[name].helpers:
            told = f"{name} needs a host beside the workers, which steps do not have; write such as"
            yield ("algorithms", place), f"{told} sharded_parameter_server"
    for index, worker in scenario.workers.items():
        if worker.start:
            told = "the ranks of a step begin at 0; let the step compute first instead"
            yield ("workers", index, "start"), told


def _files(scenario: "Scenario") -> Iterator[Problem]:
    files, workers = scenario.collective.tensors, scenario.topology.workers
    if files is not None and len(files) not in (1, workers):
        yield (
            ("collective", "tensors"),
            f"{len(files)} files for {workers} workers; name one file a worker, or one with a "
            "leading worker axis",
        )


class _Network(NamedTuple):
    """What faults may name: `workers` at any point of a sweep, and the network of this one."""

    places: Places
    workers: int
    server: bool
    switches: tuple[str, ...]


def _fault(fault: Fault, network: _Network) -> Iterator[Problem]:
    action = fault.action
    if isinstance(action, PacketVerb):
        problems = [*_place("from", action.source, network), *_place("to", action.target, network)]
        yield from problems or _link(action, network)
        if action.until is not None and action.until <= action.after:
            yield ("until",), "until must be later than after"
    elif isinstance(action, Pause | Crash | Restart | Partition):
        if action.node == "all":
            told = "'all' is no place of a node fault; write a worker's index, server or"
            yield ("node",), f"{told} {listed(network.switches)}"
        else:
            yield from _place("node", action.node, network)


def _link(action: PacketVerb, network: _Network) -> Iterator[Problem]:
    source, target = action.source, action.target
    absent = any(_is_absent(place, network) for place in (source, target))
    if absent or network.places.links(source, target):
        return
    told = f"there is no link from {source} to {target}"
    if network.switches == ("switch",):
        yield ("to",), f"{told}; one end must be the switch, the other a worker, server or all"
    else:
        near = network.places.neighbours(source)
        yield ("to",), f"{told}; {source} has links to {listed(tuple(near))}"


def _is_absent(place: Place, network: _Network) -> bool:
    """Say whether a worker is there at other points of the sweep only."""
    return isinstance(place, int) and network.places.nodes(place) is None


def _place(key: str, place: Place, network: _Network) -> Iterator[Problem]:
    if isinstance(place, int):
        if place >= network.workers:
            yield (key,), no_worker(place, network.workers)
    elif place == "server" and not network.server:
        yield (key,), "there is a server only with the algorithm parameter_server"
    elif network.places.nodes(place) is None:
        told = "is no place; write a worker's index or"
        yield (key,), f"{shown(place)} {told} {listed(network.switches)}, server or all"
