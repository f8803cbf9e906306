"""All-reduce by parameter servers: one dedicated server, or every worker serving its share.

Sources: M. Li et al., "Scaling distributed machine learning with the parameter server",
OSDI 2014; sharded over the workers, Y. Jiang et al., "A unified architecture for accelerating
distributed DNN training in heterogeneous GPU/CPU clusters" (BytePS), OSDI 2020.
"""

from collections.abc import Iterator

from innet.collectives.schedule import Message

SMALLEST_CHUNK_BYTES = 8 * 2**10
# The return of a chunk overlaps the receipt of the next, so 1/64 of the time is lost.
LARGEST_CHUNK_COUNT = 64


def parameter_server_blocks(workers: int, size_bytes: int) -> int:
    """Return the number of chunks: 64, but none smaller than 8 KiB."""
    return max(1, min(LARGEST_CHUNK_COUNT, size_bytes // SMALLEST_CHUNK_BYTES))


def parameter_server_messages(workers: int, blocks: int) -> Iterator[Message]:
    """Yield each chunk's way to the server, rank n, and back, one step later.

    The server has nothing to begin with, so worker 0's chunk is taken as it is.
    """
    server = workers
    for chunk in range(blocks):
        for rank in range(workers):
            yield Message(chunk, rank, server, chunk, 1, reduce=rank > 0)
            yield Message(chunk + 1, server, rank, chunk, 1, reduce=False)


def sharded_parameter_server_blocks(workers: int, size_bytes: int) -> int:
    """Return the number of blocks: one for every worker, which is its server."""
    return workers


def sharded_parameter_server_messages(workers: int, blocks: int) -> Iterator[Message]:
    """Yield every block's way to its server and back.

    In each step every rank sends to another one, so that no server has two senders at once.
    """
    for distance in range(1, workers):
        for rank in range(workers):
            server = (rank + distance) % workers
            yield Message(distance - 1, rank, server, server, 1, reduce=True)
    for distance in range(1, workers):
        for server in range(workers):
            rank = (server + distance) % workers
            yield Message(workers - 2 + distance, server, rank, server, 1, reduce=False)
