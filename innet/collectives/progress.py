"""How far schedules have come: which messages may be sent, and which that came may be applied.

It knows nothing of time, packets or values. Its owner says when a member wakes up and when a
message has come in whole, and is told which message to begin to send (whose blocks are
complete) and which to apply, in an order that depends on nothing else.

What decides is plain functions over flat sequences of integers, as in protocol/transitions.py,
so that they run on lists and, compiled by Numba, on arrays. The messages of several schedules
may share the sequences; a *member* is a rank of one of them.
"""

from collections.abc import Callable, Iterable, MutableSequence, Sequence
from typing import NamedTuple

from innet.collectives.dependencies import dependencies
from innet.collectives.schedule import Schedule

_NO_STEP = 1 << 62

# What next_action returns: a message to send or to apply, or that there is nothing to do.
NOTHING = -1
SEND, APPLY = 0, 1

# What waits on the agenda to be looked at: a message to send, one to apply, a member's step.
_TRY_SEND, _TRY_APPLY, _BECOME_READY, _KINDS = 0, 1, 2, 4


class StepMessages(NamedTuple):
    """Of every message its ends, which are members, and how far it has come.

    `send_waits` and `apply_waits` count what it still waits for, before it is sent and before it
    is applied; its own arrival is one of the latter.
    """

    source: Sequence[int]
    target: Sequence[int]
    step: Sequence[int]
    send_waits: MutableSequence[int]
    apply_waits: MutableSequence[int]
    sent: MutableSequence[int]
    applied: MutableSequence[int]


class StepMembers(NamedTuple):
    """Of every member whether it is awake and how far it has come.

    `left` counts what it has yet to send and to apply. `reached` is the step of the first message
    that it has not applied, which is in place `first_receipt` of Steps.own; that matters if it is
    `strict` (rendezvous).
    """

    strict: Sequence[int]
    awake: MutableSequence[int]
    left: MutableSequence[int]
    reached: MutableSequence[int]
    first_receipt: MutableSequence[int]


class Steps(NamedTuple):
    """The messages and the members of schedules.

    `users[user_first[3 * m] : user_first[3 * m + 1]]` are the messages whose sending waits for
    m's application; those of 3 * m + 1 wait with their application for it, and those of
    3 * m + 2 wait with theirs for m's sending. `own[own_first[2 * r] : own_first[2 * r + 1]]` are
    the messages that member r sends, those of 2 * r + 1 what it receives, ascending. `top[0]` is
    the height of the agenda, a stack, and `top[1]` the number of messages applied.
    """

    messages: StepMessages
    members: StepMembers
    user_first: Sequence[int]
    users: Sequence[int]
    own_first: Sequence[int]
    own: Sequence[int]
    agenda: MutableSequence[int]
    top: MutableSequence[int]


def member_wakes(steps: Steps, member: int) -> None:
    """A member begins: it sends what needs nothing, and applies what has come before."""
    steps.members.awake[member] = 1
    # The agenda is a stack, so what is to be done first is put on it last.
    push_own(steps, 2 * member + 1, _TRY_APPLY)
    push_own(steps, 2 * member, _TRY_SEND)


def message_arrives(steps: Steps, message: int) -> None:
    """A message is whole at its target, for the first time."""
    steps.messages.apply_waits[message] -= 1
    push(steps, message, _TRY_APPLY)


def next_action(steps: Steps) -> int:
    """Return 2 * message + SEND or APPLY for what is to be done now, or NOTHING."""
    while steps.top[0] > 0:
        steps.top[0] -= 1
        entry = steps.agenda[steps.top[0]]
        item, kind = entry // _KINDS, entry % _KINDS
        if kind == _TRY_SEND:
            if may_send(steps, item):
                note_sent(steps, item)
                return 2 * item + SEND
        elif kind == _TRY_APPLY:
            if may_apply(steps, item):
                note_applied(steps, item)
                return 2 * item + APPLY
        else:
            become_ready(steps, item)
    return NOTHING


def may_send(steps: Steps, message: int) -> bool:
    """Whether a message is to be sent and nothing is in its way."""
    if (
        steps.messages.sent[message]
        or steps.messages.send_waits[message]
        or not steps.members.awake[steps.messages.source[message]]
    ):
        return False
    target = steps.messages.target[message]
    return not (
        steps.members.strict[target]
        and steps.messages.step[message] > steps.members.reached[target]
    )


def may_apply(steps: Steps, message: int) -> bool:
    """Whether a message has come, is to be applied and nothing is in its way."""
    if steps.messages.applied[message] or steps.messages.apply_waits[message]:
        return False
    return bool(steps.members.awake[steps.messages.target[message]])


def note_sent(steps: Steps, message: int) -> None:
    """Note that a message is sent, and look at what has waited for that."""
    steps.messages.sent[message] = 1
    steps.members.left[steps.messages.source[message]] -= 1
    release(steps, steps.messages.apply_waits, 3 * message + 2)
    push_users(steps, 3 * message + 2, _TRY_APPLY)


def note_applied(steps: Steps, message: int) -> None:
    """Note that a message is applied, and look at what has waited for that."""
    target = steps.messages.target[message]
    steps.messages.applied[message] = 1
    steps.top[1] += 1
    steps.members.left[target] -= 1
    release(steps, steps.messages.send_waits, 3 * message)
    release(steps, steps.messages.apply_waits, 3 * message + 1)
    if steps.members.strict[target]:
        push(steps, target, _BECOME_READY)
    push_users(steps, 3 * message + 1, _TRY_APPLY)
    push_users(steps, 3 * message, _TRY_SEND)


