"""Measure the recurrence beside the reference engine, on the same stars and rings, in one run.

Usage: python tests/benchmarks/recurrence.py [--repetitions N]

Stars of 100 Gbps, 500 ns a link, 400 ns in the switch, packets of 1024 B and 56 B more, 128
slots, no loss, no values; and rings on them, with packets of 1460 B, whose ranks begin together or
one after another. Rounds of a star repeat, so that few are computed and nothing is compiled, also
where a run of some milliseconds, most of them set-up, is short of what is demanded of compiled
code; all rounds are computed for comparison. Rings are computed by NumPy and by compiled code.
Medians of the processor time of the simulations count, without that of compiling. Ends with 1
when the engines differ in any record of a rank or link, or a ratio falls short of what is demanded.
"""

import argparse
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

from innet_star import build

from innet.engine.recurrence.ring_records import trace_of_ring
from innet.engine.recurrence.run import run_recurrence, run_ring
from innet.engine.reference.run import run_reference
from innet.plan.plan import Plan
from innet.scenario.build import build_plan
from innet.scenario.load import parse_scenario
from innet.trace.records import Trace

Run = Callable[[Plan], Trace]

STARS = {
    "n=8, 10 MB": (8, 10**7),
    "n=64, 2 MB": (64, 2 * 10**6),
    "n=512, 2 MB": (512, 2 * 10**6),
    "n=8, 100 MB": (8, 10**8),
}
RINGS = {
    "n=8, 10 MB": (8, 10**7, 0),
    "n=8, 10 MB, late ranks": (8, 10**7, 37),
    "n=64, 10 MB, late ranks": (64, 10**7, 37),
}
LARGE_STARS = {"n=64, 1 GB": (64, 10**9), "n=1024, 1 GB": (1024, 10**9)}
LARGE_RINGS = {"n=64, 1 GB, late ranks": (64, 10**9, 37), "n=512, 100 MB": (512, 10**8, 37)}
# Hops a second over the reference engine's.
DEMANDED_OF_NUMPY, DEMANDED_OF_COMPILED = 80.0, 1000.0


def star(workers: int, size_bytes: int) -> Plan:
    return build(workers, 1080, -(-size_bytes // 1024), 128, 500_000, 400_000, 10**11)


def ring(workers: int, size_bytes: int, late_ns: int) -> Plan:
    """A ring of blocks of one size; each rank begins `late_ns` after the one before."""
    late = ", ".join(f"{rank}: {{start: {rank * late_ns} ns}}" for rank in range(workers))
    text = f"""
version: 1
name: ring
topology: {{kind: star, workers: {workers}, link: {{rate: 100 Gbps, delay: 500 ns}}}}
switch: {{latency: 400 ns}}
collective: {{size: {size_bytes} B, dtype: int32, check: never}}
algorithms: [ring]
limit: 1000 s
workers: {{{late if late_ns else ""}}}
"""
    elements = size_bytes // (4 * workers) * workers
    return build_plan(parse_scenario(text, "ring.yaml", (), Path()), "ring", False, elements)


def seconds(run: Run, plan: Plan, times: int) -> tuple[float, Trace]:
    """Return the median processor time of a simulation, and its trace."""
    spent = []
    for _ in range(times):
        begin = time.process_time()
        trace = run(plan)
        spent.append(time.process_time() - begin)
    return median(spent), trace


def every_round(plan: Plan) -> Trace:
    return run_recurrence(plan, None, take_repeats_at_once=False)


def by_ring(compiled: bool, plan: Plan) -> Trace:
    return trace_of_ring(run_ring(plan, compiled=compiled))


# What is measured of either, and the ratio that is demanded of it.
OF_STARS: dict[str, tuple[Run, float]] = {
    "NumPy, every round": (every_round, 0.0),
    "NumPy": (run_recurrence, DEMANDED_OF_NUMPY),
}
OF_RINGS: dict[str, tuple[Run, float]] = {
    "NumPy": (partial(by_ring, False), DEMANDED_OF_NUMPY),
    "compiled": (partial(by_ring, True), DEMANDED_OF_COMPILED),
}


def compare(name: str, plan: Plan, runs: dict[str, tuple[Run, float]], repetitions: int) -> bool:
    """Print one case; return whether the recurrence is right and as fast as demanded."""
    slow, expected = seconds(run_reference, plan, repetitions)
    print(f"{name}: {expected.hops} hops, ends at {finish(expected)} ps")
    print(f"  {'reference':20} {expected.hops / slow / 1e6:10.3f} Mhops/s")
    enough = True
    for label, (run, demanded) in runs.items():
        fast, found = seconds(run, plan, 5 * repetitions)
        right = (found.ranks, found.links) == (expected.ranks, expected.links)
        ratio = slow / fast
        told = verdicts(ratio, demanded, runs is OF_STARS) if right else "the traces differ"
        print(f"  {label:20} {found.hops / fast / 1e6:10.3f} Mhops/s {ratio:9.1f} x  {told}")
        enough = enough and right and ratio >= demanded
    return enough


def verdicts(ratio: float, demanded: float, nothing_is_compiled: bool) -> str:
    """Tell what a ratio is to what is demanded of it, and of compiled code where there is none."""
    targets = [demanded, DEMANDED_OF_COMPILED] if nothing_is_compiled else [demanded]
    told = [f"at least {each:g} x: {'pass' if ratio >= each else 'short'}" for each in targets]
    return ", ".join(told) if demanded else ""


def rounds_of(plan: Plan) -> str:
    """Tell how many of a star's rounds are computed, and so why none is compiled."""
    computed, every = [], []
    run_recurrence(plan, computed.append)
    run_recurrence(plan, every.append, take_repeats_at_once=False)
    return f"  {'compiled':20} none: {len(computed)} of {len(every)} rounds are computed"


def finish(trace: Trace) -> int:
    return max(rank.finish_ps for rank in trace.ranks)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=3)
    repetitions = parser.parse_args().repetitions
    right = []
    for name, case in STARS.items():
        right.append(compare(f"star {name}", star(*case), OF_STARS, repetitions))
        print(rounds_of(star(*case)), flush=True)
    by_ring(True, ring(2, 1000, 0))  # compiled, or taken from Numba's cache
    for name, of_ring in RINGS.items():
        right.append(compare(f"ring {name}", ring(*of_ring), OF_RINGS, repetitions))
    large = {f"star {name}": star(*case) for name, case in LARGE_STARS.items()}
    large |= {f"ring {name}": ring(*case) for name, case in LARGE_RINGS.items()}
    for name, plan in large.items():
        spent, trace = seconds(run_recurrence, plan, repetitions)
        print(f"{name}: {trace.hops} hops, ends at {finish(trace)} ps, in {spent:.3f} s")
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main())
