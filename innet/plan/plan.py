"""The Plan: one collective by one algorithm on one network, with everything resolved.

Engines and emulators read it and nothing else; it never refers back to the scenario's text.
All times are integer picoseconds, all sizes bytes, all rates bits per second.
"""

from dataclasses import dataclass
from typing import Literal

from innet.collectives.schedule import Schedule
from innet.topology.graph import Graph
from innet.topology.routes import Routes

Recovery = Literal["selective_repeat", "go_back_n"]
PacketVerb = Literal["drop", "duplicate", "reorder", "corrupt", "delay"]
NodeVerb = Literal["pause", "crash", "restart"]
DType = Literal["int32", "float32", "float16", "bfloat16"]


@dataclass(frozen=True, slots=True)
class Rto:
    """A retransmission timeout: adaptive (RFC 6298 style) from `initial_ps`, or fixed at it.

    Either way it doubles with every timeout of the same packet, up to `maximum_ps`.
    """

    adaptive: bool
    initial_ps: int
    minimum_ps: int
    maximum_ps: int


@dataclass(frozen=True, slots=True)
class Host:
    """A participant: its node, start time and per-packet costs on each of its cores."""

    node: int
    start_ps: int = 0
    send_ps: int = 0
    receive_ps: int = 0
    cores: int = 1


@dataclass(frozen=True, slots=True)
class TreeSwitch:
    """A switch of an aggregation tree, at `node` of the graph.

    `parent` is the place of the switch above it in the tree, for which it plays worker `place`;
    both are -1 at the root. Its children are, in this order, `workers` (places in the group of
    the collective) and `switches` (places in the tree): child c is worker c to it.
    """

    node: int
    parent: int = -1
    place: int = -1
    workers: tuple[int, ...] = ()
    switches: tuple[int, ...] = ()

    @property
    def children(self) -> int:
        """How many contributions make a sum complete."""
        return len(self.workers) + len(self.switches)


def one_switch(node: int, workers: int) -> tuple[TreeSwitch, ...]:
    """Return the aggregation tree of a star: one switch, to which all workers are children."""
    return (TreeSwitch(node, workers=tuple(range(workers))),)


@dataclass(frozen=True, slots=True)
class Aggregation:
    """In-network aggregation: packets of `elements_per_packet` values, summed by a tree.

    `tree[0]` is its root, and a switch comes before those below it. Every switch has a pool of
    `slots`, which is split evenly over the hosts' cores, and so is the tensor.
    `packet_bytes` and `help_bytes` are medium bytes. `exponent_round` says that values are
    floats in block floating point, which costs one more round of packets at the start.
    `first_number` is the sequence number of the job's first chunk.
    """

    tree: tuple[TreeSwitch, ...]
    slots: int
    guard: bool
    elements_per_packet: int
    packet_bytes: int
    help_bytes: int
    exponent_round: bool
    first_number: int = 0

    @property
    def switch(self) -> int:
        """The node of the root, which is the only switch of a star."""
        return self.tree[0].node


@dataclass(frozen=True, slots=True)
class Stream:
    """Reliable streams for point-to-point messages, cut into packets of `payload_bytes`.

    Each packet takes `overhead_bytes` more on the medium; each is acknowledged by a packet
    of `ack_bytes` medium bytes. `window` is in packets, for each pair of ranks and direction.
    """

    payload_bytes: int
    overhead_bytes: int
    ack_bytes: int
    window: int
    recovery: Recovery


@dataclass(frozen=True, slots=True)
class PacketFault:
    """What happens to chosen packets of one link direction.

    `packets` are ordinals from 1 among the packets on the link that match `kind` and `chunk`
    (their sequence number) and are sent in [after_ps, until_ps); None means all of them, each
    with `probability`. `by_ps`: how much later a delayed, reordered or duplicate packet
    arrives. A delayed packet holds up those behind it, a reordered one is overtaken.
    """

    verb: PacketVerb
    link: int
    packets: tuple[int, ...] | None = None
    kind: str | None = None
    chunk: int | None = None
    probability: float = 1.0
    by_ps: int = 0
    after_ps: int = 0
    until_ps: int | None = None


@dataclass(frozen=True, slots=True)
class NodeFault:
    """What happens to a node at `at_ps`.

    pause: it takes and sends nothing for `for_ps`, then goes on. crash: it is gone.
    restart: it loses all its state at `at_ps` and is back `for_ps` later (a worker starts its
    tensor again from its first chunk, a switch has its tables but empty registers).
    """

    verb: NodeVerb
    node: int
    at_ps: int
    for_ps: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Fabric:
    """The network that operations run on, with what it meets. `hosts[r]` is rank r's.

    `routes` says on which link a node forwards, and the path of a flow. `seed` decides every
    draw. A run ends at `maximum_time_ps`, or when it has waited for `patience_ps` in vain.
    """

    graph: Graph
    hosts: tuple[Host, ...]
    routes: Routes
    seed: int
    maximum_time_ps: int
    patience_ps: int
    packet_faults: tuple[PacketFault, ...] = ()
    node_faults: tuple[NodeFault, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan(Fabric):
    """One run: one collective that every rank begins at its host's start.

    Ranks from `workers` on only help (a parameter server). Exactly one of `aggregation` and
    `stream` (with `schedule`) is set. `carry_payload` says whether values travel or only their
    timing.
    """

    name: str
    algorithm: str
    workers: int
    elements: int
    dtype: DType
    carry_payload: bool
    rto: Rto
    aggregation: Aggregation | None = None
    stream: Stream | None = None
    schedule: Schedule | None = None
