"""All-to-all, and a message from one place to another.

An all-to-all of n places has n n blocks: block i n + j goes from place i to place j. So the whole
vector is what all places send, one after the other, and what a place sends, its share, is as long
as what it gets.

Source: R. Thakur, R. Rabenseifner and W. Gropp, "Optimization of collective communication
operations in MPICH", IJHPCA 19 (2005).
"""

from collections.abc import Iterator

from innet.collectives.schedule import Message


def a_block_each_pair(places: int, size_bytes: int) -> int:
    """Return the number of blocks: one for every pair of places, both ways, and for itself."""
    return places * places


def exchanged_elements(places: int, elements: int) -> int:
    """Return the length of the whole vector when every place sends `elements`, its own included.

    All blocks are alike, as in MPI, so that one of a fraction of an element has a whole one.
    """
    return places * places * -(-elements // places)


def pairwise_messages(places: int, blocks: int) -> Iterator[Message]:
    """Yield n - 1 steps; in each everyone sends to one place and receives from one."""
    for distance in range(1, places):
        for source in range(places):
            target = (source + distance) % places
            block = source * places + target
            yield Message(distance - 1, source, target, block, 1, reduce=False)


def send_messages(places: int, blocks: int) -> Iterator[Message]:
    """Yield the one message, from place 0 to place 1."""
    yield Message(0, 0, 1, 0, blocks, reduce=False)
