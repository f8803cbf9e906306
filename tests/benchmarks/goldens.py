"""Large stars that ns-3 and htsim timed to the picosecond, too long for the tests.

Usage: python tests/benchmarks/goldens.py. Prints each time and whether it is the right one; the
exit code is 1 if one is not.
"""

import sys
import time

from innet_star import build

from innet.engine.simulate import simulate

# (workers, bytes, rate in bit/s): picoseconds. Packets of 1024 + 56 bytes, 128 slots, 500 ns a
# link, 400 ns in the switch.
CONFIRMED_PS = {
    (8, 10_000_000, 10**11): 845_268_800,
    (8, 100_000_000, 10**11): 8_439_051_200,
    (8, 100_000_000, 10**10): 84_377_912_000,
    (64, 2_000_000, 10**11): 170_312_000,
    (512, 2_000_000, 10**11): 170_312_000,
}


def main() -> None:
    right = True
    for (workers, size_bytes, rate_bps), time_ps in CONFIRMED_PS.items():
        chunks = -(-size_bytes // 1024)
        plan = build(workers, 1080, chunks, 128, 500_000, 400_000, rate_bps)
        begin = time.process_time()
        trace = simulate(plan)
        seconds = time.process_time() - begin
        finish_ps = max(rank.finish_ps for rank in trace.ranks)
        right = right and finish_ps == time_ps
        print(
            f"{workers} workers, {size_bytes // 10**6} MB at {rate_bps // 10**9} Gbps: "
            f"{finish_ps} ps, {'right' if finish_ps == time_ps else f'not {time_ps}'}; "
            f"{trace.hops} hops in {seconds:.1f} s",
            flush=True,
        )
    sys.exit(0 if right else 1)


if __name__ == "__main__":
    main()
