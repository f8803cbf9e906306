"""A symbolic check that a schedule is the collective it should be, without values and time.

Every block at every rank is the set of the workers whose parts it holds. The check runs the
steps in order on these sets: an all-reduce is right when all workers end with all blocks summed
from every worker exactly once. A set is the bits of an int, so that a step costs little.

What each kind begins and ends with is in operations.py; a block without meaning is an empty set,
which can neither be sent nor be added to.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from innet.collectives.schedule import Message, Schedule
from innet.errors import InnetError


class ScheduleError(InnetError):
    """A schedule that is not well-formed or does not reduce; the message says where."""


def check_schedule(schedule: Schedule, kind: str = "all_reduce", root: int = 0) -> None:
    """Raise ScheduleError unless every worker gets what the kind gives it, each part exactly once.

    A sum that counts a worker twice is refused at the message that makes it, even if it were
    replaced later; so is a message of blocks for which its source holds nothing, and one that adds
    to blocks for which its target holds nothing. `root` is as in operations.py.
    """
    check_form(schedule)
    held = [
        [_parts_at_first(kind, schedule, rank, block, root) for block in range(schedule.blocks)]
        for rank in range(schedule.ranks)
    ]
    for _, group in groupby(schedule.messages, key=lambda message: message.step):
        _run_step(tuple(group), held)
    for rank in range(schedule.workers):
        for block, parts in enumerate(held[rank]):
            wanted = _parts_wanted(kind, schedule, rank, block, root)
            if wanted and parts != wanted:
                raise ScheduleError(
                    f"{schedule.algorithm}: rank {rank} ends with block {block} "
                    f"{_difference(parts, wanted)}"
                )


def _difference(parts: int, wanted: int) -> str:
    missing, strange = _ranks(wanted & ~parts), _ranks(parts & ~wanted)
    if missing:
        return f"without the part of worker {missing[0]} (missing in all: {len(missing)})"
    return f"with the part of worker {strange[0]} (more than wanted in all: {len(strange)})"


def _parts_at_first(kind: str, schedule: Schedule, rank: int, block: int, root: int) -> int:
    """Return whose part of a block a rank holds at first: its own, or nobody's."""
    holds = rank < schedule.workers
    if kind in ("all_gather", "gather"):
        holds = rank == block
    elif kind == "all_to_all":
        holds = rank == block // schedule.workers
    elif kind == "broadcast":
        holds = rank == root
    elif kind == "send":
        holds = rank == 0
    return 1 << rank if holds else 0


def _parts_wanted(kind: str, schedule: Schedule, rank: int, block: int, root: int) -> int:
    """Return whose parts of a block a rank must have in the end, nobody's if it does not matter."""
    workers = schedule.workers
    everyone = (1 << workers) - 1
    match kind:
        case "all_reduce":
            return everyone
        case "reduce_scatter":
            return everyone if rank == block else 0
        case "reduce":
            return everyone if rank == root else 0
        case "all_gather":
            return 1 << block
        case "gather":
            return 1 << block if rank == root else 0
        case "all_to_all":
            return 1 << block // workers if rank == block % workers else 0
        case "broadcast":
            return 1 << root
        case "send":
            return 1 if rank == 1 else 0
    raise ValueError(f"{kind} is not a kind of collective")


def check_form(schedule: Schedule) -> None:
    """Raise ScheduleError unless indices are in range and messages sorted and not in conflict.

    Two messages are in conflict when both replace a block at a rank in one step, or when a
    message replaces a block after another has been added to it in the same step.
    """
    if schedule.workers < 1 or schedule.ranks < schedule.workers or schedule.blocks < 0:
        raise ScheduleError(
            f"{schedule.algorithm}: {schedule.workers} workers of {schedule.ranks} ranks with "
            f"{schedule.blocks} blocks; there must be a worker, no fewer ranks than workers and "
            f"no negative number of blocks"
        )
    for message in schedule.messages:
        problem = _problem(message, schedule)
        if problem:
            raise ScheduleError(f"{_described(message)} {problem}")
    for earlier, later in pairwise(schedule.messages):
        if _order(earlier) >= _order(later):
            raise ScheduleError(
                f"{_described(later)} comes after {_described(earlier)}; messages must be sorted "
                f"by step, source, target and first block"
            )
    for _, group in groupby(schedule.messages, key=lambda message: message.step):
        _check_conflicts(tuple(group))


def _problem(message: Message, schedule: Schedule) -> str:
    if message.step < 0:
        return "has a negative step"
    if not (0 <= message.source < schedule.ranks and 0 <= message.target < schedule.ranks):
        return f"leaves ranks 0 to {schedule.ranks - 1}"
    if message.source == message.target:
        return "goes to its own source"
    if message.count < 1 or message.first < 0 or message.first + message.count > schedule.blocks:
        return f"leaves blocks 0 to {schedule.blocks - 1}"
    return ""


def _check_conflicts(step: Sequence[Message]) -> None:
    if all(message.reduce for message in step):
        return
    touched: dict[tuple[int, int], Message] = {}
    for message in step:
        for block in range(message.first, message.first + message.count):
            earlier = touched.setdefault((message.target, block), message)
            if earlier is not message and not message.reduce:
                raise ScheduleError(
                    f"{_described(message)} replaces what {_described(earlier)} has brought to "
                    f"block {block} in the same step"
                )


def _run_step(step: Sequence[Message], held: list[list[int]]) -> None:
    # Sends come before receipts, so all payloads are taken before any is applied.
    payloads = [held[m.source][m.first : m.first + m.count] for m in step]
    for message, payload in zip(step, payloads, strict=True):
        own = held[message.target]
        for block, parts in enumerate(payload, message.first):
            if not parts:
                raise ScheduleError(f"{_described(message)} has nothing in block {block} to send")
            own[block] = _applied(message, block, own[block], parts)


def _applied(message: Message, block: int, own: int, parts: int) -> int:
    if not message.reduce:
        return parts
    if not own:
        raise ScheduleError(
            f"{_described(message)} adds to block {block}, of which rank {message.target} has "
            f"nothing"
        )
    doubled = own & parts
    if doubled:
        raise ScheduleError(
            f"{_described(message)} adds the part of worker {_ranks(doubled)[0]} a second time to "
            f"block {block} of rank {message.target}"
        )
    return own | parts


def _described(message: Message) -> str:
    last = message.first + message.count - 1
    return (
        f"step {message.step}: the message from rank {message.source} to rank {message.target} "
        f"of blocks {message.first} to {last}"
    )


def _order(message: Message) -> tuple[int, int, int, int]:
    return message.step, message.source, message.target, message.first


def _ranks(parts: int) -> list[int]:
    return list(_bits(parts))


def _bits(parts: int) -> Iterator[int]:
    while parts:
        lowest = parts & -parts
        yield lowest.bit_length() - 1
        parts ^= lowest
