"""The state of a run as flat arrays, and how a plan becomes them.

Integers are int64, times in picoseconds, but for the random draws, which are uint64. A packet is
one word; a link direction is a ring of the packets on their way with their times of arrival.
Nodes are hosts, which run a worker's shards, or the switch that sums by slot.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from innet.collectives.schedule import block_bounds
from innet.draws import LOSS, stream_key, threshold
from innet.plan.plan import Aggregation, Plan
from innet.protocol.machine import NEVER
from innet.protocol.transitions import IDLE, NEW_TIMER, rto_interval, words_per_set
from innet.units import serialisation_ps

Ints = npt.NDArray[np.int64]

# A packet's word, from the lowest bit: its number (32), slot (20), set, whether it asks for
# help, kind (2).
SLOT, SET, ASKS_HELP, KIND = 32, 52, 53, 54
SLOT_BITS = SET - SLOT
MOST_SLOTS = 1 << SLOT_BITS
PORT_BITS = 20  # of the key by which a window's packets are sorted: time, then port
MOST_PORTS = 1 << PORT_BITS
UPDATE, RESULT, HELP = 0, 1, 2

DIGIT_BITS = 11  # of a time, sorted in one pass
DIGITS = 1 << DIGIT_BITS

# A ring's first capacity is a power of two, as it must remain: a window of slots, within limits.
_LEAST_CAPACITY, _MOST_AT_FIRST = 64, 1024
# Between rings and between workers' slots, so that equal places of all of them, which are used
# together, are not at distances of powers of two, which compete for the same lines of a cache.
_PADDING = 8


Records = npt.NDArray[np.void]


def _record(fields: str, draws: str = "") -> np.dtype[np.void]:
    """A record of int64 fields, but for `draws`, which are uint64."""
    random = draws.split()
    return np.dtype([(name, np.uint64 if name in random else np.int64) for name in fields.split()])


# A link direction. `time_ps` is the medium time of a packet, `help_ps` that of a call for help,
# and `help_packets` counts these. A `limit` of -1 is none. Its ring is filled from `head` to
# `tail`, which count on for ever; so is the ring of packets that wait for it, if it is limited.
# What every packet needs comes first, in one or two lines of a cache.
LINK = _record(
    "target time_ps delay_ps free_at first_sent packets head tail "
    "loss limit queued_ps key lost help_ps help_packets queue_dropped "
    "packet_bytes help_bytes wait_head wait_tail wait_bytes",
    draws="loss key",
)
# A packet on its way.
PACKET = _record("arrival word")
# A worker's host: its links, and its shards from first_shard to before end_shard, of which `left`
# are not done.
WORKER = _record("node uplink downlink start_ps started finish left first_shard end_shard")
# One core's machine: its slots, its tensor and its counters.
SHARD = _record(
    "first_slot last_slot blocks window chunks left interval earliest completed retransmissions "
    "timeouts stale helps_answered sent received"
)
# What the switch counted, and the room that is left in the rings of its links out.
SWITCH = _record("completed unicasts repeats_dropped stale_dropped helps_sent room")
# A link into the switch: who sends on it, and when its next packet arrives (scratch).
PORT = _record("link worker next")


class Net(NamedTuple):
    """All links, their rings, and when each node has its next event.

    A ring has room for `capacity` packets; the next link's ring starts `stride` places further.

    `waits` has the packets that wait for limited links: 2 * start, and 1 more for a call.
    """

    links: Records
    rings: Records
    waits: Ints
    due: Ints
    capacity: int
    stride: int


class Pool(NamedTuple):
    """The slots of all workers, those of w from w * pool_stride on, and the shards' timers."""

    chunk: Ints
    numbers: Ints
    sets: Ints
    tries: Ints
    deadlines: Ints
    kept_chunk: Ints
    kept_number: Ints
    timers: Ints


