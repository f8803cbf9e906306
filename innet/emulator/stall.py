"""Why an emulation does not go on: who waits for which slot, and who is missing."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

_NAMED = 8

Waiting = Sequence[Sequence[int]]  # (slot, set, number, timeouts) of each outstanding packet


@dataclass(frozen=True, slots=True)
class WorkerState:
    """What is known of a worker when nothing moves.

    `trouble` says why it does not take part: its process does not answer, or a fault of the
    scenario made it vanish; it is "" if that is told elsewhere, and None if there is no such
    reason. `silent_ps` is since it last heard the
    switch; `unheard` is whether the switch has not heard it lately, None if that is unknown.
    """

    worker: int
    is_done: bool
    trouble: str | None
    waiting: Waiting
    silent_ps: int
    unheard: bool | None


def explain(states: Sequence[WorkerState], switch: str, silence_ps: int) -> Iterator[str]:
    """Lines that say what is wrong. `switch` is its trouble, "" if none is known."""
    silent = [state for state in states if not state.is_done and state.trouble is None]
    if switch:
        yield switch
    elif silent and all(state.silent_ps >= silence_ps for state in silent):
        heard = any(state.unheard is False for state in silent)
        reason = "though it hears them" if heard else "which may be down or cut off"
        yield f"no worker has heard from the switch for {silence_ps / 1e12:g} s, {reason}"
    for state in states:
        if state.trouble and not state.is_done:
            yield f"worker {state.worker} {state.trouble}"
        elif state.unheard and not state.is_done:
            yield f"the switch hears nothing from worker {state.worker}"
    for state in states:
        if state.waiting and state.trouble is None:
            yield _waits(state, states)


def _waits(state: WorkerState, states: Sequence[WorkerState]) -> str:
    slot, _, number, tries = min(state.waiting, key=lambda place: place[2])
    missing = [other.worker for other in states if _is_missing(other, slot, number)]
    told = f"worker {state.worker} waits for slot {slot} (chunk number {number}, {tries} timeouts)"
    if not missing:
        return told
    named = ", ".join(f"worker {worker}" for worker in missing[:_NAMED])
    more = f" and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
    return f"{told}; the contribution of {named}{more} is missing"


def _is_missing(state: WorkerState, slot: int, number: int) -> bool:
    """Whether a worker has not contributed a chunk: it is in trouble, or behind it."""
    if state.is_done:
        return False
    if state.trouble is not None or state.unheard:
        return True
    on_slot: Mapping[int, int] = {place[0]: place[2] for place in state.waiting}
    return slot in on_slot and on_slot[slot] < number
