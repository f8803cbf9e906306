"""Run all-reduces on real sockets over the whole grid of parameters; every sum must be right.

Usage: python tests/benchmarks/emulated_grid.py [--target soft|p4|bmv2] [--net NET] [--short]
           [--pairs] [--seconds S]

The grid is that of tests/emulator/emulate/grid.py: workers, values a packet, type, length, loss,
with and without duplicates and reordering. Soft and p4 run on the loopback in one process, as in
the tests, or with `--net` in processes, as for users; bmv2 always does. `--short` leaves the
long tensors out, `--pairs` takes only the runs that cover all pairs, `--seconds` stops in time
and says how much was left. Prints runs, packets, losses, what was sent again, and wrong values.
"""

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "emulator" / "emulate"))

from grid import AXES, MILLION, PAIRWISE, Case, grid  # noqa: E402 - they are the tests' own
from in_one_process import make_star  # noqa: E402

from innet.emulator.emulate import Emulation, Options  # noqa: E402
from innet.tensors.generate import generate  # noqa: E402
from innet.tensors.verify import BlockLayout, count_wrong  # noqa: E402
from innet.trace.records import LinkRecord, RankRecord  # noqa: E402


def count(ranks: list[RankRecord], links: list[LinkRecord], wrong: int) -> Counter[str]:
    """What a run adds to the figures."""
    return Counter(
        runs=1,
        packets=sum(rank.packets_sent for rank in ranks),
        lost=sum(link.lost for link in links),
        duplicated=sum(link.duplicated for link in links),
        resent=sum(rank.retransmissions for rank in ranks),
        wrong=wrong,
    )


def in_one_process(case: Case) -> Counter[str]:
    """Run a case on the loopback of one process."""
    star = make_star(case.target, case.plan())
    try:
        star.run()
        ranks = [agent.record() for agent in star.agents]
        links = [link for agent in star.agents for link in agent.links()]
        return count(ranks, links, star.wrong())
    finally:
        star.close()


def in_processes(case: Case, net: str) -> Counter[str]:
    """Run a case as `innet emulate` does."""
    plan = case.plan()
    tensors = [generate(w, plan.elements, plan.dtype, plan.seed) for w in range(plan.workers)]
    with Emulation(plan, tensors, Options(case.target, net)) as emulation:
        trace = emulation.run().trace
    wrong = count_wrong(trace.results, tensors, plan.dtype, "in_network", BlockLayout(case.k, 1))
    return count(list(trace.ranks), list(trace.links), wrong)


def cases_of(asked: argparse.Namespace) -> list[Case]:
    """The runs that were asked for."""
    targets = (asked.target,) if asked.target else AXES.target
    cases = list(PAIRWISE) if asked.pairs else grid(AXES._replace(target=targets))
    if asked.pairs and asked.target:  # all pairs of the other axes
        cases = [case._replace(target=asked.target) for case in cases]
    return [case for case in cases if not (asked.short and case.elements == MILLION)]


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--target", choices=("soft", "p4", "bmv2"))
    parser.add_argument("--net", choices=("loopback", "netns", "mininet"))
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--pairs", action="store_true")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    asked = parser.parse_args()
    if asked.target == "bmv2" and asked.net in (None, "loopback"):
        parser.error("bmv2 needs --net netns or mininet")
    cases, started, total = cases_of(asked), time.monotonic(), Counter[str]()
    for case in cases:
        if time.monotonic() - started > asked.seconds:
            break
        figures = in_processes(case, asked.net) if asked.net else in_one_process(case)
        if figures["wrong"]:
            print(f"WRONG: {figures['wrong']} values of {case}", flush=True)
        total += figures
    shown = ", ".join(f"{total[name]:,} {name}" for name in ("packets", "lost", "duplicated"))
    taken = time.monotonic() - started
    print(f"{total['runs']} of {len(cases)} runs in {taken:.0f} s: {shown}, ", end="")
    print(f"{total['resent']:,} resent, {total['wrong']:,} wrong values")
    sys.exit(total["wrong"] > 0)


if __name__ == "__main__":
    main()
