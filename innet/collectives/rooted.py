"""Broadcast, reduce and gather: one place, the root, has the vector first, or in the end.

Sources: binomial trees, scatter with all-gather (van de Geijn) and reduce-scatter with gather
(Rabenseifner), R. Thakur, R. Rabenseifner and W. Gropp, "Optimization of collective communication
operations in MPICH", IJHPCA 19 (2005); pipelined chains, J. Pjesivac-Grbovic et al., "Performance
analysis of MPI collective operations", Cluster Computing 10 (2007).

Places are counted from the root here: `shifted` place v is place root + v modulo n.
"""

from collections.abc import Iterator
from dataclasses import replace

from innet.collectives.schedule import Message
from innet.collectives.shares import (
    cyclic_runs,
    recursive_halving_messages,
    ring_all_gather_messages,
)

# Below this a chunk's last, short packet and the stream's latency cost more than they save.
SMALLEST_CHUNK_BYTES = 8 * 2**10
# Filling the chain takes one chunk a hop, an eighth of the whole; in long chains more.
CHUNKS_PER_HOP = 8
LARGEST_CHUNK_COUNT = 1024


def whole_vector(places: int, size_bytes: int) -> int:
    """Return the number of blocks: the whole vector is one."""
    return 1


def chain_blocks(places: int, size_bytes: int) -> int:
    """Return the number of chunks: 8 a hop, at most 1024, but none smaller than 8 KiB."""
    wanted = min(CHUNKS_PER_HOP * (places - 1), LARGEST_CHUNK_COUNT)
    return max(1, min(wanted, size_bytes // SMALLEST_CHUNK_BYTES))


def chain_broadcast_messages(places: int, blocks: int, root: int) -> Iterator[Message]:
    """Yield n - 1 hops of every chunk, away from the root."""
    for hop in range(places - 1):
        source, target = shifted(hop, root, places), shifted(hop + 1, root, places)
        for chunk in range(blocks):
            yield Message(chunk + hop, source, target, chunk, 1, reduce=False)


def chain_reduce_messages(places: int, blocks: int, root: int) -> Iterator[Message]:
    """Yield n - 1 hops of every chunk, towards the root."""
    for hop in range(places - 1):
        far = places - 1 - hop
        source, target = shifted(far, root, places), shifted(far - 1, root, places)
        for chunk in range(blocks):
            yield Message(chunk + hop, source, target, chunk, 1, reduce=True)


def binomial_broadcast_messages(places: int, blocks: int, root: int) -> Iterator[Message]:
    """Yield ceil(log2 n) steps in which everyone who has the vector sends it on."""
    for step, parent, child, _ in _binomial_tree(places):
        source, target = shifted(parent, root, places), shifted(child, root, places)
        yield Message(step, source, target, 0, blocks, reduce=False)


def binomial_reduce_messages(places: int, blocks: int, root: int) -> Iterator[Message]:
    """Yield ceil(log2 n) steps in which half of those who are left add theirs to another's."""
    last = (places - 1).bit_length() - 1
    for step, parent, child, _ in _binomial_tree(places):
        source, target = shifted(child, root, places), shifted(parent, root, places)
        yield Message(last - step, source, target, 0, blocks, reduce=True)


def binomial_gather_messages(places: int, blocks: int, root: int) -> Iterator[Message]:
    """Yield ceil(log2 n) steps in which blocks are collected on the way to the root."""
    last = (places - 1).bit_length() - 1
    for message in _binomial_scatter(places, root):
        yield replace(
            message, step=last - message.step, source=message.target, target=message.source
        )


def linear_broadcast_messages(places: int, blocks: int, root: int) -> Iterator[Message]:
    """Yield the root's message to each other place."""
    for distance in range(1, places):
        target = shifted(distance, root, places)
        yield Message(distance - 1, root, target, 0, blocks, reduce=False)


def linear_reduce_messages(places: int, blocks: int, root: int) -> Iterator[Message]:
    """Yield each other place's message to the root, all at once."""
    for distance in range(1, places):
        yield Message(0, shifted(distance, root, places), root, 0, blocks, reduce=True)


def linear_gather_messages(places: int, blocks: int, root: int) -> Iterator[Message]:
    """Yield each other place's block to the root, all at once."""
    for distance in range(1, places):
        source = shifted(distance, root, places)
        yield Message(0, source, root, source, 1, reduce=False)


def scatter_all_gather_messages(places: int, blocks: int, root: int) -> Iterator[Message]:
    """Yield a scatter of blocks over a binomial tree, and an all-gather on a ring."""
    yield from _binomial_scatter(places, root)
    steps = (places - 1).bit_length()
    for message in ring_all_gather_messages(places, blocks):
        yield replace(message, step=steps + message.step)


def reduce_scatter_gather_messages(places: int, blocks: int, root: int) -> Iterator[Message]:
    """Yield a reduce-scatter by recursive halving, and a gather over a binomial tree."""
    scatter = list(recursive_halving_messages(places, blocks))
    yield from scatter
    steps = 1 + max(message.step for message in scatter)
    for message in binomial_gather_messages(places, blocks, root):
        yield replace(message, step=steps + message.step)


def shifted(distance: int, root: int, places: int) -> int:
    """Return the place that comes `distance` places after the root, where 0 follows the last."""
    return (root + distance) % places


def _binomial_scatter(places: int, root: int) -> Iterator[Message]:
    for step, parent, child, below in _binomial_tree(places):
        source, target = shifted(parent, root, places), shifted(child, root, places)
        for first, count in cyclic_runs(target, below, places):
            yield Message(step, source, target, first, count, reduce=False)


def _binomial_tree(places: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield (step, parent, child, places from the child on that are its own or below it)."""
    levels = (places - 1).bit_length()
    for step in range(levels):
        distance = 1 << (levels - 1 - step)
        for child in range(distance, places, 2 * distance):
            yield step, child - distance, child, min(distance, places - child)
