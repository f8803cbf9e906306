"""What workers and switches of in-network jobs have counted in compiled code, and who is stuck."""

from collections.abc import Iterator

import numpy as np

from innet.engine.compiled.jobs.state import Jobs
from innet.engine.compiled.messages.state import State
from innet.plan.plan import Fabric
from innet.protocol.level_transitions import ANSWERED
from innet.protocol.transitions import BITS_PER_WORD, IDLE
from innet.trace.records import RankRecord, SwitchRecord


def worker_record(state: State, rank: int, member: np.void) -> RankRecord:
    """Return what a rank counted in the only operation of its job."""
    jobs: Jobs = state.jobs
    worker = jobs.workers[member["worker"]]
    shards = jobs.shards[worker["first_shard"] : worker["end_shard"]]
    uplink = state.net.links[state.net.path[jobs.edges[worker["edge"]]["way"]]]

    def total(counter: str) -> int:
        return int(shards[counter].sum())

    return RankRecord(
        rank,
        int(member["start_ps"]),
        int(member["finish"]),
        total("sent"),
        total("received"),
        total("retransmissions"),
        total("timeouts"),
        total("stale"),
        total("helps_answered"),
        _idle_ps(uplink),
        0,
    )


def _idle_ps(link: np.void) -> int:
    """How long a link had nothing to send between its first packet and its last."""
    if link["first_sent"] < 0:
        return 0
    return int(link["free_at"]) - int(link["first_sent"]) - int(link["busy_ps"])


def switch_records(jobs: Jobs | None) -> tuple[SwitchRecord, ...]:
    """Return what every switch has counted over all jobs, in order of node."""
    if jobs is None:
        return ()
    counters = ("completed", "unicasts", "repeats_dropped", "stale_dropped", "helps_sent")
    found = []
    for node in np.unique(jobs.switches["node"]).tolist():
        rows = jobs.switches[jobs.switches["node"] == node]
        found.append(SwitchRecord(node, *(int(rows[counter].sum()) for counter in counters)))
    return tuple(found)


def waiting_in_jobs(fabric: Fabric, state: State) -> list[str]:
    """Say who waits for which slot, and whom the switches have not heard."""
    jobs: Jobs | None = state.jobs
    if jobs is None:
        return []
    return [line for worker in jobs.workers for line in _waiting(fabric, state, worker)]


def _waiting(fabric: Fabric, state: State, worker: np.void) -> Iterator[str]:
    """Tell the first slot for which a worker waits, if there is one."""
    jobs: Jobs = state.jobs
    pool, slots = jobs.pool, int(jobs.jobs[worker["job"]]["slots"])
    for shard in jobs.shards[worker["first_shard"] : worker["end_shard"]]:
        places = range(shard["place"], shard["place"] + shard["slots"])
        place = next((x for x in places if pool.chunk[x] != IDLE), None)
        if place is None:
            continue
        slot = int(shard["first_slot"] + place - shard["place"])
        at = int(pool.sets[place]) * slots + slot
        number, tries = int(pool.numbers[place]), int(pool.tries[place])
        root = int(np.flatnonzero(jobs.switches["job"] == worker["job"])[0])
        who = ", ".join(_missing(fabric, state, root, at, number)[:8]) or "nobody"
        yield (
            f"worker {int(worker['host'])} waits for slot {slot} (chunk number {number}, {tries} "
            f"timeouts); the switch lacks the contribution of {who}"
        )
        return


def _missing(fabric: Fabric, state: State, place: int, at: int, number: int) -> list[str]:
    """The workers of a subtree that have not contributed, and switches that are not heard."""
    jobs: Jobs = state.jobs
    switch = jobs.switches[place]
    here, names = int(switch["first_set"]) + at, []
    children = int(switch["end_edge"] - switch["first_edge"])
    held = int(jobs.registers.counts[here])
    known = held > 0 and int(jobs.registers.numbers[here]) == number
    if known and held == children + ANSWERED:
        return []
    words = state.settings.words
    marks = [int(word) for word in jobs.registers.bitmap[here * words : (here + 1) * words]]
    for child in range(children):
        if known and marks[child // BITS_PER_WORD] >> child % BITS_PER_WORD & 1:
            continue
        edge = jobs.edges[switch["first_edge"] + child]
        if edge["worker"] >= 0:
            names.append(f"worker {int(jobs.workers[edge['worker']]['host'])}")
            continue
        below = int(edge["below"])
        node = fabric.graph.nodes[jobs.switches[below]["node"]]
        names += _missing(fabric, state, below, at, number) or [f"switch {node.name}"]
    return names