class Hosts(NamedTuple):
    """Workers and what they run."""

    workers: Records
    shards: Records
    pool: Pool


class Switch(NamedTuple):
    """The switch's ports, its links by worker, its registers, its counters (one record) and room
    to sort a window's packets."""

    ports: Records
    down: Ints
    bitmap: Ints
    counts: Ints
    numbers: Ints
    counters: Records
    order: Ints
    scratch: Ints
    digits: Ints


class Settings(NamedTuple):
    """What does not change: plain integers, bools as they are."""

    lookahead_ps: int
    switch: int
    latency_ps: int
    slots: int
    pool_stride: int
    workers: int
    words: int
    guard: bool
    adaptive: bool
    initial_ps: int
    minimum_ps: int
    maximum_ps: int
    first_number: int


class State(NamedTuple):
    """All of it; `worker_of[node]` is -1 at the switch."""

    settings: Settings
    worker_of: Ints
    net: Net
    hosts: Hosts
    switch: Switch


def lower(plan: Plan) -> State:
    """Return the state at the start of an in-network plan."""
    format_ = plan.aggregation
    assert format_ is not None
    worker_of = _filled(len(plan.graph.nodes), -1)
    workers = _workers(plan)
    worker_of[workers["node"]] = np.arange(plan.workers)
    net = _net(plan, format_)
    net.due[workers["node"]] = workers["start_ps"]
    shards = _shards(plan, format_)
    hosts = Hosts(workers, shards, _pool(plan, format_, len(shards)))
    switch = _switch(plan, format_, worker_of, len(net.rings))
    return State(_settings(plan, format_), worker_of, net, hosts, switch)


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


def _net(plan: Plan, format_: Aggregation) -> Net:
    graph = plan.graph
    links = np.zeros(len(graph.links), LINK)
    for index, link in enumerate(graph.links):
        row = links[index]
        row["target"], row["delay_ps"], row["first_sent"] = link.target, link.delay_ps, -1
        row["time_ps"] = serialisation_ps(format_.packet_bytes, link.rate_bps)
        row["help_ps"] = serialisation_ps(format_.help_bytes, link.rate_bps)
        row["packet_bytes"], row["help_bytes"] = format_.packet_bytes, format_.help_bytes
        row["limit"] = -1 if link.queue_bytes is None else link.queue_bytes
        row["loss"] = threshold(link.loss)
        row["key"] = stream_key(plan.seed, index, LOSS)
    capacity = min(max(_LEAST_CAPACITY, 1 << format_.slots.bit_length()), _MOST_AT_FIRST)
    stride = capacity + _PADDING
    room = len(links) * stride
    waits = room if links["limit"].max() >= 0 else 0
    due = _filled(len(graph.nodes), NEVER)
    return Net(links, np.zeros(room, PACKET), _zeros(waits), due, capacity, stride)


def _workers(plan: Plan) -> Records:
    workers = np.zeros(plan.workers, WORKER)
    graph, shards = plan.graph, 0
    for row, host in zip(workers, plan.hosts, strict=False):
        row["node"], row["start_ps"], row["finish"] = host.node, host.start_ps, -1
        row["uplink"] = graph.links_out[host.node][0]
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


def _switch(plan: Plan, format_: Aggregation, worker_of: Ints, room: int) -> Switch:
    graph, node = plan.graph, format_.switch
    ports = np.zeros(len(graph.links_into[node]), PORT)
    ports["link"] = graph.links_into[node]
    ports["worker"] = [worker_of[graph.links[link].source] for link in graph.links_into[node]]
    sets = 2 * format_.slots
    return Switch(
        ports,
        _ints([plan.routes[node][worker] for worker in range(plan.workers)]),
        _zeros(sets * words_per_set(plan.workers)),
        _zeros(sets),
        _zeros(sets),
        np.zeros(1, SWITCH),
        _zeros(room),
        _zeros(room),
        _zeros(DIGITS),
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
