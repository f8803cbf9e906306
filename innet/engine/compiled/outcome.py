"""What a run of the compiled engine leaves behind: the records of the trace, or who is stuck."""

import numpy as np

from innet.engine.compiled.conditions import ENGINE
from innet.engine.compiled.state import State
from innet.engine.compiled.sums import Vector
from innet.plan.plan import Plan
from innet.protocol.transitions import BITS_PER_WORD, IDLE
from innet.trace.records import LinkRecord, RankRecord, SwitchRecord, Trace


def trace_of(plan: Plan, state: State, results: tuple[Vector, ...] | None) -> Trace:
    """Return the trace of a finished run, with every worker's vector if values travel."""
    links = _link_records(plan, state)
    return Trace(
        ENGINE,
        tuple(_rank_record(plan, state, worker) for worker in range(plan.workers)),
        links,
        (_switch_record(state),),
        sum(link.packets for link in links),
        results,
    )


def _rank_record(plan: Plan, state: State, worker: int) -> RankRecord:
    host = state.hosts.workers[worker]
    shards = state.hosts.shards[host["first_shard"] : host["end_shard"]]
    uplink = plan.graph.links_out[plan.hosts[worker].node][0]

    def total(counter: str) -> int:
        return int(shards[counter].sum())

    return RankRecord(
        worker,
        int(host["start_ps"]),
        int(host["finish"]),
        total("sent"),
        total("received"),
        total("retransmissions"),
        total("timeouts"),
        total("stale"),
        total("helps_answered"),
        _idle_ps(state.net.links[uplink]),
        _cpu_busy_ps(plan, state, worker),
    )


def _cpu_busy_ps(plan: Plan, state: State, worker: int) -> int:
    host = state.hosts.workers[worker]
    if not host["is_busy"]:
        return 0
    cores = state.cores[host["first_shard"] : host["end_shard"]]
    sent = int(state.net.links[cores["work"]]["packets"].sum())
    return sent * plan.hosts[worker].send_ps + int(
        (cores["receptions"] * cores["receive_ps"]).sum()
    )


def _busy_ps(link: np.void) -> int:
    helps = int(link["help_packets"])
    packets = int(link["packets"]) - helps
    return packets * int(link["time_ps"]) + helps * int(link["help_ps"])


def _idle_ps(link: np.void) -> int:
    """How long a link had nothing to send between its first packet and its last."""
    if link["first_sent"] < 0:
        return 0
    return int(link["free_at"]) - int(link["first_sent"]) - _busy_ps(link)


def _link_records(plan: Plan, state: State) -> tuple[LinkRecord, ...]:
    count, faulty = len(plan.graph.links), state.faults.links
    corrupted, duplicated = np.zeros(count, np.int64), np.zeros(count, np.int64)
    corrupted[faulty["link"]] = faulty["corrupted"]
    duplicated[faulty["link"]] = faulty["duplicated"]
    return tuple(
        _link_record(index, state.net.links[index], int(corrupted[index]), int(duplicated[index]))
        for index in range(count)
    )


def _link_record(index: int, link: np.void, corrupted: int, duplicated: int) -> LinkRecord:
    packets, helps = int(link["packets"]), int(link["help_packets"])
    return LinkRecord(
        index,
        packets,
        (packets - helps) * int(link["packet_bytes"]) + helps * int(link["help_bytes"]),
        _busy_ps(link),
        int(link["lost"]),
        int(link["queue_dropped"]),
        corrupted,
        duplicated,
        int(link["queued_ps"]),
    )


def _switch_record(state: State) -> SwitchRecord:
    counters = state.switch.counters[0]
    return SwitchRecord(
        state.settings.switch,
        int(counters["completed"]),
        int(counters["unicasts"]),
        int(counters["repeats_dropped"]),
        int(counters["stale_dropped"]),
        int(counters["helps_sent"]),
    )


def waiting(plan: Plan, state: State) -> list[str]:
    """Say who waits for which slot, and whom the switch has not heard."""
    stride, pool = state.settings.pool_stride, state.hosts.pool
    lines = []
    for worker in range(plan.workers):
        outstanding = np.flatnonzero(pool.chunk[worker * stride : (worker + 1) * stride] != IDLE)
        if len(outstanding):
            slot = int(outstanding[0])
            place = worker * stride + slot
            missing = _missing(state, slot, place)[:8]
            who = ", ".join(f"worker {other}" for other in missing) or "nobody"
            lines.append(
                f"worker {worker} waits for slot {slot} (chunk number "
                f"{pool.numbers[place]}, {pool.tries[place]} timeouts); the switch "
                f"lacks the contribution of {who}"
            )
    return lines


def _missing(state: State, slot: int, place: int) -> list[int]:
    """The workers whose contribution to what a slot waits for is not there."""
    settings, switch = state.settings, state.switch
    here = int(state.hosts.pool.sets[place]) * settings.slots + slot
    workers = range(settings.workers)
    if switch.counts[here] == 0 or switch.numbers[here] != state.hosts.pool.numbers[place]:
        return list(workers)
    marks = [int(word) for word in switch.bitmap[here * settings.words :][: settings.words]]
    return [
        worker
        for worker in workers
        if not marks[worker // BITS_PER_WORD] >> worker % BITS_PER_WORD & 1
    ]
