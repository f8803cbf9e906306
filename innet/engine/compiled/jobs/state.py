"""The state of in-network jobs on a network, as flat arrays.

Integers are int64, times in picoseconds; an index of -1 means none. A job has a tree of switches
and *workers*, its ranks at their hosts; every core of a worker is a *shard* with its own slots.
An *edge* leads from a worker or a switch to the switch above it.
"""

from typing import NamedTuple

from innet.engine.compiled.state import Ints, Records, record

# The rest of a packet's load: its slot (20), set, whether it asks for help, kind (2).
SET, ASKS_HELP, KIND = 20, 21, 22
MOST_SLOTS = 1 << SET
UPDATE, RESULT, HELP = 0, 1, 2

JOB = record(
    "slots guard packet_bytes help_bytes adaptive initial_ps minimum_ps maximum_ps exponents"
)
# `child` is the number of what is below at the switch above. `way` is where in Net.path the `hops`
# links up begin, `way_back` the `hops_back` links down.
EDGE = record("job above child below worker way hops way_back hops_back")
# A switch of a tree: the edge to the one above it, those to its children, and its first set.
SWITCH = record(
    "job node up first_edge end_edge first_set "
    "completed unicasts repeats_dropped stale_dropped helps_sent"
)
# A worker: the member of the operation that it runs, of which `left` shards are not done, and the
# first and the last of those that it has entered meanwhile. `holder` is the member that has its
# timers.
WORKER = record("job host edge holder first_shard end_shard left member waiting last")
# A shard: its slots, of which the first is at `place` in the pool; where the job's numbers and
# slots have come to; its tensor; its timers' shortest interval and first deadline; its counters.
SHARD = record(
    "worker first_slot slots place next_number next_slot first_number first_of_tensor blocks "
    "window chunks left interval earliest completed retransmissions timeouts stale "
    "helps_answered sent received"
)


class Pool(NamedTuple):
    """The slots of all shards, and the shards' timers."""

    chunk: Ints
    numbers: Ints
    sets: Ints
    tries: Ints
    deadlines: Ints
    kept_chunk: Ints
    kept_number: Ints
    timers: Ints


class Registers(NamedTuple):
    """The registers of all switches; a set has `Settings.words` words of marks."""

    bitmap: Ints
    counts: Ints
    numbers: Ints
    asked: Ints


class Jobs(NamedTuple):
    """All jobs. `blocks` has the blocks that each shard sends of a member's tensor."""

    jobs: Records
    edges: Records
    switches: Records
    workers: Records
    shards: Records
    pool: Pool
    registers: Registers
    blocks: Ints
