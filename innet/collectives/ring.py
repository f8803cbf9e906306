"""Ring all-reduce: reduce-scatter, then all-gather, between neighbours only.

Source: P. Patarasuk and X. Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
workstations", J. Parallel and Distributed Computing 69 (2009). Block k is summed from rank k
upwards, as in Open MPI, so float sums are equal to the bit.
"""

from collections.abc import Iterator

from innet.collectives.schedule import Message


def ring_blocks(workers: int, size_bytes: int) -> int:
    """Return the number of blocks: one for every worker."""
    return workers


def ring_messages(workers: int, blocks: int) -> Iterator[Message]:
    """Yield 2 (n - 1) steps in which every rank sends one block to the next rank."""
    last = workers - 1
    for step in range(last):
        for rank in range(workers):
            block = (rank - step) % workers
            yield Message(step, rank, (rank + 1) % workers, block, 1, reduce=True)
    for step in range(last):
        for rank in range(workers):
            block = (rank + 1 - step) % workers
            yield Message(last + step, rank, (rank + 1) % workers, block, 1, reduce=False)
