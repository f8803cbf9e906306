"""All-reduce by recursive doubling and by recursive halving and doubling (Rabenseifner).

Source: R. Thakur, R. Rabenseifner and W. Gropp, "Optimization of collective communication
operations in MPICH", Int. J. High Performance Computing Applications 19 (2005).

Both work on 2^q *members*. With r workers more than that, the first 2 r ranks are folded in
pairs first, and one of each pair has the result sent to it at the end. Neighbours are added
first, then pairs of pairs, which is Open MPI's order, so float sums are equal to the bit.
"""

from collections.abc import Iterator

from innet.collectives.schedule import Message


def recursive_doubling_blocks(workers: int, size_bytes: int) -> int:
    """Return the number of blocks: the whole vector is one."""
    return 1


def recursive_doubling_messages(workers: int, blocks: int) -> Iterator[Message]:
    """Yield the messages of recursive doubling: in every round all pairs swap whole vectors.

    Of a folded pair, the odd rank is the member.
    """
    extra = workers - largest_power_of_two(workers)
    ranks = [2 * pair + 1 for pair in range(extra)] + list(range(2 * extra, workers))
    for pair in range(extra):
        yield Message(0, 2 * pair, 2 * pair + 1, 0, blocks, reduce=True)
    step = 1 if extra else 0
    for bit in doubling_bits(len(ranks)):
        for member, rank in enumerate(ranks):
            yield Message(step, rank, ranks[member ^ bit], 0, blocks, reduce=True)
        step += 1
    for pair in range(extra):
        yield Message(step, 2 * pair + 1, 2 * pair, 0, blocks, reduce=False)


def halving_doubling_blocks(workers: int, size_bytes: int) -> int:
    """Return the number of blocks: one for every member."""
    return largest_power_of_two(workers)


def halving_doubling_messages(workers: int, blocks: int) -> Iterator[Message]:
    """Yield the messages of a recursive halving reduce-scatter and a doubling all-gather.

    Of a folded pair, the even rank is the member.
    """
    extra = workers - blocks
    ranks = [2 * pair for pair in range(extra)] + list(range(2 * extra, workers))
    yield from _fold_halves(extra, blocks)
    step = 2 if extra else 0
    windows = [(0, blocks)] * blocks
    halvings = []
    for bit in doubling_bits(blocks):
        halves = [_halve(windows[member], bool(member & bit)) for member in range(blocks)]
        for member, (_, (first, end)) in enumerate(halves):
            peer = ranks[member ^ bit]
            yield Message(step, ranks[member], peer, first, end - first, reduce=True)
        windows = [kept for kept, _ in halves]
        halvings.append((bit, windows))
        step += 1
    for bit, windows in reversed(halvings):
        for member, (first, end) in enumerate(windows):
            peer = ranks[member ^ bit]
            yield Message(step, ranks[member], peer, first, end - first, reduce=False)
        step += 1
    for pair in range(extra):
        yield Message(step, 2 * pair, 2 * pair + 1, 0, blocks, reduce=False)


def _fold_halves(pairs: int, blocks: int) -> Iterator[Message]:
    """Yield the folding of pairs: each adds one half, then the even rank gets the other."""
    half = blocks // 2
    for pair in range(pairs):
        even, odd = 2 * pair, 2 * pair + 1
        yield Message(0, even, odd, half, blocks - half, reduce=True)
        yield Message(0, odd, even, 0, half, reduce=True)
        yield Message(1, odd, even, half, blocks - half, reduce=False)


def _halve(window: tuple[int, int], upper: bool) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the half of a window of blocks that a member keeps, and the one it sends."""
    first, end = window
    middle = (first + end) // 2
    lower_half, upper_half = (first, middle), (middle, end)
    return (upper_half, lower_half) if upper else (lower_half, upper_half)


def largest_power_of_two(places: int) -> int:
    """Return the largest power of two that is not above `places`."""
    return 1 << (places.bit_length() - 1)


def doubling_bits(members: int) -> list[int]:
    """Return 1, 2, 4, ... below `members`, a power of two."""
    return [1 << position for position in range(members.bit_length() - 1)]
