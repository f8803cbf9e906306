"""All that can happen to one slot of a small job, explored breadth first.

A state is the switch's two sets, what every worker stands at, and the packets on every link.
From each, whatever the network and the timers may do is done: deliver a packet, lose it, repeat
an update at any time, wipe the switch once. Every step of the protocol itself is a call of
innet.protocol.transitions.

Two things keep the number of states small and lose nothing. Workers are alike, so states that
differ only in their names are one (a state's records are sorted). And every repeat asks for
help where the switch is guarded: a call for help that is lost is a repeat that asked for none.

By hand, for sizes that take longer than a test may (workers, rounds, packets on a link up and
down):

    python -m tests.protocol.model.explore guarded 2 3 2 2 reorder wipes
    python -m tests.protocol.model.explore published 2 3 2 2 fifo keeps
"""

import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from innet.protocol.transitions import (
    ADD,
    CALL_HELP,
    COMPLETE,
    IDLE,
    STORE,
    UNICAST,
    switch_receive,
    worker_helps,
    worker_result,
)

RESULT, HELP = "result", "help"


class Worker(NamedTuple):
    """A worker, its two links and its part of the switch.

    `chunk` is what it waits for, IDLE at its end; `kept` what it can be asked for. `up` holds
    the numbers of its updates, `down` (kind, number, is the sum right). `marks`, `asks` and
    `added` are the switch's: its bit in either set, whether it has asked for help
    with the set since the last call, and the numbers of its contributions to the set's sum.
    """

    chunk: int
    kept: int
    up: tuple[int, ...]
    down: tuple[tuple[str, int, bool], ...]
    marks: tuple[bool, bool]
    asks: tuple[bool, bool]
    added: tuple[tuple[int, ...], tuple[int, ...]]


class State(NamedTuple):
    """The switch's `count` and `numbers` of either set, whether it was wiped, the workers."""

    count: tuple[int, int]
    numbers: tuple[int, int]
    wiped: bool
    workers: tuple[Worker, ...]


class Setting(NamedTuple):
    """What is explored: one slot, `rounds` chunks, so many packets at most on a link up or down.

    `guard` is the guarded protocol, `helps` its calls for help. Links that do not `reorder`
    are first in, first out. `wipes`: the switch may lose all its state, once.
    """

    workers: int
    rounds: int
    guard: bool
    up: int = 2
    down: int = 2
    reorder: bool = True
    wipes: bool = False
    helps: bool = True


class Found(NamedTuple):
    """What an exploration found. `wrong` is a shortest way to a worker that takes a wrong sum."""

    states: int
    finished: int
    stuck: int
    wrong: list[Any] | None


NEITHER = (False, False)
NOTHING_ADDED: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())


def first_state(setting: Setting) -> State:
    """Every worker has just sent its first chunk."""
    worker = Worker(0, IDLE, (0,), (), NEITHER, NEITHER, NOTHING_ADDED)
    return State((0, 0), (0, 0), False, (worker,) * setting.workers)


def explore(setting: Setting, most_states: int = 5_000_000) -> Found:
    """Visit every state of a job at one switch, or stop at the first wrong sum.

    MemoryError beyond `most_states`.
    """
    return explore_from(
        first_state(setting), lambda state: successors(state, setting), _finished, most_states
    )


def _finished(state: State) -> bool:
    return all(worker.chunk == IDLE for worker in state.workers)


def explore_from(
    first: Any,
    successors_of: Callable[[Any], Iterator[Any]],
    is_finished: Callable[[Any], bool],
    most_states: int,
) -> Found:
    """Visit every state that is reached from `first`, or stop at the first wrong sum.

    `successors_of(state)` gives None where a worker takes a wrong sum.
    """
    index = {first: 0}
    states = [first]
    before: list[list[int]] = [[]]
    finished = []
    for here, state in enumerate(states):  # grows on the way
        if is_finished(state):
            finished.append(here)
        for following in successors_of(state):
            if following is None:
                return Found(len(states), len(finished), 0, _way_to(here, states, before))
            place = index.setdefault(following, len(states))
            if place == len(states):
                states.append(following)
                before.append([])
            before[place].append(here)
        if len(states) > most_states:
            raise MemoryError(f"more than {most_states} states")
    stuck = len(states) - _count_that_reach(finished, before)
    return Found(len(states), len(finished), stuck, None)


