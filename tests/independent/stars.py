"""Runs on stars and racks without loss, timing only: what the comparisons here ask of innet."""

from collections.abc import Mapping
from pathlib import Path

from innet.engine.simulate import simulate
from innet.plan.plan import Plan
from innet.scenario.build import build_plan
from innet.scenario.load import parse_scenario

# Packets without headers; a window that never closes.
PACKET = "{elements: 256, overhead: 0 B}"
MESSAGE = "{payload: 8192 B, overhead: 0 B, window: 256}"


def star_plan(
    algorithm: str,
    size_bytes: int,
    *,
    workers: int,
    rate: str,
    delay: str,
    latency: str = "0 s",
    slots: int = 128,
    packet: str = PACKET,
    message: str = MESSAGE,
    rates: Mapping[int, str] | None = None,
) -> Plan:
    """Plan an all-reduce of `size_bytes` of int32; `rates` are those of workers that differ."""
    differing = {rank: {"link": {"rate": rate}} for rank, rate in (rates or {}).items()}
    topology = f"{{kind: star, workers: {workers}, link: {{rate: {rate}, delay: {delay}}}}}"
    text = _text(algorithm, size_bytes, topology, latency, slots, packet, message)
    return _plan(f"{text}workers: {differing}\n", algorithm, size_bytes)


def racks_plan(
    algorithm: str,
    size_bytes: int,
    racks: int,
    hosts: int,
    uplink: str,
    *,
    rate: str,
    delay: str,
) -> Plan:
    """Plan the same on racks of `hosts` each, below one spine; `uplink` is a rate."""
    topology = (
        f"{{kind: leaf_spine, racks: {racks}, hosts: {hosts}, spines: 1, "
        f"link: {{rate: {rate}, delay: {delay}}}, spine_link: {{rate: {uplink}, delay: {delay}}}}}"
    )
    text = _text(algorithm, size_bytes, topology, "0 s", 128, PACKET, MESSAGE)
    return _plan(text, algorithm, size_bytes)


def _text(
    algorithm: str,
    size_bytes: int,
    topology: str,
    latency: str,
    slots: int,
    packet: str,
    message: str,
) -> str:
    return f"""
version: 1
name: compared
topology: {topology}
switch: {{latency: {latency}, slots: {slots}}}
packet: {packet}
message: {message}
collective: {{op: all_reduce, size: {size_bytes} B, dtype: int32, check: never}}
algorithms: [{algorithm}]
"""


def _plan(text: str, algorithm: str, size_bytes: int) -> Plan:
    scenario = parse_scenario(text, "compared.yaml", (), Path("."))
    return build_plan(scenario, algorithm, False, size_bytes // 4)


def finish_times(plan: Plan) -> list[int]:
    """Return when each worker has its result, in picoseconds."""
    return [rank.finish_ps for rank in simulate(plan).ranks[: plan.workers]]
