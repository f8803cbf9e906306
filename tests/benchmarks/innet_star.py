"""In-network aggregation on a star by innet's reference engine, without values.

Usage: innet_star.py WORKERS PACKET_BYTES CHUNKS WINDOW DELAY_PS LATENCY_PS RATE_BPS. Prints, as
JSON, when each worker has its last result (ps) and the processor time of the simulation (s).
"""

import json
import sys
import time
from pathlib import Path

from innet.engine.simulate import simulate
from innet.plan.plan import Plan
from innet.scenario.build import build_plan
from innet.scenario.load import parse_scenario

ELEMENTS = 256


def build(
    workers: int,
    packet_bytes: int,
    chunks: int,
    window: int,
    delay_ps: int,
    latency_ps: int,
    rate_bps: int,
) -> Plan:
    size_bytes = 4 * ELEMENTS * chunks
    text = f"""
version: 1
name: star
topology: {{workers: {workers}, link: {{rate: {rate_bps} bps, delay: {delay_ps} ps}}}}
switch: {{latency: {latency_ps} ps, slots: {window}}}
packet: {{elements: {ELEMENTS}, overhead: {packet_bytes - 4 * ELEMENTS} B}}
collective: {{size: {size_bytes} B, dtype: int32, check: never}}
algorithms: [in_network]
"""
    scenario = parse_scenario(text, "star.yaml", (), Path("."))
    return build_plan(scenario, "in_network", False, ELEMENTS * chunks)


def main() -> None:
    plan = build(*map(int, sys.argv[1:]))
    begin = time.process_time()
    trace = simulate(plan)
    seconds = time.process_time() - begin
    print(json.dumps({"seconds": seconds, "finish_ps": [rank.finish_ps for rank in trace.ranks]}))


if __name__ == "__main__":
    main()
