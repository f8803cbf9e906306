"""All that can happen to one slot of a small job in a tree of switches, explored breadth first.

Like explore.py, with links between switches and a switch's loss of state at any level, once. A
tree is written as its root's children: 0 is a worker, a tuple a lower switch with children of its
own, so (0, (0, 0)) is a root with one worker and one leaf switch with two.

Every record below belongs to one child of a switch and holds what lies below it, and children of
a switch are sorted, so states that differ only in names are one.

By hand (tree, protocol, rounds, packets on a link up and down):

    python tests/protocol/model/explore_tree.py "(0,),(0,)" guarded 2 1 1 reorder wipes
"""

import ast
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

from explore import (
    HELP,
    RESULT,
    Found,
    asks_that_matter,
    choices,
    explore_from,
    put,
    tell,
    without,
    worker_takes,
)

from innet.protocol.level_transitions import (
    ANSWERED,
    SEND_UP_AGAIN,
    lower_help,
    lower_receive,
    lower_result,
)
from innet.protocol.transitions import (
    ADD,
    CALL_HELP,
    COMPLETE,
    IDLE,
    STORE,
    UNICAST,
    switch_receive,
)

WORKER, LOWER, ROOT = 0, 1, 2  # the first field of a record, so that they can be sorted

Tree: TypeAlias = tuple[Any, ...]
Update: TypeAlias = tuple[int, bool, bool]  # its number, is its sum right, does it ask for help
Added: TypeAlias = tuple[tuple[int, bool], ...]  # the number of each, was its sum right
Answer: TypeAlias = tuple[str, int, bool]  # its kind, its number, is the sum right


class Worker(NamedTuple):
    """`chunk` is what it waits for, IDLE at its end; `kept` what it can be asked for."""

    level: int
    chunk: int
    kept: int


class Child(NamedTuple):
    """A worker or lower switch with its two links and its part of the switch above.

    `marks` are its bits in either set of that switch, `asks` whether it has asked for help with
    the set since the last call, `added` its contributions to what the set holds.
    """

    up: tuple[Update, ...]
    down: tuple[Answer, ...]
    marks: tuple[bool, bool]
    asks: tuple[bool, bool]
    added: tuple[Added, Added]
    below: Any  # Worker | Switch


class Switch(NamedTuple):
    """`count`, `numbers` and, where a lower switch holds a result, whether it is `right`."""

    level: int
    count: tuple[int, int]
    numbers: tuple[int, int]
    right: tuple[bool, bool]
    children: tuple[Child, ...]


class State(NamedTuple):
    """Whether a switch was wiped, and the root."""

    wiped: bool
    root: Switch


class TreeSetting(NamedTuple):
    """What is explored: see Setting in explore.py."""

    tree: Tree
    rounds: int
    guard: bool
    up: int = 1
    down: int = 1
    reorder: bool = True
    wipes: bool = False
    helps: bool = True


class WrongSum(Exception):  # noqa: N818
    """A worker takes a wrong sum."""


# What may happen below a link: the record after it, what goes up the link, was a switch wiped.
Step: TypeAlias = tuple[Any, tuple[Update, ...], bool]

NEITHER = (False, False)
NOTHING_ADDED: tuple[Added, Added] = ((), ())


def first_state(setting: TreeSetting) -> State:
    """Every worker has just sent its first chunk."""
    return State(False, _first(setting.tree, ROOT))


def _first(tree: Tree, level: int) -> Switch:
    children = []
    up: tuple[Update, ...]
    record: Any
    for below in tree:
        if below == 0:
            up, record = (_from_worker(0),), Worker(WORKER, 0, IDLE)
        else:
            up, record = (), _first(below, LOWER)
        children.append(Child(up, (), NEITHER, NEITHER, NOTHING_ADDED, record))
    return Switch(level, (0, 0), (0, 0), (True, True), tuple(sorted(children)))


def explore_tree(setting: TreeSetting, most_states: int = 5_000_000) -> Found:
    """Visit every state of a job in a tree, or stop at the first wrong sum."""
    return explore_from(
        first_state(setting),
        lambda state: successors(state, setting),
        lambda state: _idle(state.root),
        most_states,
    )


def _idle(below: Any) -> bool:
    if below.level == WORKER:
        return below.chunk == IDLE
    return all(_idle(child.below) for child in below.children)