def _way_to(place: int, states: list[Any], before: list[list[int]]) -> list[Any]:
    way = [states[place]]
    while place:
        place = before[place][0]
        way.append(states[place])
    return way[::-1]


def _count_that_reach(goals: list[int], before: list[list[int]]) -> int:
    reached = set(goals)
    pending = list(goals)
    while pending:
        for earlier in before[pending.pop()]:
            if earlier not in reached:
                reached.add(earlier)
                pending.append(earlier)
    return len(reached)


# --- What may happen next -----------------------------------------------------------------


def successors(state: State, setting: Setting) -> Iterator[State | None]:
    """Every state that one step leads to; None where a worker takes a wrong sum."""
    for place, worker in enumerate(state.workers):
        if worker.chunk != IDLE and len(worker.up) < setting.up:
            repeat = worker._replace(up=put(worker.up, worker.chunk, setting.up, setting.reorder))
            yield _with(state, place, repeat)
        for packet in choices(worker.up, setting.reorder):
            rest = worker._replace(up=without(worker.up, packet))
            yield _with(state, place, rest)
            yield _at_switch(state, place, rest, worker.up[packet], setting)
        for packet in choices(worker.down, setting.reorder):
            rest = worker._replace(down=without(worker.down, packet))
            yield _with(state, place, rest)
            taken = _at_worker(rest, worker.down[packet], setting)
            yield None if taken is None else _with(state, place, taken)
    if setting.wipes and not state.wiped:
        yield _wiped(state)


def choices(link: tuple[Any, ...], reorder: bool) -> Iterator[int]:
    """Which packets may be next: any, equal ones once; on an ordered link the oldest."""
    if not reorder:
        yield from range(min(1, len(link)))
        return
    for packet in range(len(link)):
        if packet == 0 or link[packet] != link[packet - 1]:
            yield packet


def without(link: tuple[Any, ...], packet: int) -> tuple[Any, ...]:
    """`link` with one packet less."""
    return link[:packet] + link[packet + 1 :]


def put(link: tuple[Any, ...], packet: object, capacity: int, reorder: bool) -> tuple[Any, ...]:
    """`link` with one packet more; a full link loses it."""
    if len(link) == capacity:
        return link
    longer = (*link, packet)
    return tuple(sorted(longer)) if reorder else longer


def _with(state: State, place: int, worker: Worker) -> State:
    workers = (*state.workers[:place], worker, *state.workers[place + 1 :])
    return state._replace(workers=tuple(sorted(workers)))


def _wiped(state: State) -> State:
    workers = (
        worker._replace(marks=NEITHER, asks=NEITHER, added=NOTHING_ADDED)
        for worker in state.workers
    )
    return State((0, 0), (0, 0), True, tuple(sorted(workers)))


# --- The protocol -------------------------------------------------------------------------


def asks_that_matter(asked: list[int], count: list[int], most: int) -> list[int]:
    """Who has asked, in the sets where that makes a difference: states that differ else are one.

    At most `most` contributions wait for more in a set, whose first forgets who asked before. One
    alone is heard whenever it asks.
    """
    return [asked[in_set] if most > 1 and 0 < count[in_set] <= most else 0 for in_set in (0, 1)]


