"""What of a plan an emulation does, does differently, or cannot do."""

from collections.abc import Iterator
from dataclasses import replace

from innet.emulator.control.build import find_build
from innet.emulator.job_checks import MAXIMUM_WORKERS
from innet.emulator.soft import POOL_SLOTS
from innet.emulator.targets import Network
from innet.errors import ConfigurationError
from innet.plan.plan import Aggregation, Plan
from innet.units import format_duration
from innet.wire.headers import SIZE_CODES


def aggregation_of(plan: Plan) -> Aggregation:
    """The plan's in-network aggregation, which is all that can be emulated."""
    if plan.aggregation is None:
        raise ConfigurationError(
            f"only in_network is emulated, not {plan.algorithm}", key="algorithms"
        )
    return plan.aggregation


def require_emulable(plan: Plan, target: str) -> None:
    """Raise ConfigurationError for what the target cannot run."""
    aggregation = aggregation_of(plan)
    if len(aggregation.tree) > 1:
        raise ConfigurationError(
            f"only a star of one switch is emulated, not a tree of {len(aggregation.tree)}",
            key="topology.kind",
        )
    out = plan.graph.links_out
    links = [plan.graph.links[link] for host in plan.hosts for link in out[host.node]]
    if len(links) != len(plan.hosts) or any(x.target != aggregation.switch for x in links):
        raise ConfigurationError(
            "only a star is emulated: one cable from every worker to the switch that sums",
            key="topology.kind",
        )
    if plan.workers > MAXIMUM_WORKERS:
        raise ConfigurationError(
            f"{plan.workers} workers, but the switch's 32-bit marks take up to {MAXIMUM_WORKERS}",
            key="topology.workers",
        )
    if aggregation.elements_per_packet not in SIZE_CODES:
        raise ConfigurationError(
            f"{aggregation.elements_per_packet} values a packet are not in the wire format, which "
            f"has {', '.join(map(str, SIZE_CODES))}",
            key="packet.elements",
        )
    if target != "soft":
        find_build(aggregation.elements_per_packet)


def fitted(plan: Plan, network: Network, switch_window: int | None) -> Plan:
    """The plan with no more slots than there are, and than buffers and queues have room for.

    `switch_window` is how many packets for one worker the switch has room for, None for any.
    """
    aggregation = aggregation_of(plan)
    windows = (network.window(aggregation.elements_per_packet), switch_window)
    room = (POOL_SLOTS if window is None else window for window in windows)
    slots = min(aggregation.slots, POOL_SLOTS, *room)
    cores = plan.hosts[0].cores
    if slots < cores:
        raise ConfigurationError(
            f"{cores} cores need as many slots, but there is room for {slots} on their way",
            key="host.cores",
        )
    return replace(plan, aggregation=replace(aggregation, slots=slots))


def patient(plan: Plan, packet_ps: int) -> Plan:
    """The plan with adaptive timeouts that wait for a switch that takes `packet_ps` a packet.

    A packet may wait behind the windows of all workers, though the first ones are answered soon,
    so the timeout must not adapt to those alone. A fixed timeout stays as it is.
    """
    if not plan.rto.adaptive:
        return plan
    aggregation = aggregation_of(plan)
    blocks = -(-plan.elements // aggregation.elements_per_packet)
    loaded_ps = plan.workers * min(blocks, aggregation.slots) * packet_ps
    rto = replace(
        plan.rto,
        initial_ps=max(plan.rto.initial_ps, 2 * loaded_ps),
        minimum_ps=max(plan.rto.minimum_ps, loaded_ps),
        maximum_ps=max(plan.rto.maximum_ps, 4 * loaded_ps),
    )
    return replace(plan, rto=rto)


def not_enforced(asked: Plan, plan: Plan, network: Network) -> Iterator[str]:
    """What of the plan that was asked for is not done by `plan` on `network`, in sentences."""
    yield from network.not_enforced
    before, after = aggregation_of(asked), aggregation_of(plan)
    latency = asked.graph.nodes[before.switch].latency_ps
    if latency:
        yield f"the switch's latency of {format_duration(latency)} is not enforced"
    if any(host.send_ps or host.receive_ps for host in asked.hosts):
        yield "the hosts' cost of a packet is this machine's, not the scenario's"
    if after.slots < before.slots:
        yield f"{after.slots} of {before.slots} slots are used: no more packets fit on their way"
    if asked.rto.adaptive:
        yield "adaptive timeouts stay above 10 ms, since this machine's clock decides"