def successors(state: State, setting: TreeSetting) -> Iterator[State | None]:
    """Every state that one step leads to; None where a worker takes a wrong sum."""
    try:
        for root, _, wiped in _switch_steps(state.root, setting, setting.wipes and not state.wiped):
            yield State(state.wiped or wiped, root)
    except WrongSum:
        yield None


# --- What may happen at a switch and below it ---------------------------------------------


def _steps(below: Any, setting: TreeSetting, may_wipe: bool) -> Iterator[Step]:
    if below.level != WORKER:
        yield from _switch_steps(below, setting, may_wipe)
    elif below.chunk != IDLE:  # a repeat
        yield below, (_from_worker(below.chunk),), False


def _switch_steps(switch: Switch, setting: TreeSetting, may_wipe: bool) -> Iterator[Step]:
    for place, child in enumerate(switch.children):
        for below, up, wiped in _steps(child.below, setting, may_wipe):
            if len(child.up) + len(up) <= setting.up or below.level != WORKER:
                yield _with(switch, place, _raised(child, below, up, setting)), (), wiped
        for packet in choices(child.up, setting.reorder):
            rest = child._replace(up=without(child.up, packet))
            yield _with(switch, place, rest), (), False
            after, up = _update(_put_child(switch, place, rest), place, child.up[packet], setting)
            yield after, up, False
        for packet in choices(child.down, setting.reorder):
            rest = child._replace(down=without(child.down, packet))
            yield _with(switch, place, rest), (), False
            below, up = _answer(child.below, child.down[packet], setting)
            yield _with(switch, place, _raised(rest, below, up, setting)), (), False
    if may_wipe:
        children = tuple(
            sorted(
                child._replace(marks=NEITHER, asks=NEITHER, added=NOTHING_ADDED)
                for child in switch.children
            )
        )
        yield Switch(switch.level, (0, 0), (0, 0), (True, True), children), (), True


def _raised(child: Child, below: Any, up: tuple[Update, ...], setting: TreeSetting) -> Child:
    """The child after what is below it has changed and sent `up`."""
    link = child.up
    for packet in up:
        link = put(link, packet, setting.up, setting.reorder)
    return child._replace(below=below, up=link)


def _put_child(switch: Switch, place: int, child: Child) -> Switch:
    return switch._replace(
        children=(*switch.children[:place], child, *switch.children[place + 1 :])
    )


def _with(switch: Switch, place: int, child: Child) -> Switch:
    return _sorted(_put_child(switch, place, child))


def _sorted(switch: Switch) -> Switch:
    return switch._replace(children=tuple(sorted(switch.children)))


# --- The protocol -------------------------------------------------------------------------


def _update(
    switch: Switch, place: int, packet: Update, setting: TreeSetting
) -> tuple[Switch, tuple[Update, ...]]:
    """The switch takes a contribution of the child at `place`; what it sends up."""
    number, right, asks = packet
    here = number % 2
    bitmap = _bitmap([child.marks for child in switch.children])
    asked = _bitmap([child.asks for child in switch.children])
    count, numbers = list(switch.count), list(switch.numbers)
    receive = switch_receive if switch.level == ROOT else lower_receive
    flags = receive(
        bitmap,
        count,
        numbers,
        asked,
        len(switch.children),
        1,
        here,
        1 - here,
        place,
        number,
        setting.guard,
        setting.helps and asks,
    )
    children = list(switch.children)
    if flags & STORE:
        children = [_added(child, here, ()) for child in children]
    if flags & (STORE | ADD):
        mine = children[place].added[here]
        children[place] = _added(children[place], here, (*mine, (number, right)))
    after = _after(switch, bitmap, asked, count, numbers, children, setting)
    if flags & SEND_UP_AGAIN:
        return _sorted(after), ((*_sum(after, number), flags & CALL_HELP != 0),)
    if flags & COMPLETE and switch.level == LOWER:
        return _sorted(after), ((*_sum(after, number), asks),)
    if flags & UNICAST:
        return _sorted(_sent_down(after, _result(after, number), setting, place)), ()
    if flags & COMPLETE:
        return _sorted(_sent_down(after, _result(after, number), setting)), ()
    if flags & CALL_HELP:
        return _sorted(_sent_down(after, (HELP, number, True), setting)), ()
    return _sorted(after), ()


