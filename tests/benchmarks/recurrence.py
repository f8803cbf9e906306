"""Measure the recurrence beside the reference engine, on the same star, in one run.

Usage: python tests/benchmarks/recurrence.py [--repetitions N]

Stars of 100 Gbps, 500 ns a link, 400 ns in the switch, packets of 1024 B and 56 B more, 128
slots, no loss, no values. The recurrence is measured as it is, and without taking at once the
rounds that repeat earlier ones. Medians of the processor time of the simulations count. Ends with
1 when the engines end at different instants or the ratio falls short of what is demanded.
"""

import argparse
import sys
import time
from collections.abc import Callable
from statistics import median

from innet_star import build

from innet.engine.recurrence.run import run_recurrence
from innet.engine.reference.run import run_reference
from innet.plan.plan import Plan
from innet.trace.records import Trace

CASES = {"n=8, 10 MB": (8, 10**7), "n=64, 2 MB": (64, 2 * 10**6), "n=512, 2 MB": (512, 2 * 10**6)}
LARGE = {"n=8, 100 MB": (8, 10**8), "n=64, 1 GB": (64, 10**9), "n=1024, 1 GB": (1024, 10**9)}
DEMANDED = 80.0  # hops a second over the reference engine's


def star(workers: int, size_bytes: int) -> Plan:
    return build(workers, 1080, -(-size_bytes // 1024), 128, 500_000, 400_000, 10**11)


def seconds(run: Callable[[Plan], Trace], plan: Plan, times: int) -> tuple[float, Trace]:
    """Return the median processor time of a simulation, and its trace."""
    spent = []
    for _ in range(times):
        begin = time.process_time()
        trace = run(plan)
        spent.append(time.process_time() - begin)
    return median(spent), trace


def every_round(plan: Plan) -> Trace:
    return run_recurrence(plan, None, take_repeats_at_once=False)


def compare(name: str, plan: Plan, repetitions: int) -> bool:
    """Print one case; return whether the recurrence is right and as fast as demanded."""
    slow, expected = seconds(run_reference, plan, repetitions)
    print(f"{name}: {expected.hops} hops, ends at {finish(expected)} ps")
    print(f"  reference                 {expected.hops / slow / 1e6:10.3f} Mhops/s")
    right, ratio = True, 0.0
    for label, run in (("recurrence, every round", every_round), ("recurrence", run_recurrence)):
        fast, found = seconds(run, plan, 5 * repetitions)
        right = right and (found.ranks, found.links) == (expected.ranks, expected.links)
        ratio = slow / fast
        print(f"  {label:25} {found.hops / fast / 1e6:10.3f} Mhops/s   {ratio:8.1f} x")
    enough = right and ratio >= DEMANDED
    told = ("pass" if enough else "falls short") if right else "the traces differ"
    print(f"  at least {DEMANDED} x: {told}", flush=True)
    return enough


def finish(trace: Trace) -> int:
    return max(rank.finish_ps for rank in trace.ranks)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=3)
    repetitions = parser.parse_args().repetitions
    verdicts = [compare(name, star(*case), repetitions) for name, case in CASES.items()]
    for name, case in LARGE.items():
        spent, trace = seconds(run_recurrence, star(*case), repetitions)
        print(f"{name}: {trace.hops} hops, ends at {finish(trace)} ps, in {spent:.3f} s")
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
