"""What must hold between the keys of a scenario."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from innet.scenario.faults import Crash, Fault, PacketVerb, Partition, Pause, Place, Restart
from innet.scenario.located import Problem

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
    yield from _extent(scenario)
    workers = max(scenario.topology.workers, most_workers or 0)
    yield from _files(scenario)
    for worker in scenario.workers:
        if worker >= workers:
            yield ("workers", worker), no_worker(worker, workers)
    server = "parameter_server" in scenario.algorithms
    for index, fault in enumerate(scenario.faults):
        for key, problem in _fault(fault, workers, server):
            yield ("faults", index, fault.verb, *key), problem


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
    return f"there is no worker {worker}; topology.workers is {workers}: 0 to {workers - 1}"


def _pool(scenario: "Scenario") -> Iterator[Problem]:
    if scenario.switch.slots < scenario.host.cores:
        yield (
            ("switch", "slots"),
            f"{scenario.switch.slots} slots cannot be split over {scenario.host.cores} cores; "
            "write at least host.cores",
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


def _files(scenario: "Scenario") -> Iterator[Problem]:
    files, workers = scenario.collective.tensors, scenario.topology.workers
    if files is not None and len(files) not in (1, workers):
        yield (
            ("collective", "tensors"),
            f"{len(files)} files for {workers} workers; name one file a worker, or one with a "
            "leading worker axis",
        )


def _fault(fault: Fault, workers: int, server: bool) -> Iterator[Problem]:
    action = fault.action
    if isinstance(action, PacketVerb):
        yield from _endpoint("from", action.source, workers, server)
        yield from _endpoint("to", action.target, workers, server)
        if (action.source == "switch") == (action.target == "switch"):
            yield (
                ("to",),
                f"there is no link from {action.source} to {action.target}; one end must be the "
                "switch, the other a worker, server or all",
            )
        if action.until is not None and action.until <= action.after:
            yield ("until",), "until must be later than after"
    elif isinstance(action, Pause | Crash | Restart | Partition):
        yield from _endpoint("node", action.node, workers, server)


def _endpoint(key: str, place: Place, workers: int, server: bool) -> Iterator[Problem]:
    if isinstance(place, int) and place >= workers:
        yield (key,), no_worker(place, workers)
    elif place == "server" and not server:
        yield (key,), "there is a server only with the algorithm parameter_server"