def _answer(below: Any, packet: Answer, setting: TreeSetting) -> tuple[Any, tuple[Update, ...]]:
    """A worker or lower switch takes a packet from above; its record then, what it sends up."""
    kind, number, right = packet
    if below.level == WORKER:
        return _at_worker(below, packet, setting)
    here = number % 2
    bitmap = _bitmap([child.marks for child in below.children])
    asked = _bitmap([child.asks for child in below.children])
    count, numbers = list(below.count), list(below.numbers)
    children = list(below.children)
    if kind == RESULT:
        taken = lower_result(count, numbers, len(children), here, number, setting.guard)
        if not taken:
            return below, ()
        rights = (right, below.right[1]) if here == 0 else (below.right[0], right)
        children = [_added(child, here, ()) for child in children]
        after = _after(below, bitmap, asked, count, numbers, children, setting)
        return _sorted(_sent_down(after._replace(right=rights), packet, setting)), ()
    flags = lower_help(bitmap, count, numbers, len(children), 1, here, number)
    if count[here] == 0:
        children = [_added(child, here, ()) for child in children]
    after = _after(below, bitmap, asked, count, numbers, children, setting)
    if flags & SEND_UP_AGAIN:
        return _sorted(after), ((*_sum(after, number), False),)
    if flags & CALL_HELP:
        return _sorted(_sent_down(after, packet, setting)), ()
    return _sorted(after), ()


def _at_worker(
    worker: Worker, packet: Answer, setting: TreeSetting
) -> tuple[Worker, tuple[Update, ...]]:
    taken = worker_takes(worker.chunk, worker.kept, packet, setting.rounds)
    if taken is None:
        raise WrongSum
    chunk, kept, sent = taken
    return worker._replace(chunk=chunk, kept=kept), () if sent == IDLE else (_from_worker(sent),)


def _from_worker(number: int) -> Update:
    """A worker's contribution. Any may be a repeat that asks for help."""
    return number, True, True


def _bitmap(bits: list[tuple[bool, bool]]) -> list[int]:
    """A register's words of either set, from the bits of the children."""
    return [sum(pair[in_set] << bit for bit, pair in enumerate(bits)) for in_set in (0, 1)]


def _after(
    switch: Switch,
    bitmap: list[int],
    asked: list[int],
    count: list[int],
    numbers: list[int],
    children: list[Child],
    setting: TreeSetting,
) -> Switch:
    """The switch with what a transition has left in its registers."""
    most = len(children) - 1 if switch.level == ROOT else len(children)
    asked = asks_that_matter(asked, count, most)
    marked = tuple(
        child._replace(
            marks=(bool(bitmap[0] >> bit & 1), bool(bitmap[1] >> bit & 1)),
            asks=(bool(asked[0] >> bit & 1), bool(asked[1] >> bit & 1)),
        )
        for bit, child in enumerate(children)
    )
    held = (numbers[0], numbers[1]) if setting.guard else (0, 0)  # the published one has none
    right = tuple(
        switch.right[in_set] or count[in_set] != len(children) + ANSWERED for in_set in (0, 1)
    )
    return Switch(switch.level, (count[0], count[1]), held, (right[0], right[1]), marked)


def _sum(switch: Switch, number: int) -> tuple[int, bool]:
    """The sum of what the children contributed to the set of `number`, and whether it is right."""
    here = number % 2
    return number, all(child.added[here] == ((number, True),) for child in switch.children)


def _result(switch: Switch, number: int) -> Answer:
    """The result that the set of `number` holds: at a lower switch, what came from above."""
    if switch.level == LOWER:
        return RESULT, number, switch.right[number % 2]
    return RESULT, *_sum(switch, number)


def _sent_down(
    switch: Switch, packet: Answer, setting: TreeSetting, only: int | None = None
) -> Switch:
    children = tuple(
        child._replace(down=put(child.down, packet, setting.down, setting.reorder))
        if only in (None, place)
        else child
        for place, child in enumerate(switch.children)
    )
    return switch._replace(children=children)


def _added(child: Child, here: int, updates: tuple[Update, ...]) -> Child:
    added = (updates, child.added[1]) if here == 0 else (child.added[0], updates)
    return child._replace(added=added)


# --- By hand ------------------------------------------------------------------------------


def main(words: list[str]) -> None:
    """Explore what the words on the command line say and print what was found."""
    tree, protocol, rounds, up, down, links, registers = words
    setting = TreeSetting(
        ast.literal_eval(tree),
        int(rounds),
        {"published": False, "guarded": True}[protocol],
        int(up),
        int(down),
        {"fifo": False, "reorder": True}[links],
        {"keeps": False, "wipes": True}[registers],
    )
    print(setting)
    tell(explore_tree(setting, most_states=20_000_000))


if __name__ == "__main__":
    main(sys.argv[1:])
