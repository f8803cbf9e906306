"""How a plan becomes the flat arrays of a run, and how these grow."""

from typing import Any

import numpy as np

from innet.collectives.schedule import block_bounds
from innet.draws import LOSS, stream_key, threshold
from innet.engine.compiled.lower_cores import connect, lower_cores
from innet.engine.compiled.lower_faults import (
    entry_of,
    is_certain,
    lower_entries,
    lower_faults,
    with_certain_losses,
)
from innet.engine.compiled.state import (
    DIGITS,
    LINK,
    PACKET,
    PORT,
    SHARD,
    SWITCH,
    WORKER,
    Account,
    Hosts,
    Ints,
    Net,
    Pool,
    Records,
    Settings,
    State,
    Switch,
)
from innet.plan.plan import Aggregation, Plan
from innet.protocol.machine import NEVER
from innet.protocol.transitions import IDLE, NEW_TIMER, rto_interval, words_per_set
from innet.units import serialisation_ps

# A ring's first capacity is a power of two, as it must remain: a window of slots, within limits.
_LEAST_CAPACITY, _MOST_AT_FIRST = 64, 1024
# Between rings and between workers' slots, so that equal places of all of them, which are used
# together, are not at distances of powers of two, which compete for the same lines of a cache.
_PADDING = 8
NO_ACCOUNT = Account(np.zeros(0, np.uint64), np.zeros(0, np.uint64), np.zeros(0, np.int64))


def lower(plan: Plan, values: bool = False) -> State:
    """Return the state at the start of an in-network plan, with an account if `values` travel."""
    plan = with_certain_losses(plan)
    format_ = plan.aggregation
    assert format_ is not None
    worker_of = _filled(len(plan.graph.nodes), -1)
    faults = lower_faults(plan)
    cores, rows = lower_cores(plan, len(plan.graph.links) + len(faults.links))
    net = _net(plan, format_, lower_entries(plan, faults), rows)
    entries = entry_of(plan, faults)
    workers = _workers(plan, entries)
    worker_of[workers["node"]] = np.arange(plan.workers)
    net.due[workers["node"]] = workers["start_ps"]
    shards = _shards(plan, format_)
    connect(plan, workers, shards, cores)
    hosts = Hosts(workers, shards, _pool(plan, format_, len(shards)))
    account = _account(format_, shards[: workers["end_shard"][0]]) if values else NO_ACCOUNT
    switch = _switch(plan, format_, worker_of, entries, len(net.rings), account)
    return State(_settings(plan, format_), worker_of, net, hosts, switch, faults, cores)


def _settings(plan: Plan, format_: Aggregation) -> Settings:
    latency_ps = plan.graph.nodes[format_.switch].latency_ps
    return Settings(
        _lookahead_ps(plan, format_, latency_ps),
        format_.switch,
        latency_ps,
        format_.slots,
        format_.slots + _PADDING,
        plan.workers,
        words_per_set(plan.workers),
        format_.guard,
        plan.rto.adaptive,
        plan.rto.initial_ps,
        plan.rto.minimum_ps,
        plan.rto.maximum_ps,
        format_.first_number,
    )


def _lookahead_ps(plan: Plan, format_: Aggregation, latency_ps: int) -> int:
    """The shortest time from an event at a node to the arrival of what it sends."""
    smallest = min(format_.packet_bytes, format_.help_bytes)
    return min(
        serialisation_ps(format_.packet_bytes, link.rate_bps) + link.delay_ps
        if link.source != format_.switch
        else latency_ps + serialisation_ps(smallest, link.rate_bps) + link.delay_ps
        for link in plan.graph.links
    )


def _net(plan: Plan, format_: Aggregation, *more: Records) -> Net:
    """Return the network's links, with `more` rows behind them."""
    graph = plan.graph
    links = np.zeros(len(graph.links), LINK)
    for index, link in enumerate(graph.links):
        row = links[index]
        row["target"], row["delay_ps"], row["first_sent"] = link.target, link.delay_ps, -1
        row["time_ps"] = serialisation_ps(format_.packet_bytes, link.rate_bps)
        row["help_ps"] = serialisation_ps(format_.help_bytes, link.rate_bps)
        row["packet_bytes"], row["help_bytes"] = format_.packet_bytes, format_.help_bytes
        row["limit"] = -1 if link.queue_bytes is None else link.queue_bytes
        row["loss"] = 0 if is_certain(link.loss) else threshold(link.loss)
        row["key"] = stream_key(plan.seed, index, LOSS)
    links = np.concatenate([links, *more])
    capacity = min(max(_LEAST_CAPACITY, 1 << format_.slots.bit_length()), _MOST_AT_FIRST)
    stride = capacity + _PADDING
    room = len(links) * stride
    waits = room if links["limit"].max() >= 0 else 0
    due = _filled(len(graph.nodes), NEVER)
    return Net(links, np.zeros(room, PACKET), _zeros(waits), due, capacity, stride)


