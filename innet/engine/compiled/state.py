"""The state of a run as flat arrays.

Integers are int64, times in picoseconds, but for the random draws, which are uint64. A packet is
one word; a link direction is a ring of the packets on their way with their times of arrival.
Nodes are hosts, which run a worker's shards, or the switch that sums by slot.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

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
    asked: Ints
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
