"""Which calls of different ranks are one operation.

The k-th collective that a rank calls on a group, in one lane, is the k-th of every other rank of
the group, and the k-th message that a rank sends to another is the k-th that this one receives
from it. Calls that meet must agree; an error names both ranks with the lines of their calls.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import simpy

from innet.errors import ConfigurationError
from innet.workload.actions import Asked, Call


class Lane(NamedTuple):
    """What runs one after another: the collectives of a group and lane, or a pair's messages."""

    kind: str
    group: tuple[int, ...]
    name: str | None


def lane_of(asked: Asked) -> Lane:
    """Return the lane of an operation."""
    if isinstance(asked, Call):
        return Lane("collective", asked.group, asked.lane)
    return Lane("message", (asked.source, asked.target), None)


@dataclass(slots=True)
class Meeting:
    """One operation with the ranks that have called it.

    `number` is the network's, if it runs there, and `decision` the place of what was decided
    about it. For every rank that takes part `ends` holds the event of its end, and `began` when
    the network let it begin.
    """

    group: tuple[int, ...]
    first: Asked
    first_rank: int
    number: int | None = None
    decision: int = -1
    entered: set[int] = field(default_factory=set)
    ends: dict[int, simpy.Event] = field(default_factory=dict)
    began: dict[int, int] = field(default_factory=dict)

    @property
    def missing(self) -> tuple[int, ...]:
        """The ranks that have not entered it, in order."""
        return tuple(rank for rank in self.group if rank not in self.entered)

    @property
    def has_quorum(self) -> bool:
        """Whether as many have begun as complete it, and no more."""
        quorum = self.first.quorum if isinstance(self.first, Call) else None
        return len(self.began) == quorum


class Matching:
    """All operations of a step, by group or by pair of ranks, in order."""

    def __init__(self) -> None:
        self._meetings: dict[Lane, list[Meeting]] = {}
        self._calls: dict[tuple[Lane, int], int] = {}

    def enter(self, rank: int, asked: Asked) -> Meeting:
        """Return the meeting of a rank's call, a new one for the first rank that comes."""
        lane = lane_of(asked)
        meetings = self._meetings.setdefault(lane, [])
        turn = self._calls.get((lane, rank), 0)
        self._calls[lane, rank] = turn + 1
        if turn == len(meetings):
            meetings.append(Meeting(lane.group, asked, rank))
        meeting = meetings[turn]
        if (asked.size, _terms(asked)) != (meeting.first.size, _terms(meeting.first)):
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
        return f"{asked.kind}{_options(asked)} of {asked.size} B over {axes} ({asked.place})"
    verb, peer = ("send", asked.target) if asked.sends else ("recv", asked.source)
    way = "to" if asked.sends else "from"
    return f"{verb} of {asked.size} B {way} rank {peer} ({asked.place})"


def _options(call: Call) -> str:
    """Write what a call says beyond size and axes, nothing for what it leaves as it is."""
    root = f"root {call.root}" if call.root else None
    density = None if call.density is None else f"density {float(call.density):g}"
    quorum = None if call.quorum is None else f"quorum {call.quorum}"
    op = None if call.op == "sum" else call.op
    lane = None if call.lane is None else f"lane {call.lane}"
    options = (op, call.dtype, root, density, quorum, lane)
    given = [option for option in options if option is not None]
    return f" ({', '.join(given)})" if given else ""


def _terms(asked: Asked) -> tuple[object, ...]:
    return asked.terms if isinstance(asked, Call) else ()


def _disagreement(rank: int, asked: Asked, meeting: Meeting, turn: int) -> ConfigurationError:
    where = "collective of the group" if isinstance(asked, Call) else "message of the pair"
    return ConfigurationError(
        f"rank {rank} calls {told(asked)} as {where} number {turn + 1}, but rank "
        f"{meeting.first_rank} calls {told(meeting.first)}; they must be the same, in the same "
        "order",
        file=asked.place.file,
        line=asked.place.line,
    )
