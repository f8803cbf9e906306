"""Measure the compiled engine beside the reference engine, in one run on the same stars.

Usage: python tests/benchmarks/compiled_speed.py. Stars of 100 Gbps, 500 ns a link, 400 ns in the
switch, packets of 1024 B and 56 B more, 128 slots, no values. A hop is a packet that crosses a
link. The best of several runs in processor time counts, with setting up and without compilation.
Ends with 1 when the engines differ or the compiled one is not as fast as demanded.
"""

import dataclasses
import sys
import time

from innet_star import build

from innet.engine.simulate import simulate

DEMANDED = 150  # times the reference engine
# Name: workers, bytes, loss, and the instant that ns-3 and htsim confirmed.
CASES = {
    "n=8, 10 MB": (8, 10_000_000, 0.0, 845_268_800),
    "n=64, 2 MB": (64, 2_000_000, 0.0, 170_312_000),
    "n=512, 2 MB": (512, 2_000_000, 0.0, 170_312_000),
    "n=8, 5 MB, loss 1e-4": (8, 5_000_000, 1e-4, None),
}


def star(workers, size_bytes, loss):
    """The plan of a star whose links lose packets."""
    plan = build(workers, 1080, -(-size_bytes // 1024), 128, 500_000, 400_000, 10**11)
    links = tuple(dataclasses.replace(link, loss=loss) for link in plan.graph.links)
    return dataclasses.replace(plan, graph=dataclasses.replace(plan.graph, links=links))


def timed(plan, engine, repetitions):
    """The best processor time of some runs, and their trace."""
    best = float("inf")
    for _ in range(repetitions):
        begin = time.process_time()
        trace = simulate(plan, engine=engine)
        best = min(best, time.process_time() - begin)
    return best, dataclasses.replace(trace, engine="")


def main() -> int:
    simulate(star(2, 10_000, 0.1), engine="compiled")  # compiled or loaded now
    right = True
    for name, (workers, size_bytes, loss, finish_ps) in CASES.items():
        plan = star(workers, size_bytes, loss)
        compiled_s, compiled = timed(plan, "compiled", 5)
        reference_s, reference = timed(plan, "reference", 1)
        ends = {rank.finish_ps for rank in compiled.ranks}
        equal = compiled == reference and finish_ps in (None, *ends)
        ratio = reference_s / compiled_s
        right = right and equal and ratio >= DEMANDED
        speeds = [reference.hops / seconds / 1e6 for seconds in (reference_s, compiled_s)]
        print(
            f"{name:22} {reference.hops:9} hops, Mhops/s: reference {speeds[0]:6.3f}, compiled "
            f"{speeds[1]:6.1f}; {ratio:4.0f} x, at least {DEMANDED} x: "
            f"{'pass' if ratio >= DEMANDED else 'falls short'}; "
            f"{'equal' if equal else 'NOT EQUAL'}",
            flush=True,
        )
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
