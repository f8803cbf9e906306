"""Reduce-scatter and all-gather: place p of n has, or ends with, block p of n blocks.

Sources: ring, P. Patarasuk and X. Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
workstations", J. Parallel and Distributed Computing 69 (2009); recursive halving and doubling and
pairwise exchange, R. Thakur, R. Rabenseifner and W. Gropp, "Optimization of collective
communication operations in MPICH", IJHPCA 19 (2005); J. Bruck et al., "Efficient algorithms for
all-to-all communications in multiport message-passing systems", IEEE TPDS 8 (1997).
"""

from collections.abc import Iterator

from innet.collectives.recursive import doubling_bits, largest_power_of_two
from innet.collectives.schedule import Message


def a_block_each(places: int, size_bytes: int) -> int:
    """Return the number of blocks: one for every place."""
    return places


def ring_reduce_scatter_messages(places: int, blocks: int) -> Iterator[Message]:
    """Yield n - 1 steps; the sum of block p begins at place p + 1 and ends at place p."""
    for step in range(places - 1):
        for place in range(places):
            block = (place - step - 1) % places
            yield Message(step, place, (place + 1) % places, block, 1, reduce=True)


def ring_all_gather_messages(places: int, blocks: int) -> Iterator[Message]:
    """Yield n - 1 steps in which every place passes on the block that it got last."""
    for step in range(places - 1):
        for place in range(places):
            block = (place - step) % places
            yield Message(step, place, (place + 1) % places, block, 1, reduce=False)


def pairwise_reduce_scatter_messages(places: int, blocks: int) -> Iterator[Message]:
    """Yield n - 1 steps; everyone sends a block straight to its owner, at growing distances."""
    for distance in range(1, places):
        for place in range(places):
            owner = (place + distance) % places
            yield Message(distance - 1, place, owner, owner, 1, reduce=True)


def pairwise_all_gather_messages(places: int, blocks: int) -> Iterator[Message]:
    """Yield n - 1 steps; everyone sends its block to all others, at growing distances."""
    for distance in range(1, places):
        for place in range(places):
            target = (place + distance) % places
            yield Message(distance - 1, place, target, place, 1, reduce=False)


def recursive_halving_messages(places: int, blocks: int) -> Iterator[Message]:
    """Yield the messages of recursive halving among the largest power of two of members.

    With r places more than that, the odd ones of the first 2 r add their whole vectors to their
    neighbours' first and get their blocks last. Far pairs swap halves first, so that a member ends
    with its own block.
    """
    members = largest_power_of_two(places)
    extra = places - members
    member_places = [2 * pair for pair in range(extra)] + list(range(2 * extra, places))
    first_blocks = [*member_places, places]
    for pair in range(extra):
        yield Message(0, 2 * pair + 1, 2 * pair, 0, places, reduce=True)
    step = 1 if extra else 0
    for distance in reversed(doubling_bits(members)):
        for member, place in enumerate(member_places):
            peer = member ^ distance
            low = peer - peer % distance
            first, end = first_blocks[low], first_blocks[low + distance]
            target = member_places[peer]
            yield Message(step, place, target, first, end - first, reduce=True)
        step += 1
    for pair in range(extra):
        yield Message(step, 2 * pair, 2 * pair + 1, 2 * pair + 1, 1, reduce=False)


def recursive_doubling_all_gather_messages(places: int, blocks: int) -> Iterator[Message]:
    """Yield recursive doubling: pairs swap all that they have, at doubling distances.

    A number of places that is no power of two takes Bruck's algorithm, as in MPICH.
    """
    if largest_power_of_two(places) < places:
        yield from bruck_all_gather_messages(places, blocks)
        return
    for step, distance in enumerate(doubling_bits(places)):
        for place in range(places):
            first = place - place % distance
            yield Message(step, place, place ^ distance, first, distance, reduce=False)


def bruck_all_gather_messages(places: int, blocks: int) -> Iterator[Message]:
    """Yield ceil(log2 n) steps; in step s everyone sends what it has to the place 2^s below.

    What it has are the blocks from its own on, past the last to the first: then two messages.
    """
    for step in range((places - 1).bit_length()):
        distance = 1 << step
        for place in range(places):
            target = (place - distance) % places
            for first, count in cyclic_runs(place, min(distance, places - distance), places):
                yield Message(step, place, target, first, count, reduce=False)


def cyclic_runs(first: int, count: int, blocks: int) -> Iterator[tuple[int, int]]:
    """Yield the one or two runs of `count` blocks from `first` on, where 0 follows the last."""
    before_end = min(count, blocks - first)
    yield first, before_end
    if before_end < count:
        yield 0, count - before_end
