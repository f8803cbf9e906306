"""In-network aggregation on a star by an engine of innet, without values.

Usage: innet_star.py ENGINE LOSS WORKERS PACKET_BYTES CHUNKS WINDOW DELAY_PS LATENCY_PS RATE_BPS.
Prints, as JSON, when each worker has its last result (ps), the packets over a link, the processor
time of the simulation (s), which is the median of as many as fit in a second or one that takes
longer, and the process's peak memory (MB). What is compiled is compiled, or loaded, before.
"""

import dataclasses
import json
import resource
import sys
import time
from pathlib import Path
from statistics import median

from innet.engine.simulate import simulate
from innet.plan.plan import Plan
from innet.scenario.build import build_plan
from innet.scenario.load import parse_scenario

ELEMENTS = 256
MEASURED_S = 1.0


def build(
    workers: int,
    packet_bytes: int,
    chunks: int,
    window: int,
    delay_ps: int,
    latency_ps: int,
    rate_bps: int,
    loss: float = 0.0,
) -> Plan:
    """The plan of a star whose links are alike."""
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
    plan = build_plan(scenario, "in_network", False, ELEMENTS * chunks)
    links = tuple(dataclasses.replace(link, loss=loss) for link in plan.graph.links)
    return dataclasses.replace(plan, graph=dataclasses.replace(plan.graph, links=links))


def benchmark_star(workers: int, size_bytes: int, loss: float = 0.0) -> Plan:
    """The star of all benchmarks: 100 Gbps, 500 ns a link, 400 ns in the switch, 128 slots."""
    chunks = -(-size_bytes // (4 * ELEMENTS))
    return build(workers, 1080, chunks, 128, 500_000, 400_000, 10**11, loss)


def main() -> None:
    engine, loss, *words = sys.argv[1:]
    numbers = [int(word) for word in words]
    plan = build(*numbers, loss=float(loss))
    small = [*numbers[:2], 1, *numbers[3:]]
    simulate(build(*small, loss=float(loss)), engine=engine)
    spent: list[float] = []
    while sum(spent) < MEASURED_S:
        begin = time.process_time()
        trace = simulate(plan, engine=engine)
        spent.append(time.process_time() - begin)
    result = {
        "finish_ps": [rank.finish_ps for rank in trace.ranks],
        "hops": trace.hops,
        "seconds": median(spent),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1000,
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
