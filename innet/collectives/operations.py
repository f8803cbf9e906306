"""Every kind of collective by name: its point-to-point forms and the schedules they give.

The members of a group are places 0 .. n - 1. `elements` is the length of the whole vector, which
every member holds in full length; a member's share is its block of `block_bounds(elements, n)`.

| kind | a member has at first | a member has in the end |
|---|---|---|
| all_reduce | its vector | the sum |
| reduce_scatter | its vector | its share of the sum |
| all_gather | its share | the whole vector |
| all_to_all | blocks p n to p n + n - 1 of n n | blocks p, p + n, .. of n n; see exchange.py |
| broadcast | at the root, the vector | the vector |
| reduce | its vector | at the root, the sum |
| gather | its share | at the root, the whole vector |
| send | at place 0, the vector | at place 1, the vector |

What a member does not have in the end has no meaning: forms use it for parts of sums. Operations
of fewer elements than blocks leave the last blocks empty.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from innet.collectives import exchange, rooted, shares
from innet.collectives.algorithms import ALGORITHMS, Algorithm, schedule_of
from innet.collectives.schedule import Message, Schedule, Sending
from innet.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class Form:
    """How a kind of collective runs point to point, and where that was published.

    `blocks(places, size_bytes)` and `messages(places, blocks, root)` are as for an Algorithm.
    """

    description: str
    source: str
    blocks: Callable[[int, int], int]
    messages: Callable[[int, int, int], Iterable[Message]]
    sending: Sending = "in_turn"


def _without_root(
    messages: Callable[[int, int], Iterable[Message]],
) -> Callable[[int, int, int], Iterable[Message]]:
    return lambda places, blocks, root: messages(places, blocks)


_PATARASUK = "Patarasuk and Yuan, JPDC 2009"
_THAKUR = "Thakur, Rabenseifner and Gropp, IJHPCA 2005"
_PJESIVAC = "Pjesivac-Grbovic et al., Cluster Computing 2007"
_LI = "Li et al., OSDI 2014"

# A kind's first form is its default.
FORMS: Mapping[str, Mapping[str, Form]] = {
    "reduce_scatter": {
        "ring": Form(
            "blocks are summed on their way round a ring",
            _PATARASUK,
            shares.a_block_each,
            _without_root(shares.ring_reduce_scatter_messages),
        ),
        "recursive_halving": Form(
            "pairs swap and add halves of what is left, at halving distances",
            _THAKUR,
            shares.a_block_each,
            _without_root(shares.recursive_halving_messages),
            "rendezvous",
        ),
        "pairwise": Form(
            "everyone sends every block straight to its owner",
            _THAKUR,
            shares.a_block_each,
            _without_root(shares.pairwise_reduce_scatter_messages),
        ),
    },
    "all_gather": {
        "ring": Form(
            "blocks go round a ring",
            _PATARASUK,
            shares.a_block_each,
            _without_root(shares.ring_all_gather_messages),
        ),
        "recursive_doubling": Form(
            "pairs swap all they have, at doubling distances; Bruck's if not a power of two",
            _THAKUR,
            shares.a_block_each,
            _without_root(shares.recursive_doubling_all_gather_messages),
            "rendezvous",
        ),
        "bruck": Form(
            "everyone sends all it has to the one below, at doubling distances",
            "Bruck et al., IEEE TPDS 1997",
            shares.a_block_each,
            _without_root(shares.bruck_all_gather_messages),
            "rendezvous",
        ),
        "pairwise": Form(
            "everyone sends its block to all others",
            _THAKUR,
            shares.a_block_each,
            _without_root(shares.pairwise_all_gather_messages),
        ),
    },
    "all_to_all": {
        "pairwise": Form(
            "in each step everyone sends to one and receives from one",
            _THAKUR,
            exchange.a_block_each_pair,
            _without_root(exchange.pairwise_messages),
            "rendezvous",
        ),
        "linear": Form(
            "everyone sends to all others at once, to the next first",
            _PJESIVAC,
            exchange.a_block_each_pair,
            _without_root(exchange.pairwise_messages),
            "together",
        ),
    },
    "broadcast": {
        "binomial_tree": Form(
            "everyone who has the vector sends it on, not pipelined",
            _THAKUR,
            rooted.whole_vector,
            rooted.binomial_broadcast_messages,
            "rendezvous",
        ),
        "chain": Form(
            "chunks pass from place to place",
            _PJESIVAC,
            rooted.chain_blocks,
            rooted.chain_broadcast_messages,
        ),
        "scatter_all_gather": Form(
            "blocks are scattered over a binomial tree and go round a ring (van de Geijn)",
            _THAKUR,
            shares.a_block_each,
            rooted.scatter_all_gather_messages,
            "rendezvous",
        ),
        "linear": Form(
            "the root sends the vector to everyone",
            _PJESIVAC,
            rooted.whole_vector,
            rooted.linear_broadcast_messages,
        ),
    },
    "reduce": {
        "binomial_tree": Form(
            "half of those who are left add theirs to another's, not pipelined",
            _THAKUR,
            rooted.whole_vector,
            rooted.binomial_reduce_messages,
            "rendezvous",
        ),
        "chain": Form(
            "chunks are summed on their way from place to place",
            _PJESIVAC,
            rooted.chain_blocks,
            rooted.chain_reduce_messages,
        ),
        "reduce_scatter_gather": Form(
            "recursive halving, then a gather over a binomial tree (Rabenseifner)",
            _THAKUR,
            shares.a_block_each,
            rooted.reduce_scatter_gather_messages,
            "rendezvous",
        ),
        "linear": Form(
            "everyone sends the vector to the root",
            _LI,
            rooted.whole_vector,
            rooted.linear_reduce_messages,
        ),
    },
    "gather": {
        "linear": Form(
            "everyone sends its block to the root",
            _THAKUR,
            shares.a_block_each,
            rooted.linear_gather_messages,
        ),
        "binomial_tree": Form(
            "blocks are collected on their way to the root",
            _THAKUR,
            shares.a_block_each,
            rooted.binomial_gather_messages,
            "rendezvous",
        ),
    },
    "send": {
        "send": Form(
            "one message",
            _THAKUR,
            rooted.whole_vector,
            _without_root(exchange.send_messages),
        ),
    },
}

# What else an all-reduce's algorithm stands for, beside forms of its own name: the parts that it
# consists of, and for chains, what a ring becomes when its ends do not meet.
_KIN: Mapping[str, Mapping[str, str]] = {
    "ring": {"broadcast": "chain", "reduce": "chain"},
    "halving_doubling": {
        "reduce_scatter": "recursive_halving",
        "all_gather": "recursive_doubling",
        "broadcast": "scatter_all_gather",
        "reduce": "reduce_scatter_gather",
        "gather": "binomial_tree",
    },
    "recursive_doubling": {"reduce_scatter": "recursive_halving", "gather": "binomial_tree"},
    "double_tree": {"broadcast": "chain", "reduce": "chain"},
    "parameter_server": {"broadcast": "linear", "reduce": "linear"},
    "sharded_parameter_server": {"reduce_scatter": "pairwise", "all_gather": "pairwise"},
}


def algorithm_for(kind: str, algorithm: str) -> str:
    """Return the name of the form by which a kind runs when `algorithm` is asked for.

    `algorithm` is one of the kind's own forms or of the all-reduce's; the latter's kin runs, else
    the kind's default. ConfigurationError for an unknown kind or name.
    """
    if kind != "all_reduce" and kind not in FORMS:
        known = ", ".join(("all_reduce", *FORMS))
        raise ConfigurationError(f"'{kind}' is not a collective; use {known}")
    own = ALGORITHMS if kind == "all_reduce" else FORMS[kind]
    if algorithm in own:
        return algorithm
    if algorithm not in ALGORITHMS:
        known = ", ".join(dict.fromkeys((*own, *ALGORITHMS)))
        raise ConfigurationError(f"'{algorithm}' is no algorithm for {kind}; use {known}")
    return _KIN.get(algorithm, {}).get(kind, next(iter(own)))


def build_operation_schedule(
    kind: str, algorithm: str, places: int, elements: int, itemsize: int, root: int = 0
) -> Schedule:
    """Return the schedule of a collective of `places` members; `schedule.algorithm` names the form.

    `elements` of `itemsize` bytes are the whole vector. `root` has a meaning for broadcast, reduce
    and gather alone. No block is empty and one member alone sends nothing. ConfigurationError for
    an unknown name or a number out of range.
    """
    name = algorithm_for(kind, algorithm)
    _check_places(kind, places, root)
    if kind == "all_reduce":
        return schedule_of(name, ALGORITHMS[name], places, elements, itemsize)
    form = FORMS[kind][name]
    messages = partial(_messages_of, form, root)
    bound = Algorithm(form.description, form.source, form.blocks, messages, sending=form.sending)
    return schedule_of(name, bound, places, elements, itemsize)


def _messages_of(form: Form, root: int, places: int, blocks: int) -> Iterable[Message]:
    return form.messages(places, blocks, root)


def _check_places(kind: str, places: int, root: int) -> None:
    if kind == "send" and places != 2:
        raise ConfigurationError(f"a message has 2 places, its source and its target, not {places}")
    if places >= 1 and not 0 <= root < places:
        raise ConfigurationError(f"root must be a place of 0 to {places - 1}, not {root}")
