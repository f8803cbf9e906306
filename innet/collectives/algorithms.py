"""The point-to-point all-reduce algorithms by name, and the schedules they give.

Pure functions: a schedule follows from the algorithm, the number of workers and the size of
the vector. In-network aggregation is not among them, since a switch takes part in it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from innet.collectives import recursive, ring, servers, trees
from innet.collectives.schedule import Message, Schedule, Sending
from innet.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class Algorithm:
    """How to build an algorithm's schedule, and where it was published.

    `blocks(workers, size_bytes)` is the number of blocks of a vector, `messages(workers,
    blocks)` what is sent, in any order. `helpers` ranks take part besides the workers;
    `sending` is the schedule's.
    """

    description: str
    source: str
    blocks: Callable[[int, int], int]
    messages: Callable[[int, int], Iterable[Message]]
    helpers: int = 0
    sending: Sending = "in_turn"


_THAKUR = "Thakur, Rabenseifner and Gropp, IJHPCA 2005"

ALGORITHMS: Mapping[str, Algorithm] = {
    "ring": Algorithm(
        "reduce-scatter and all-gather between neighbours on a ring",
        "Patarasuk and Yuan, JPDC 2009",
        ring.ring_blocks,
        ring.ring_messages,
    ),
    "double_tree": Algorithm(
        "two complementary binary trees, each for half of the vector, pipelined by chunks",
        "Sanders, Speck and Träff, Parallel Computing 2009; NCCL",
        trees.double_tree_blocks,
        trees.double_tree_messages,
        sending="together",
    ),
    "binomial_tree": Algorithm(
        "reduction to rank 0 and broadcast from it over a binomial tree, not pipelined",
        _THAKUR,
        trees.binomial_tree_blocks,
        trees.binomial_tree_messages,
        sending="rendezvous",
    ),
    "halving_doubling": Algorithm(
        "recursive halving reduce-scatter and recursive doubling all-gather (Rabenseifner)",
        _THAKUR,
        recursive.halving_doubling_blocks,
        recursive.halving_doubling_messages,
        sending="rendezvous",
    ),
    "recursive_doubling": Algorithm(
        "pairs swap and add whole vectors at doubling distances",
        _THAKUR,
        recursive.recursive_doubling_blocks,
        recursive.recursive_doubling_messages,
        sending="rendezvous",
    ),
    "parameter_server": Algorithm(
        "one dedicated server adds up the workers' vectors and returns the sum, by chunks",
        "Li et al., OSDI 2014",
        servers.parameter_server_blocks,
        servers.parameter_server_messages,
        helpers=1,
    ),
    "sharded_parameter_server": Algorithm(
        "every worker is the server of its share of the vector",
        "Jiang et al. (BytePS), OSDI 2020",
        servers.sharded_parameter_server_blocks,
        servers.sharded_parameter_server_messages,
    ),
}


def build_schedule(algorithm: str, workers: int, elements: int, itemsize: int) -> Schedule:
    """Return the schedule of an all-reduce of `elements` elements of `itemsize` bytes.

    No block is empty: a vector of fewer elements than blocks has as many blocks as elements.
    One worker sends nothing. ConfigurationError for a name that is not in ALGORITHMS or a
    number out of range.
    """
    entry = ALGORITHMS.get(algorithm)
    if entry is None:
        known = ", ".join(ALGORITHMS)
        raise ConfigurationError(f"'{algorithm}' is not a point-to-point algorithm; use {known}")
    return schedule_of(algorithm, entry, workers, elements, itemsize)


def schedule_of(
    name: str, algorithm: Algorithm, workers: int, elements: int, itemsize: int
) -> Schedule:
    """Return the schedule of an algorithm called `name`, as `build_schedule` does."""
    _check_at_least(1, workers=workers, itemsize=itemsize)
    _check_at_least(0, elements=elements)
    wanted = algorithm.blocks(workers, elements * itemsize)
    messages = algorithm.messages(workers, wanted) if workers > 1 else ()
    blocks = min(wanted, elements)
    if blocks < wanted:
        messages = _first_blocks(messages, blocks)
    return Schedule(
        algorithm=name,
        workers=workers,
        ranks=workers + algorithm.helpers,
        blocks=blocks,
        messages=tuple(sorted(messages, key=_order)),
        sending=algorithm.sending,
    )


def _check_at_least(lowest: int, **values: int) -> None:
    for name, value in values.items():
        if value < lowest:
            raise ConfigurationError(f"{name} must be at least {lowest}, not {value}")


def _first_blocks(messages: Iterable[Message], blocks: int) -> Iterator[Message]:
    """Yield the messages cut to the first `blocks` blocks: the others have no elements."""
    for message in messages:
        count = min(message.count, blocks - message.first)
        if count > 0:
            yield message if count == message.count else replace(message, count=count)


def _order(message: Message) -> tuple[int, int, int, int]:
    return message.step, message.source, message.target, message.first
