"""Runs on a star without loss, timing only: what the comparisons here ask of innet."""

from collections.abc import Mapping
from pathlib import Path

from innet.engine.simulate import simulate
from innet.plan.plan import Plan
from innet.scenario.build import build_plan
from innet.scenario.load import parse_scenario


def star_plan(
    algorithm: str,
    size_bytes: int,
    *,
    workers: int,
    rate: str,
    delay: str,
    latency: str = "0 s",
    slots: int = 128,
    packet: str = "{elements: 256, overhead: 0 B}",
    message: str = "{payload: 8192 B, overhead: 0 B, window: 256}",
    rates: Mapping[int, str] | None = None,
) -> Plan:
    """Plan an all-reduce of `size_bytes` of int32; `rates` are those of workers that differ."""
    differing = {rank: {"link": {"rate": rate}} for rank, rate in (rates or {}).items()}
    text = f"""
version: 1
name: star
topology: {{kind: star, workers: {workers}, link: {{rate: {rate}, delay: {delay}}}}}
switch: {{latency: {latency}, slots: {slots}}}
packet: {packet}
message: {message}
collective: {{op: all_reduce, size: {size_bytes} B, dtype: int32, check: never}}
algorithms: [{algorithm}]
workers: {differing}
"""
    scenario = parse_scenario(text, "star.yaml", (), Path("."))
    return build_plan(scenario, algorithm, False, size_bytes // 4)


def finish_times(plan: Plan) -> list[int]:
    """Return when each worker has its result, in picoseconds."""
    return [rank.finish_ps for rank in simulate(plan).ranks[: plan.workers]]
