"""Measure the compiled engine beside the reference engine point to point on general networks.

Usage: python tests/benchmarks/compiled_networks.py [--compiled-only]. Links of 100 Gbps and 500 ns,
400 ns in a switch, packets of 1460 B and 78 B more, windows of 64, acknowledgements that cost
nothing. A hop is a packet that crosses a link; acknowledgements are packets too. The best of
several runs in processor time counts, with setting up and without compilation. Ends with 1 when
the engines differ.
"""

import dataclasses
import sys
import time
from pathlib import Path

from innet.engine.simulate import simulate
from innet.scenario.build import build_plan
from innet.scenario.load import parse_scenario

LINK = "link: {{rate: 100 Gbps, delay: 500 ns, loss: {loss}}}"
STAR = "workers: {workers}, " + LINK
RACKS = "kind: leaf_spine, racks: 4, hosts: {hosts}, spines: 2, " + LINK
FAT_TREE = "kind: fat_tree, k: 4, " + LINK
# Name: topology, workers, algorithm, bytes.
CASES = {
    "star of 8, ring": (STAR.format(workers=8, loss=0), 8, "ring", 10_000_000),
    "star of 8, ring, loss 1e-4": (STAR.format(workers=8, loss=1e-4), 8, "ring", 5_000_000),
    "star of 8, halving": (STAR.format(workers=8, loss=0), 8, "halving_doubling", 10_000_000),
    "star of 8, double tree": (STAR.format(workers=8, loss=0), 8, "double_tree", 10_000_000),
    "racks of 64, ring": (RACKS.format(hosts=16, loss=0), 64, "ring", 2_000_000),
    "racks of 64, halving": (RACKS.format(hosts=16, loss=0), 64, "halving_doubling", 2_000_000),
    "fat tree of 16, ring": (FAT_TREE.format(loss=0), 16, "ring", 5_000_000),
}


def plan_of(topology, workers, algorithm, size_bytes):
    """The plan of an all-reduce without values."""
    text = (
        f"version: 1\nname: speed\ntopology: {{{topology}}}\nswitch: {{latency: 400 ns}}\n"
        f"collective: {{size: {size_bytes} B, dtype: float32, check: never}}\n"
        f"algorithms: [{algorithm}]\n"
    )
    scenario = parse_scenario(text, "speed.yaml", (), Path("."))
    return build_plan(scenario, algorithm, False, size_bytes // 4)


def timed(plan, engine, repetitions):
    """The best processor time of some runs, and their trace."""
    best = float("inf")
    for _ in range(repetitions):
        begin = time.process_time()
        trace = simulate(plan, engine=engine)
        best = min(best, time.process_time() - begin)
    return best, dataclasses.replace(trace, engine="")


def main() -> int:
    begin = time.process_time()
    simulate(plan_of(STAR.format(workers=2, loss=0), 2, "ring", 100), engine="compiled")
    print(f"to compile or load: {time.process_time() - begin:.1f} s", flush=True)
    right = True
    for name, case in CASES.items():
        plan = plan_of(*case)
        seconds, trace = timed(plan, "compiled", 3)
        told = f"{name:28} {trace.hops:9} hops, compiled {trace.hops / seconds / 1e6:5.1f} Mhops/s"
        if "--compiled-only" not in sys.argv:
            reference_s, reference = timed(plan, "reference", 1)
            right = right and trace == reference
            told += f", {reference_s / seconds:4.0f} x the reference engine"
            told += "" if trace == reference else "; NOT EQUAL"
        print(told, flush=True)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