def _at_switch(state: State, place: int, sender: Worker, number: int, setting: Setting) -> State:
    """The switch takes an update of the worker at `place`, whose record is now `sender`."""
    workers = [*state.workers[:place], sender, *state.workers[place + 1 :]]
    here = number % 2
    bitmap = [
        sum(worker.marks[in_set] << bit for bit, worker in enumerate(workers)) for in_set in (0, 1)
    ]
    asked = [
        sum(worker.asks[in_set] << bit for bit, worker in enumerate(workers)) for in_set in (0, 1)
    ]
    count, numbers = list(state.count), list(state.numbers)
    flags = switch_receive(
        bitmap,
        count,
        numbers,
        asked,
        setting.workers,
        1,
        here,
        1 - here,
        place,
        number,
        setting.guard,
        setting.helps,
    )
    if flags & STORE:
        workers = [_added(worker, here, ()) for worker in workers]
    if flags & (STORE | ADD):
        mine = workers[place].added[here]
        workers[place] = _added(workers[place], here, (*mine, number))
    answer = None
    if flags & (COMPLETE | UNICAST):
        right = all(worker.added[here] == (number,) for worker in workers)
        answer = (RESULT, number, right)
    elif flags & CALL_HELP:
        answer = (HELP, number, True)
    asked = asks_that_matter(asked, count, setting.workers - 1)
    for bit, worker in enumerate(workers):
        marks = (bool(bitmap[0] >> bit & 1), bool(bitmap[1] >> bit & 1))
        asks = (bool(asked[0] >> bit & 1), bool(asked[1] >> bit & 1))
        down = worker.down
        if answer is not None and (bit == place or not flags & UNICAST):
            down = put(down, answer, setting.down, setting.reorder)
        workers[bit] = worker._replace(marks=marks, asks=asks, down=down)
    held = (numbers[0], numbers[1]) if setting.guard else (0, 0)  # the published one has none
    return State((count[0], count[1]), held, state.wiped, tuple(sorted(workers)))


def _added(worker: Worker, here: int, numbers: tuple[int, ...]) -> Worker:
    added = (numbers, worker.added[1]) if here == 0 else (worker.added[0], numbers)
    return worker._replace(added=added)


def _at_worker(worker: Worker, packet: tuple[str, int, bool], setting: Setting) -> Worker | None:
    """A worker takes a result or a call for help; None when it takes a wrong sum."""
    taken = worker_takes(worker.chunk, worker.kept, packet, setting.rounds)
    if taken is None:
        return None
    chunk, kept, sent = taken
    up = worker.up if sent == IDLE else put(worker.up, sent, setting.up, setting.reorder)
    return worker._replace(chunk=chunk, kept=kept, up=up)


def worker_takes(
    waits_for: int, keeps: int, packet: tuple[str, int, bool], rounds: int
) -> tuple[int, int, int] | None:
    """What a worker waits for and keeps after a packet, and the chunk that it sends or IDLE.

    None when it takes a wrong sum.
    """
    kind, number, right = packet
    chunk, kept = [waits_for], [keeps]
    sets = [(waits_for if waits_for != IDLE else rounds) % 2]
    if kind == HELP:
        return waits_for, keeps, worker_helps(kept, kept, sets, 0, number % 2, number)
    done = worker_result(chunk, [*chunk], sets, kept, [*kept], 0, number % 2, number)
    if done == IDLE:
        return waits_for, keeps, IDLE
    if not right:
        return None
    following = IDLE if done + 1 == rounds else done + 1
    return following, kept[0], following


# --- By hand ------------------------------------------------------------------------------


def main(words: list[str]) -> None:
    """Explore what the words on the command line say and print what was found."""
    protocol, workers, rounds, up, down, links, registers = words
    setting = Setting(
        int(workers),
        int(rounds),
        {"published": False, "guarded": True}[protocol],
        int(up),
        int(down),
        {"fifo": False, "reorder": True}[links],
        {"keeps": False, "wipes": True}[registers],
    )
    print(setting)
    tell(explore(setting))


def tell(found: Found) -> None:
    """Print what was found."""
    print(f"{found.states} states, {found.finished} finished")
    if found.wrong is None:
        print(f"no wrong sum; {found.stuck} states from which nobody can finish")
        return
    print("stopped at a wrong sum; the way to it:")
    for state in found.wrong:
        print(f"  {state}")


if __name__ == "__main__":
    main(sys.argv[1:])
