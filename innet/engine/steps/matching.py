"""Which calls of different ranks are one operation.

The k-th collective that a rank calls on a group is the k-th of every other rank of the group, and
the k-th message that a rank sends to another is the k-th that this one receives from it. Calls
that meet must agree; an error names both ranks with the lines of their calls.
"""

from dataclasses import dataclass, field

from innet.errors import ConfigurationError
from innet.workload.program import Call, Exchange

Asked = Call | Exchange


@dataclass(slots=True)
class Meeting:
    """One operation with the ranks that have entered it; `number` is the network's, if any."""

    group: tuple[int, ...]
    first: Asked
    first_rank: int
    number: int | None = None
    entered: set[int] = field(default_factory=set)

    @property
    def missing(self) -> tuple[int, ...]:
        """The ranks that have not entered it, in order."""
        return tuple(rank for rank in self.group if rank not in self.entered)


class Matching:
    """All operations of a step, by group or by pair of ranks, in order."""

    def __init__(self) -> None:
        self._meetings: dict[tuple[str, tuple[int, ...]], list[Meeting]] = {}
        self._calls: dict[tuple[str, tuple[int, ...], int], int] = {}

    def enter(self, rank: int, asked: Asked) -> Meeting:
        """Return the meeting of a rank's call, a new one for the first rank that comes."""
        kind = "collective" if isinstance(asked, Call) else "message"
        group = asked.group if isinstance(asked, Call) else (asked.source, asked.target)
        meetings = self._meetings.setdefault((kind, group), [])
        turn = self._calls.get((kind, group, rank), 0)
        self._calls[kind, group, rank] = turn + 1
        if turn == len(meetings):
            meetings.append(Meeting(group, asked, rank))
        meeting = meetings[turn]
        if _terms(asked) != _terms(meeting.first):
            raise _disagreement(rank, asked, meeting, turn)
        meeting.entered.add(rank)
        return meeting

    def incomplete(self) -> list[Meeting]:
        """Return the operations that some rank has not entered."""
        return [each for meetings in self._meetings.values() for each in meetings if each.missing]


def told(asked: Asked) -> str:
    """Write what a rank asked for, with its line."""
    axes = ",".join(asked.axes)
    if isinstance(asked, Call):
        op = "" if asked.op == "sum" else f" ({asked.op})"
        return f"{asked.kind}{op} of {asked.size} B over {axes} ({asked.place})"
    verb, peer = ("send", asked.target) if asked.sends else ("recv", asked.source)
    way = "to" if asked.sends else "from"
    return f"{verb} of {asked.size} B {way} rank {peer} ({asked.place})"


def _terms(asked: Asked) -> tuple[object, ...]:
    """Return what the calls of one operation must have in common."""
    if isinstance(asked, Call):
        return (asked.kind, asked.size, asked.op, asked.root)
    return (asked.size,)


def _disagreement(rank: int, asked: Asked, meeting: Meeting, turn: int) -> ConfigurationError:
    where = "collective of the group" if isinstance(asked, Call) else "message of the pair"
    return ConfigurationError(
        f"rank {rank} calls {told(asked)} as {where} number {turn + 1}, but rank "
        f"{meeting.first_rank} calls {told(meeting.first)}; they must be the same, in the same "
        "order",
        file=asked.place.file,
        line=asked.place.line,
    )
