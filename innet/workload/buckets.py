"""Gradients in buckets, as PyTorch's DistributedDataParallel sums them.

A bucket takes gradients in the order in which they become ready and is full with the one that
brings it to its limit; the first limit is small, so that communication starts early
(torch/csrc/distributed/c10d/reducer.cpp, compute_bucket_assignment_by_size).
"""

from collections.abc import Sequence

FIRST_BUCKET_BYTES = 2**20
BUCKET_BYTES = 25 * 2**20


def bucket_sizes(
    gradient_bytes: Sequence[int],
    first_bytes: int = FIRST_BUCKET_BYTES,
    bucket_bytes: int = BUCKET_BYTES,
) -> list[int]:
    """Return the bytes of every bucket, for gradients in the order in which they are ready."""
    full: list[int] = []
    filling = 0
    for size in gradient_bytes:
        filling += size
        if filling >= (bucket_bytes if full else first_bytes):
            full.append(filling)
            filling = 0
    return [*full, filling] if filling else full
