"""One round of the window through the star, as a max-plus recurrence over its packets.

All arrays have a row a class and a column a packet, in the order in which every worker sends
and receives them. That order is the same at every worker: without loss, links and cores keep
it, the switch completes chunks in it, and each result sends at most one packet.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from innet.engine.recurrence.star import Star, Times


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

    `sent` is when the workers' machines sent its packets, `handed` when these reached the
    uplinks; the others are when uplinks, downlinks and cores are free, a row a class.
    """

    sent: Times
    handed: Times
    up_free: Times
    down_free: Times
    core_free: Times

    def shift_from(self, other: "State") -> int | None:
        """By how much all times lie after those of `other`; None when it is not the same."""
        shift = int(self.up_free[0] - other.up_free[0])
        for mine, theirs in zip(self._times(), other._times(), strict=True):
            if mine.shape != theirs.shape or (mine - theirs != shift).any():
                return None
        return shift

    def shifted(self, by_ps: int) -> "State":
        """The same, `by_ps` later."""
        return State(*(times + by_ps for times in self._times()))

    def _times(self) -> tuple[Times, ...]:
        return self.sent, self.handed, self.up_free, self.down_free, self.core_free


@dataclass(frozen=True, slots=True)
class Round:
    """What a round showed: when results were received and how long packets waited."""

    waited: Times  # from a packet's sending to its result, [classes, packets]
    received: Times  # of the last result, [classes]
    up_queued_ps: Times  # the longest wait for the uplink, [classes]
    down_queued_ps: Times
    state: State  # after the round


def first_state(star: Star, packets: int) -> State:
    """All machines send their first `packets` packets when they start."""
    sent = np.repeat(star.start_ps[:, None], packets, axis=1)
    handed = sent + star.send_ps[:, None] * np.arange(1, packets + 1)
    free = np.zeros(star.classes, dtype=np.int64)
    return State(sent, handed, free, free, star.start_ps + star.send_ps * packets)


def go_round(star: Star, state: State, followed: npt.NDArray[np.bool_] | None) -> Round:
    """Let a round's packets go to the switch, their results come back and be received.

    `followed` says, for every packet, whether its result sends another; None: all do.
    """
    up, down = star.up_ps[:, None], star.down_ps[:, None]
    on_uplink = begins(state.handed, state.up_free, up)
    complete = (on_uplink + (star.up_ps + star.up_delay_ps)[:, None]).max(axis=0)
    leaves = np.broadcast_to(complete + star.latency_ps, on_uplink.shape)
    on_downlink = begins(leaves, state.down_free, down)
    received = on_downlink + (star.down_ps + star.down_delay_ps)[:, None]
    if star.costs:
        followers = np.ones(1, dtype=np.bool_) if followed is None else followed
        service = star.receive_ps[:, None] + star.send_ps[:, None] * followers
        received = begins(received, state.core_free, service) + star.receive_ps[:, None]
    last_sends = followed is None or followed[-1]
    core_free = received[:, -1] + star.send_ps if last_sends else received[:, -1]
    sent = received if followed is None else received[:, followed]
    return Round(
        waited=received - state.sent,
        received=received[:, -1],
        up_queued_ps=(on_uplink - state.handed).max(axis=1),
        down_queued_ps=(on_downlink - leaves).max(axis=1),
        state=State(
            sent,
            sent + star.send_ps[:, None],
            on_uplink[:, -1] + star.up_ps,
            on_downlink[:, -1] + star.down_ps,
            core_free,
        ),
    )
