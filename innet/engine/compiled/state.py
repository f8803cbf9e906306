"""The state of a run as flat arrays.

Integers are int64, times in picoseconds, but for the random draws, which are uint64. A packet is
one word; a link direction is a ring of the packets on their way with their times of arrival.
Nodes are hosts, which run a worker's shards, or the switch that sums by slot.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Draws = npt.NDArray[np.uint64]

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


def record(fields: str, draws: str = "") -> np.dtype[np.void]:
    """A record of int64 fields, but for `draws`, which are uint64."""
    random = draws.split()
    return np.dtype([(name, np.uint64 if name in random else np.int64) for name in fields.split()])


# A link direction. `time_ps` is the medium time of a packet, `help_ps` that of a call for help,
# and `help_packets` counts these. A `limit` of -1 is none. Its ring is filled from `head` to
# `tail`, which count on for ever; so is the ring of packets that wait for it, if it is limited.
# What every packet needs comes first, in one or two lines of a cache.
LINK = record(
    "target time_ps delay_ps free_at first_sent packets head tail "
    "loss limit queued_ps key lost help_ps help_packets queue_dropped "
    "packet_bytes help_bytes wait_head wait_tail wait_bytes",
    draws="loss key",
)
# A link with packet faults: the rules from `first_rule` to before `end_rule`, of which `copies` do
# make copies. No packet arrives before `held_until`. Its senders send to its `entry`, a row of LINK
# behind those of links, whose ring has the packets at the times at which they were sent.
FAULTY = record("link entry first_rule end_rule copies held_until corrupted duplicated")
# A packet on its way.
PACKET = record("arrival word")
# A worker's host: its links, and its shards from first_shard to before end_shard, of which `left`
# are not done. It `is_busy` if packets cost time on its cores.
WORKER = record("node uplink downlink start_ps started finish left first_shard end_shard is_busy")
# One core's machine: its slots, its tensor, its counters, and the row of LINK to which it sends.
SHARD = record(
    "first_slot last_slot blocks window chunks left interval earliest completed retransmissions "
    "timeouts stale helps_answered sent received outlet"
)
# A busy host's core: rows of LINK for its work and its inbox; what receiving costs, how often it
# has begun to, and when it has received the first packet of the inbox, NEVER if there is none.
CORE = record("work inbox receive_ps receptions received_at")
# What the switch counted, the room that is left in the rings of its links out, and how many packets
# it may send before the kernel is left. `contradictions`: results of one number that were unlike.
SWITCH = record(
    "completed unicasts repeats_dropped stale_dropped helps_sent room sends_left contradictions"
)
# A link into the switch: who sends on it, and when its next packet arrives (scratch).
PORT = record("link worker next")


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


class Account(NamedTuple):
    """What sets and results are made of, if values travel, else nothing: see account.py.

    `held` has a word a set, `given` one a chunk of each core, those of a slot from `first` on.
    """

    held: Draws
    given: Draws
    first: Ints


class Switch(NamedTuple):
    """The switch's ports, its links by worker, its registers, its counters (one record), room
    to sort a window's packets, and an account of what it adds up."""

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
    account: Account


class Faults(NamedTuple):
    """The links with packet faults and their rules, as `plan/link_faults.py` writes them."""

    links: Records
    rules: Ints


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
    """All of it; `worker_of[node]` is -1 at the switch, `cores[shard]` only for busy hosts."""

    settings: Settings
    worker_of: Ints
    net: Net
    hosts: Hosts
    switch: Switch
    faults: Faults
    cores: Records
