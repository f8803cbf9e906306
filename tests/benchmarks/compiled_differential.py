"""Compare the compiled engine with the reference engine on random networks.

Usage, from the repository's root: python -m tests.benchmarks.compiled_differential [COUNT [FIRST]].
Runs the lossy stars, and on networks of all kinds the point-to-point plans and the mixes of many
operations, of seeds FIRST .. FIRST + COUNT - 1, 2000 of each unless told otherwise; every rank's
completion and every counter must be equal. Ends with 1 at the first that is not.
"""

import sys
import time

from innet.engine.compiled.messages.network import CompiledNetwork
from innet.engine.reference.network import ReferenceNetwork
from tests.engine.compiled.made_lossy_stars import both, lossy_star
from tests.engine.compiled.made_messages import message_plan
from tests.engine.compiled.made_mixes import made_mix, outcome

NETWORKS = (ReferenceNetwork, CompiledNetwork)
# What is made, and how it goes in the reference engine and the compiled one.
KINDS = {
    "in-network": (lossy_star, both),
    "point-to-point": (message_plan, both),
    "mixed": (made_mix, lambda mix: [outcome(mix, network) for network in NETWORKS]),
}


def links_of(outcome):
    """The links' records, of a trace or of how a mix went."""
    return outcome[1] if isinstance(outcome, tuple) else outcome.links


def compare(kind, seeds):
    """Return whether all plans are equal, and say what was compared or which is not."""
    (make, run), begin = KINDS[kind], time.process_time()
    unfinished = hops = 0
    for seed in seeds:
        reference, compiled = run(make(seed))
        if compiled != reference:
            print(
                f"{kind}, seed {seed}: the compiled engine says {compiled}, "
                f"the reference {reference}"
            )
            return False
        if isinstance(reference, str):
            unfinished += 1
        else:
            hops += sum(link.packets for link in links_of(reference))
    seconds = time.process_time() - begin
    print(
        f"{len(seeds)} random {kind} cases are equal in both engines ({hops} hops; {unfinished} "
        f"cannot finish, for the same reason at the same time; {seconds:.0f} s)",
        flush=True,
    )
    return True


def main() -> int:
    count, first = (int(word) for word in (*sys.argv[1:], *("2000", "1000")[len(sys.argv) - 1 :]))
    return 0 if all(compare(kind, range(first, first + count)) for kind in KINDS) else 1


if __name__ == "__main__":
    sys.exit(main())
