"""Compare the compiled engine with the reference engine on random lossy stars.

Usage, from the repository's root: python -m tests.benchmarks.compiled_differential [COUNT [FIRST]].
Runs the stars of seeds FIRST .. FIRST + COUNT - 1, 2000 of them unless told otherwise; every
worker's completion and every counter must be equal. Ends with 1 at the first that is not.
"""

import sys
import time

from tests.engine.compiled.made_lossy_stars import both, lossy_star


def main() -> int:
    count, first = (int(word) for word in (*sys.argv[1:], *("2000", "1000")[len(sys.argv) - 1 :]))
    begin = time.process_time()
    unfinished = hops = 0
    for seed in range(first, first + count):
        reference, compiled = both(lossy_star(seed))
        if compiled != reference:
            print(f"seed {seed}: the compiled engine says {compiled}, the reference {reference}")
            return 1
        if isinstance(reference, str):
            unfinished += 1
        else:
            hops += reference.hops
    seconds = time.process_time() - begin
    print(
        f"{count} random stars are equal in both engines ({hops} hops; {unfinished} stars cannot "
        f"finish, for the same reason at the same time; {seconds:.0f} s)"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
