"""The state of point-to-point operations on a network, as flat arrays.

Integers are int64, times in picoseconds, but for the random draws, which are uint64. An index of
-1 means none. Several operations may share a network: each has *members*, its ranks at their
hosts, and every member has *streams* to the others that it sends to.
"""

from typing import Any, NamedTuple

from innet.collectives.progress import StepMembers, StepMessages, Steps
from innet.engine.compiled.state import Ints, Records, record

Columns = Any  # Records whose fields compiled code takes as arrays
# Jobs, or None in a network without in-network operations: its kernel is compiled without them.
MaybeJobs = Any

# A packet's word, from the lowest bit: its number in its stream (32), the stream (22), how many
# links it has crossed (6), whether an acknowledgement tells of a gap, whether it is one, and
# whether it is a job's: then it has an edge in the place of a stream, and goes down it if it would
# be an acknowledgement.
STREAM, HOPS, GAP, ACK, AGGREGATED = 32, 54, 60, 61, 62
NUMBER_MASK = (1 << STREAM) - 1
MOST_STREAMS = 1 << HOPS - STREAM
MOST_HOPS = 1 << GAP - HOPS
# A packet that is sent, and a note that it waits, need so many free ones.
NEED = 2
# Its load: the medium bytes, above what a data packet is part of (its message) or what the
# sender of an acknowledgement expects next (32).
BYTES = 32
REST_MASK = (1 << BYTES) - 1

# In which order nodes are simulated, where a window is open: each for itself; the hosts together,
# instant by instant, since a target that is ready lets its source send at once; or all of them,
# packet by packet, where nothing separates them.
APART, HOSTS_TOGETHER, TOGETHER = range(3)

# A node. Its lanes are those of the links into it, in order of port; its host, if it is one.
NODE = record("host latency_ps first_lane end_lane")
# A link direction. Two sizes of packets have their medium times at hand: acknowledgements and
# the data packets of late. A `limit` of -1 is none. Packets that wait for a limited link are a
# list from `wait_head` on. Its lanes are `lane` and, for packets of 0 bytes, the next one.
LINK = record(
    "lane delay_ps free_at first_sent packets bytes busy_ps loss ack_bytes ack_ps data_bytes "
    "data_ps rate_bps limit queued_ps key lost queue_dropped wait_head wait_tail wait_bytes",
    draws="loss key",
)
# Packets on their way in order of arrival, the first at `arrival`, to a node.
LANE = record("arrival head tail node")
# A packet on its way, one that waits for a limited link (`arrival` is when it leaves), or free.
PACKET = record("arrival word load next")
# A rank's host: no timer of its members is due before `timer`; the first of the members that have
# timers, in order of operations; the first of those that are to begin, in order of time; when it
# has handled its last event; and when a member has finished, NEVER until one does.
HOST = record("node timer timed begin reached stopped_at")
# A rank in an operation, which is the `number`th of all that were added. It `has_timer` if it is
# among those of its host. `worker` is its worker where the operation is a job's: then the blocks
# that its shards send are in Jobs.blocks from `first_blocks` on, and it `is_next` if it was entered
# before the worker was done with another.
MEMBER = record(
    "worker first_blocks is_next "
    "host operation number place first_stream end_stream opened earliest has_timer next_timed "
    "full_since start_ps next_to_begin finish sent received retransmissions timeouts stale "
    "stalled_ps"
)
# What members have in common. A member that sends is done with a message when it `ends_sent`.
# `under_way` counts the packets on their way.
OPERATION = record(
    "window payload_bytes overhead_bytes ack_bytes in_turn go_back_n ends_sent adaptive "
    "initial_ps minimum_ps maximum_ps under_way"
)
# The free packets: the first of the list and how many there are. How many members have finished
# since that was last looked at. When the last window began.
POOL = record("free count finished window_ps")
# What is going on at a host: the member and stream concerned, whether other messages may follow
# on the stream's queue, and how far a timeout has come in the order of streams. Where packets ran
# out in the middle of an event of `kind`, `broken_off` is the stream to go on with.
WORK = record("member stream follows place broken_off kind now")


# A stream: what `protocol/stream.py` keeps of it at both ends. `way` is where in Net.path the links
# to its target begin, `way_back` those of its acknowledgements. A queue of messages is known by
# its stream or, of a member that sends in turn, by its first: `queue` names it; of a queue,
# `waiting` and `last` are the first and the last message, and `sending` is the stream of the one
# that was begun last. `opened` has a member's streams in the order in which they were first used.
STREAM_STATE = record(
    "source target queue way way_back opened is_open sending waiting last current base following "
    "highest lost end tries armed_at deadlines expected complained"
)
# A place of a stream's window, at either end.
PLACE = record("state sent_at repeated content received")
# A message: its length, its first number in its stream, the packets of it that have not arrived,
# and the one that follows in its queue.
MESSAGE = record("stream bytes packets first missing next")
# What `collectives/progress.py` keeps of messages and members.
STEP_MESSAGE = record(" ".join(StepMessages._fields))
STEP_MEMBER = record(" ".join(StepMembers._fields))


class Net(NamedTuple):
    """All links, the packets on them, and when each node has its next event, at the earliest.

    `path` has the links of all paths, one path after another.
    `order`, `scratch` and `digits` have room to sort a switch's packets.
    """

    links: Records
    lanes: Records
    path: Ints
    packets: Records
    pool: Records
    due: Ints
    order: Ints
    scratch: Ints
    digits: Ints


class Streams(NamedTuple):
    """All streams, those of a member together, their timers and the places of their windows."""

    rows: Columns
    timers: Ints
    places: Columns


class Settings(NamedTuple):
    """What does not change while operations stay the same.

    A stream has `room` places for its window, a set of a switch `words` words. An event of a job
    needs at most `need` free packets. `order` is one of APART, HOSTS_TOGETHER and TOGETHER.
    """

    lookahead_ps: int
    order: int
    room: int
    words: int
    need: int


class State(NamedTuple):
    """All of it. `finished` has the members that the pool counts."""

    settings: Settings
    net: Net
    nodes: Records
    hosts: Records
    members: Records
    operations: Records
    streams: Streams
    messages: Columns
    steps: Steps
    jobs: MaybeJobs
    work: Records
    finished: Ints
