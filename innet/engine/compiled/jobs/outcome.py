"""What an in-network run on any network leaves behind: its trace, or who is stuck."""

import numpy as np

from innet.engine.compiled.conditions import ENGINE
from innet.engine.compiled.jobs.state import Jobs
from innet.engine.compiled.messages.outcome import link_record
from innet.engine.compiled.messages.state import State
from innet.plan.plan import Plan
from innet.protocol.level_transitions import ANSWERED
from innet.protocol.transitions import BITS_PER_WORD, IDLE
from innet.trace.records import RankRecord, SwitchRecord, Trace


def trace_of(plan: Plan, state: State) -> Trace:
    """Return the trace of a finished run."""
    links = tuple(link_record(index, link) for index, link in enumerate(state.net.links))
    return Trace(
        ENGINE,
        tuple(_rank_record(state, rank) for rank in range(plan.workers)),
        links,
        tuple(switch_records(state.jobs)),
        sum(link.packets for link in links),
        None,
    )


def _rank_record(state: State, rank: int) -> RankRecord:
    jobs, member = state.jobs, state.members[rank]
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


def switch_records(jobs: Jobs) -> list[SwitchRecord]:
    """Return what every switch has counted over all jobs, in order of node."""
    counters = ("completed", "unicasts", "repeats_dropped", "stale_dropped", "helps_sent")
    found = []
    for node in np.unique(jobs.switches["node"]).tolist():
        rows = jobs.switches[jobs.switches["node"] == node]
        found.append(SwitchRecord(node, *(int(rows[counter].sum()) for counter in counters)))
    return found


def waiting(plan: Plan, state: State) -> list[str]:
    """Say who waits for which slot, and whom the switches have not heard."""
    jobs, lines = state.jobs, []
    for rank, worker in enumerate(jobs.workers):
        for shard in jobs.shards[worker["first_shard"] : worker["end_shard"]]:
            places = range(shard["place"], shard["place"] + shard["slots"])
            place = next((x for x in places if jobs.pool.chunk[x] != IDLE), None)
            if place is None:
                continue
            slot = int(shard["first_slot"] + place - shard["place"])
            at = int(jobs.pool.sets[place]) * plan_slots(plan) + slot
            number, tries = int(jobs.pool.numbers[place]), int(jobs.pool.tries[place])
            who = ", ".join(_missing(plan, state, 0, at, number)[:8]) or "nobody"
            lines.append(
                f"worker {rank} waits for slot {slot} (chunk number {number}, {tries} timeouts); "
                f"the switch lacks the contribution of {who}"
            )
            break
    return lines


def plan_slots(plan: Plan) -> int:
    """Return the slots of every switch of a plan's tree."""
    assert plan.aggregation is not None
    return plan.aggregation.slots


def _missing(plan: Plan, state: State, place: int, at: int, number: int) -> list[str]:
    """The workers of a subtree that have not contributed, and switches that are not heard."""
    jobs, switch = state.jobs, state.jobs.switches[place]
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
            names.append(f"worker {int(edge['worker'])}")
            continue
        node = plan.graph.nodes[jobs.switches[edge["below"]]["node"]]
        names += _missing(plan, state, int(edge["below"]), at, number) or [f"switch {node.name}"]
    return names