def _workers(plan: Plan, entries: Ints) -> Records:
    workers = np.zeros(plan.workers, WORKER)
    graph, shards = plan.graph, 0
    for row, host in zip(workers, plan.hosts, strict=False):
        row["node"], row["start_ps"], row["finish"] = host.node, host.start_ps, -1
        row["uplink"] = entries[graph.links_out[host.node][0]]
        row["downlink"] = graph.links_into[host.node][0]
        row["left"], row["first_shard"] = host.cores, shards
        shards += host.cores
        row["end_shard"] = shards
    return workers


def _shards(plan: Plan, format_: Aggregation) -> Records:
    rows = [row for host in plan.hosts[: plan.workers] for row in _shard_rows(plan, host.cores)]
    shards = np.zeros(len(rows), SHARD)
    first, last, blocks = (_ints(column) for column in zip(*rows, strict=True))
    window = np.minimum(last - first + 1, blocks)
    chunks = blocks + window if format_.exponent_round else blocks
    shards["first_slot"], shards["last_slot"], shards["blocks"] = first, last, blocks
    shards["window"], shards["chunks"], shards["left"] = window, chunks, chunks
    rto = plan.rto
    shards["interval"] = rto_interval(
        NEW_TIMER, 0, rto.adaptive, rto.initial_ps, rto.minimum_ps, rto.maximum_ps, 0
    )
    shards["earliest"] = NEVER
    return shards


def _shard_rows(plan: Plan, cores: int) -> list[tuple[int, int, int]]:
    """The first slot, last slot and blocks of each shard of a host."""
    assert plan.aggregation is not None
    slots = block_bounds(plan.aggregation.slots, cores)
    elements = block_bounds(plan.elements, cores)
    k = plan.aggregation.elements_per_packet
    return [
        (slots[core], slots[core + 1] - 1, -(-(elements[core + 1] - elements[core]) // k))
        for core in range(cores)
    ]


def _pool(plan: Plan, format_: Aggregation, shards: int) -> Pool:
    stride = format_.slots + _PADDING
    count = plan.workers * stride
    sets = _zeros(count)
    for worker, host in enumerate(plan.hosts[: plan.workers]):
        for first, last, _ in _shard_rows(plan, host.cores):
            turns, extra = divmod(format_.first_number, last - first + 1)
            used = (turns + (np.arange(last - first + 1) < extra)) % 2
            sets[worker * stride + first : worker * stride + last + 1] = used
    return Pool(
        _filled(count, IDLE),
        _zeros(count),
        sets,
        _zeros(count),
        _filled(count, NEVER),
        _filled(count, IDLE),
        _zeros(count),
        np.tile(_ints(NEW_TIMER), shards),
    )


def _account(format_: Aggregation, shards: Records) -> Account:
    """An empty account; `shards` are those of one worker, and every worker has the like."""
    chunks = shards["chunks"]
    first = np.repeat(np.cumsum(chunks) - chunks, shards["last_slot"] - shards["first_slot"] + 1)
    held, given = np.zeros(2 * format_.slots, np.uint64), np.zeros(chunks.sum(), np.uint64)
    return Account(held, given, first)


def _switch(
    plan: Plan, format_: Aggregation, worker_of: Ints, entries: Ints, room: int, account: Account
) -> Switch:
    graph, node = plan.graph, format_.switch
    ports = np.zeros(len(graph.links_into[node]), PORT)
    ports["link"] = graph.links_into[node]
    ports["worker"] = [worker_of[graph.links[link].source] for link in graph.links_into[node]]
    hosts = plan.hosts[: plan.workers]
    down = [plan.routes.path_between(node, host.node)[0] for host in hosts]
    sets = 2 * format_.slots
    return Switch(
        ports,
        entries[down],
        _zeros(sets * words_per_set(plan.workers)),
        _zeros(sets),
        _zeros(sets),
        _zeros(sets * words_per_set(plan.workers)),
        np.zeros(1, SWITCH),
        _zeros(room),
        _zeros(room),
        _zeros(DIGITS),
        account,
    )


def grown(state: State) -> State:
    """Return the state with rings of twice the capacity, which hold the same packets."""
    net, links = state.net, state.net.links
    rings = _grown_rings(net, net.rings, links["head"])
    net = net._replace(
        rings=rings,
        waits=_grown_rings(net, net.waits, links["wait_head"]),
        capacity=2 * net.capacity,
        stride=2 * net.capacity + _PADDING,
    )
    switch = state.switch._replace(order=_zeros(len(rings)), scratch=_zeros(len(rings)))
    return state._replace(net=net, switch=switch)


def _grown_rings(net: Net, rings: Any, head: Ints) -> Any:  # noqa: ANN401
    if not len(rings):
        return rings
    capacity = net.capacity
    old = rings.reshape(len(head), net.stride)
    new = np.zeros((len(head), 2 * capacity + _PADDING), rings.dtype)
    places = head[:, None] + np.arange(capacity)
    rows = np.arange(len(head))[:, None]
    new[rows, places & (2 * capacity - 1)] = old[rows, places & (capacity - 1)]
    return new.reshape(-1)


def _ints(values: Any) -> Ints:  # noqa: ANN401
    return np.array(values, np.int64)


def _zeros(count: int) -> Ints:
    return np.zeros(count, np.int64)


def _filled(count: int, value: int) -> Ints:
    return np.full(count, value, np.int64)