def release(steps: Steps, waits: MutableSequence[int], group: int) -> None:
    """Let every message of a group of users wait for one thing less."""
    for place in range(steps.user_first[group], steps.user_first[group + 1]):
        waits[steps.users[place]] -= 1


def push_users(steps: Steps, group: int, kind: int) -> None:
    """Put a group of users on the agenda, the first on top."""
    for place in range(steps.user_first[group + 1] - 1, steps.user_first[group] - 1, -1):
        push(steps, steps.users[place], kind)


def push_own(steps: Steps, group: int, kind: int) -> None:
    """Put a member's messages on the agenda, the first on top."""
    for place in range(steps.own_first[group + 1] - 1, steps.own_first[group] - 1, -1):
        push(steps, steps.own[place], kind)


def push(steps: Steps, item: int, kind: int) -> None:
    """Put an entry on top of the agenda."""
    steps.agenda[steps.top[0]] = item * _KINDS + kind
    steps.top[0] += 1


def become_ready(steps: Steps, member: int) -> None:
    """Let those messages be sent to a member whose step it has reached."""
    place, end = steps.members.first_receipt[member], steps.own_first[2 * member + 2]
    while place < end and steps.messages.applied[steps.own[place]]:
        place += 1
    steps.members.first_receipt[member] = place
    reached = steps.messages.step[steps.own[place]] if place < end else _NO_STEP
    if reached == steps.members.reached[member]:
        return
    steps.members.reached[member] = reached
    last = place
    while last < end and steps.messages.step[steps.own[last]] <= reached:
        last += 1
    for later in range(last - 1, place - 1, -1):
        push(steps, steps.own[later], _TRY_SEND)


def steps_of(schedule: Schedule) -> Steps:
    """Return a schedule's steps at their beginning, as lists."""
    waits = dependencies(schedule)
    messages, ranks = schedule.messages, schedule.ranks
    user_first, users = _users(waits.send_waits, waits.apply_waits, waits.apply_after_sends)
    groups = [group for pair in zip(waits.sends, waits.receipts, strict=True) for group in pair]
    own_first, own = _concatenated(groups)
    rows = zip(waits.apply_waits, waits.apply_after_sends, strict=True)
    return Steps(
        StepMessages(
            source=[message.source for message in messages],
            target=[message.target for message in messages],
            step=[message.step for message in messages],
            send_waits=[len(earlier) for earlier in waits.send_waits],
            apply_waits=[1 + len(applied) + len(sent) for applied, sent in rows],
            sent=[0] * len(messages),
            applied=[0] * len(messages),
        ),
        StepMembers(
            strict=[int(schedule.sending == "rendezvous")] * ranks,
            awake=[0] * ranks,
            left=[own_first[2 * rank + 2] - own_first[2 * rank] for rank in range(ranks)],
            reached=[messages[first[0]].step if first else _NO_STEP for first in waits.receipts],
            first_receipt=own_first[1::2],
        ),
        user_first,
        users,
        own_first,
        own,
        # A message is put on it once for all that it waits for, and when its source or its
        # target wakes up, when it arrives, and when its target is ready, for which that is put.
        agenda=[0] * (len(users) + 5 * len(messages)),
        top=[0, 0],
    )


def _users(*waits: Sequence[Sequence[int]]) -> tuple[list[int], list[int]]:
    """Turn round what each message waits for, in several ways: the offsets and who waits."""
    groups: list[list[int]] = [[] for _ in range(len(waits) * len(waits[0]))]
    for way, earlier_of in enumerate(waits):
        for message, earlier in enumerate(earlier_of):
            for other in earlier:
                groups[len(waits) * other + way].append(message)
    return _concatenated(groups)


def _concatenated(groups: Iterable[Sequence[int]]) -> tuple[list[int], list[int]]:
    """Return where each group begins, and the last ends, and all groups in one list."""
    first: list[int] = [0]
    whole: list[int] = []
    for group in groups:
        whole.extend(group)
        first.append(len(whole))
    return first, whole


class Progress:
    """How far one schedule has come; its members are its ranks.

    `send(message)` and `apply(message)` are called with indices into schedule.messages.
    """

    def __init__(
        self, schedule: Schedule, send: Callable[[int], None], apply: Callable[[int], None]
    ) -> None:
        self._steps = steps_of(schedule)
        self._do = (send, apply)

    def wake(self, rank: int) -> None:
        """A rank begins: it sends what needs nothing, and applies what has come before."""
        member_wakes(self._steps, rank)
        self._act()

    def sleep(self, rank: int) -> None:
        """A rank does nothing from now on until it is woken again."""
        self._steps.members.awake[rank] = 0

    def arrive(self, message: int) -> None:
        """A message is whole at its target."""
        message_arrives(self._steps, message)
        self._act()

    def _act(self) -> None:
        while (action := next_action(self._steps)) != NOTHING:
            self._do[action % 2](action // 2)

    def done(self, rank: int) -> bool:
        """Whether the rank is awake and has nothing more to send or to apply."""
        return bool(self._steps.members.awake[rank]) and self._steps.members.left[rank] == 0

    def next_receipt(self, rank: int) -> int | None:
        """The first message that the rank has not applied, None if it has all."""
        return next_receipt(self._steps, rank)

    @property
    def applied(self) -> int:
        """How many messages have been applied."""
        return self._steps.top[1]


def next_receipt(steps: Steps, member: int) -> int | None:
    """The first message that a member has not applied, None if it has all."""
    first, end = steps.own_first[2 * member + 1], steps.own_first[2 * member + 2]
    receipts = (int(steps.own[place]) for place in range(first, end))
    return next((message for message in receipts if not steps.messages.applied[message]), None)
