"""A point-to-point collective as a schedule: who sends which blocks to whom, in which step.

A schedule knows nothing of time, bytes or links. The vector is cut into `blocks` blocks of
consecutive elements (`block_bounds`). A message moves `count` blocks from block `first` on.

Order. At every rank, the messages that touch one block are taken in order of step; within a
step its sends come before its receipts, and receipts in order of source rank. So a send in
step t carries what its source holds after all receipts of steps before t, and the sums do not
depend on timing. A message may leave as soon as the earlier receipts of its own blocks are
complete: it does not wait for other blocks, which is how trees pipeline by chunks.
"""

from dataclasses import dataclass
from typing import Literal

# How a rank's messages leave. together: those to different ranks share its link, as with NCCL's
# channels. in_turn: one is begun when the one before has been sent, as with a buffered send.
# rendezvous: in turn, and only once the target has applied all that it receives in earlier
# steps, as with MPI's blocking calls; that the target is ready is known at once.
Sending = Literal["together", "in_turn", "rendezvous"]


@dataclass(frozen=True, slots=True)
class Message:
    """Blocks `first` .. `first + count - 1` go from `source` to `target` in `step`.

    The target adds them to its own when `reduce`, else replaces its own by them.
    """

    step: int
    source: int
    target: int
    first: int
    count: int
    reduce: bool


@dataclass(frozen=True, slots=True)
class Schedule:
    """An algorithm for `workers` workers that hold a vector, plus ranks that only help.

    Ranks 0 .. workers-1 contribute; ranks workers .. ranks-1 (a dedicated parameter server)
    start with nothing. `messages` is sorted by (step, source, target, first).
    """

    algorithm: str
    workers: int
    ranks: int
    blocks: int
    messages: tuple[Message, ...]
    sending: Sending = "in_turn"

    @property
    def in_turn(self) -> bool:
        """Whether a rank sends one message at a time."""
        return self.sending != "together"


def block_bounds(elements: int, blocks: int) -> tuple[int, ...]:
    """The `blocks + 1` element offsets that cut a vector; the first blocks are longer by one.

    This is Open MPI's split, so that sums can be compared bit for bit. A vector without
    elements may have no blocks.
    """
    if elements == blocks == 0:
        return (0,)
    share, longer = divmod(elements, blocks)
    return tuple(block * share + min(block, longer) for block in range(blocks + 1))
