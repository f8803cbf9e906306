"""All-reduce over trees: an unpipelined binomial tree and a pipelined double binary tree.

Sources: binomial tree, R. Thakur, R. Rabenseifner and W. Gropp, "Optimization of collective
communication operations in MPICH" (2005); double binary tree, P. Sanders, J. Speck and
J. Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan", Parallel
Computing 35 (2009), in the shape that NCCL uses.
"""

from collections.abc import Iterator

from innet.collectives.schedule import Message

# Below this a chunk's last, short packet and the stream's latency cost more than they save.
SMALLEST_CHUNK_BYTES = 8 * 2**10
# Filling and draining the pipeline takes some four chunks a level, an eighth of the whole.
CHUNKS_PER_LEVEL = 32


def binomial_tree_blocks(workers: int, size_bytes: int) -> int:
    """Return the number of blocks: the whole vector is one."""
    return 1


def binomial_tree_messages(workers: int, blocks: int) -> Iterator[Message]:
    """Yield a reduction to rank 0 and a broadcast from it, 2 ceil(log2 n) steps."""
    levels = (workers - 1).bit_length()
    for level in range(levels):
        distance = 1 << level
        for rank in range(distance, workers, 2 * distance):
            yield Message(level, rank, rank - distance, 0, blocks, reduce=True)
    for level in reversed(range(levels)):
        distance = 1 << level
        step = 2 * levels - 1 - level
        for rank in range(distance, workers, 2 * distance):
            yield Message(step, rank - distance, rank, 0, blocks, reduce=False)


def double_tree_blocks(workers: int, size_bytes: int) -> int:
    """Return the number of chunks, the same for both trees: each carries half of the vector.

    There are 32 chunks for each level of the tree, but none smaller than 8 KiB.
    """
    wanted = CHUNKS_PER_LEVEL * max(1, (workers - 1).bit_length())
    return 2 * max(1, min(wanted, size_bytes // (2 * SMALLEST_CHUNK_BYTES)))


def double_tree_messages(workers: int, blocks: int) -> Iterator[Message]:
    """Yield reductions up and broadcasts down both trees, one chunk a step behind the other."""
    first_tree = binary_tree(workers)
    trees = (first_tree, complementary_tree(first_tree))
    for tree, parents in enumerate(trees):
        depths = [_depth(parents, rank) for rank in range(workers)]
        for chunk in range(blocks // 2):
            block = tree * (blocks // 2) + chunk
            yield from _chunk_messages(parents, depths, chunk, block)


def _chunk_messages(
    parents: list[int], depths: list[int], step: int, block: int
) -> Iterator[Message]:
    """Yield the messages of a chunk that the deepest rank sends in `step`."""
    deepest = max(depths)
    for rank, parent in enumerate(parents):
        if parent >= 0:
            up = step + deepest - depths[rank]
            down = step + deepest + depths[parent]
            yield Message(up, rank, parent, block, 1, reduce=True)
            yield Message(down, parent, rank, block, 1, reduce=False)


def binary_tree(workers: int) -> list[int]:
    """Return every rank's parent (-1: root) in a tree whose odd ranks are its leaves.

    A rank's height is the number of zeros that end its binary form; its parent is the
    neighbour of the next height, or the one below where that lies beyond the last rank.
    Rank 0 is the root and has one child.
    """
    parents = [-1]
    for rank in range(1, workers):
        bit = rank & -rank
        parent = (rank ^ bit) | (bit << 1)
        parents.append(parent if parent < workers else rank ^ bit)
    return parents


def complementary_tree(parents: list[int]) -> list[int]:
    """Return the tree whose leaves are the inner ranks of a `binary_tree`.

    It is the same tree with ranks mirrored for an even number of ranks, and shifted by one for
    an odd number, where rank 0 is an inner rank of both.
    """
    workers = len(parents)
    if workers % 2 == 0:
        place = [workers - 1 - rank for rank in range(workers)]
    else:
        place = [(rank + 1) % workers for rank in range(workers)]
    moved = [-1] * workers
    for rank, parent in enumerate(parents):
        moved[place[rank]] = place[parent] if parent >= 0 else -1
    return moved


def _depth(parents: list[int], rank: int) -> int:
    depth = 0
    while parents[rank] >= 0:
        rank = parents[rank]
        depth += 1
    return depth
