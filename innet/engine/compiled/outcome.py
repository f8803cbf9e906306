"""What a run of the compiled engine leaves behind: the records of the trace, or who is stuck."""

import numpy as np

from innet.engine.compiled.conditions import ENGINE
from innet.engine.compiled.state import Ints, Records, State
from innet.engine.compiled.sums import Vector
from innet.plan.plan import Plan
from innet.protocol.transitions import BITS_PER_WORD, IDLE
from innet.trace.records import LinkRecord, RankRecord, SwitchRecord, Trace


def trace_of(plan: Plan, state: State, results: tuple[Vector, ...] | None) -> Trace:
    """Return the trace of a finished run, with every worker's vector if values travel."""
    links = _link_records(plan, state)
    return Trace(
        ENGINE,
        _rank_records(plan, state),
        links,
        (_switch_record(state),),
        sum(link.packets for link in links),
        results,
    )


def _rank_records(plan: Plan, state: State) -> tuple[RankRecord, ...]:
    hosts, shards = state.hosts.workers, state.hosts.shards
    uplinks = [plan.graph.links_out[host.node][0] for host in plan.hosts[: plan.workers]]
    counters = ["sent", "received", "retransmissions", "timeouts", "stale", "helps_answered"]
    columns = [
        np.arange(plan.workers),
        hosts["start_ps"],
        hosts["finish"],
        *(np.add.reduceat(shards[counter], hosts["first_shard"]) for counter in counters),
        _idle_ps(state.net.links[uplinks]),
        _cpu_busy_ps(state),
    ]
    return tuple(
        RankRecord(*row) for row in zip(*(column.tolist() for column in columns), strict=True)
    )


def _cpu_busy_ps(state: State) -> Ints:
    """How long the cores of every host have sent and received."""
    hosts, cores = state.hosts.workers, state.cores
    if len(cores) == 0:
        return np.zeros(len(hosts), np.int64)
    work = state.net.links[cores["work"]]
    busy = work["packets"] * work["time_ps"] + cores["receptions"] * cores["receive_ps"]
    return np.asarray(np.add.reduceat(busy, hosts["first_shard"]))


def _busy_ps(links: Records) -> Ints:
    helps = links["help_packets"]
    return np.asarray((links["packets"] - helps) * links["time_ps"] + helps * links["help_ps"])


def _idle_ps(links: Records) -> Ints:
    """How long links had nothing to send between their first packet and their last."""
    idle = links["free_at"] - links["first_sent"] - _busy_ps(links)
    return np.where(links["first_sent"] < 0, 0, idle)


def _link_records(plan: Plan, state: State) -> tuple[LinkRecord, ...]:
    count, faulty = len(plan.graph.links), state.faults.links
    links = state.net.links[:count]
    corrupted, duplicated = np.zeros(count, np.int64), np.zeros(count, np.int64)
    corrupted[faulty["link"]] = faulty["corrupted"]
    duplicated[faulty["link"]] = faulty["duplicated"]
    packets, helps = links["packets"], links["help_packets"]
    columns = [
        np.arange(count),
        packets,
        (packets - helps) * links["packet_bytes"] + helps * links["help_bytes"],
        _busy_ps(links),
        links["lost"],
        links["queue_dropped"],
        corrupted,
        duplicated,
        links["queued_ps"],
    ]
    return tuple(
        LinkRecord(*row) for row in zip(*(column.tolist() for column in columns), strict=True)
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
