"""One round of the window through the tree, as a max-plus recurrence over its packets.

All arrays have a row a class and a column a packet, in the order in which every worker sends
and receives them. That order is the same at every worker: without loss, links and cores keep
it, switches complete chunks in it, and each result sends at most one packet.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from innet.engine.recurrence.tree import Times, Tree, Way


def begins(ready: Times, free_ps: Times, service_ps: Times) -> Times:
    """When a FIFO server begins with each packet: max(ready, end of the one before).

    `ready` are the instants at which packets reach it, [classes, packets]; `free_ps` when it is
    free, [classes]; `service_ps` what each packet takes, [classes, packets], or [classes, 1]
    where all take the same.
    """
    if service_ps.shape[1] == 1:
        before = service_ps * np.arange(ready.shape[1])
    else:
        before = np.cumsum(service_ps, axis=1) - service_ps
    found: Times = ready - before
    np.maximum(found[:, 0], free_ps, out=found[:, 0])
    np.maximum.accumulate(found, axis=1, out=found)
    found += before
    return found


@dataclass(slots=True)
class State:
    """What the next round starts from.

    `sent` is when the workers' machines sent its packets, `handed` when these reached the first
    links. The others are when cores and, level by level, links up and down are free:
    [classes], and [members, hops].
    """

    sent: Times
    handed: Times
    core_free: Times
    up_free: tuple[Times, ...]
    down_free: tuple[Times, ...]

    def shift_from(self, other: "State") -> int | None:
        """By how much all times lie after those of `other`; None when it is not the same."""
        shift = int(self.core_free[0] - other.core_free[0])
        for mine, theirs in zip(self._times(), other._times(), strict=True):
            if mine.shape != theirs.shape or (mine - theirs != shift).any():
                return None
        return shift

    def shifted(self, by_ps: int) -> "State":
        """The same, `by_ps` later."""
        return State(
            self.sent + by_ps,
            self.handed + by_ps,
            self.core_free + by_ps,
            tuple(free + by_ps for free in self.up_free),
            tuple(free + by_ps for free in self.down_free),
        )

    def _times(self) -> tuple[Times, ...]:
        return (self.sent, self.handed, self.core_free, *self.up_free, *self.down_free)


@dataclass(frozen=True, slots=True)
class Round:
    """What a round showed: when results were received and how long packets waited."""

    waited: Times  # from a packet's sending to its result, [classes, packets]
    received: Times  # of the last result, [classes]
    up_queued_ps: tuple[Times, ...]  # the longest waits for links, level by level, [members, hops]
    down_queued_ps: tuple[Times, ...]
    state: State  # after the round


def first_state(tree: Tree, packets: int) -> State:
    """All machines send their first `packets` packets when they start."""
    sent = np.repeat(tree.start_ps[:, None], packets, axis=1)
    handed = sent + tree.send_ps[:, None] * np.arange(1, packets + 1)
    free = tuple(np.zeros_like(level.up.packet_ps) for level in tree.levels)
    back = tuple(np.zeros_like(level.down.packet_ps) for level in tree.levels)
    return State(sent, handed, tree.start_ps + tree.send_ps * packets, free, back)


def go_round(tree: Tree, state: State, followed: npt.NDArray[np.bool_] | None) -> Round:
    """Let a round's packets go up to the root, their results come back and be received.

    `followed` says, for every packet, whether its result sends another; None: all do.
    """
    leaves, up = _go_up(tree, state)
    received, down = _go_down(tree, state, leaves)
    if tree.costs:
        followers = np.ones(1, dtype=np.bool_) if followed is None else followed
        service = tree.receive_ps[:, None] + tree.send_ps[:, None] * followers
        received = begins(received, state.core_free, service) + tree.receive_ps[:, None]
    last_sends = followed is None or followed[-1]
    core_free = received[:, -1] + tree.send_ps if last_sends else received[:, -1]
    sent = received if followed is None else received[:, followed]
    return Round(
        waited=received - state.sent,
        received=received[:, -1],
        up_queued_ps=tuple(crossed.queued_ps for crossed in up),
        down_queued_ps=tuple(crossed.queued_ps for crossed in down),
        state=State(
            sent,
            sent + tree.send_ps[:, None],
            core_free,
            tuple(crossed.free_ps for crossed in up),
            tuple(crossed.free_ps for crossed in down),
        ),
    )


class _Crossed(NamedTuple):
    """Members' packets at the ends of their ways, and what they leave behind on the links."""

    arrives: Times  # [members, packets]
    queued_ps: Times  # [members, hops]
    free_ps: Times  # [members, hops]


def _cross(way: Way, ready: Times, free_ps: Times) -> _Crossed:
    """Let packets that are ready at one end of the ways go to the other."""
    queued, free = np.empty_like(free_ps), np.empty_like(free_ps)
    for hop in range(way.packet_ps.shape[1]):
        packet_ps = way.packet_ps[:, hop]
        begun = begins(ready, free_ps[:, hop], packet_ps[:, None])
        queued[:, hop] = (begun - ready).max(axis=1)
        free[:, hop] = begun[:, -1] + packet_ps
        ready = begun + (packet_ps + way.onward_ps[:, hop])[:, None]
    return _Crossed(ready, queued, free)


def _go_up(tree: Tree, state: State) -> tuple[Times, list[_Crossed]]:
    """Return when the results leave the root, [1, packets], and what each level met."""
    first_worker, crossings = tree.classes, []
    sums = np.empty((0, state.handed.shape[1]), dtype=np.int64)
    for level, free_ps in zip(reversed(tree.levels), reversed(state.up_free), strict=True):
        ready = np.empty((len(level.parent), state.handed.shape[1]), dtype=np.int64)
        last_worker, first_worker = first_worker, first_worker - len(level.workers)
        ready[level.workers] = state.handed[first_worker:last_worker]
        ready[level.switches] = sums + level.latency_ps[level.switches, None]
        crossed = _cross(level.up, ready, free_ps)
        crossings.append(crossed)
        sums = np.maximum.reduceat(crossed.arrives, level.first_child, axis=0)
    return sums + tree.latency_ps, crossings[::-1]


def _go_down(tree: Tree, state: State, leaves: Times) -> tuple[Times, list[_Crossed]]:
    """Return when the results reach the classes of workers, and what each level met."""
    reached, crossings = [], []
    for level, free_ps in zip(tree.levels, state.down_free, strict=True):
        crossed = _cross(level.down, leaves[level.parent], free_ps)
        crossings.append(crossed)
        reached.append(crossed.arrives[level.workers])
        leaves = crossed.arrives + level.latency_ps[:, None]
    return np.concatenate(reached), crossings
