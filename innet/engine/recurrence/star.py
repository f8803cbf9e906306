"""The numbers of an in-network all-reduce on a star, by class of equal workers.

Workers with the same start, links and costs do the same at the same instants, so one of each
class is computed. All arrays have one entry a class, in picoseconds.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from innet.collectives.schedule import block_bounds
from innet.plan.plan import Aggregation, Plan
from innet.units import serialisation_ps

Times = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Star:
    """`class_of[rank]` is a worker's class; a packet takes `up_ps` and `down_ps` on its links."""

    class_of: tuple[int, ...]
    start_ps: Times
    send_ps: Times
    receive_ps: Times
    up_ps: Times
    up_delay_ps: Times
    down_ps: Times
    down_delay_ps: Times
    latency_ps: int

    @property
    def classes(self) -> int:
        """Number of classes."""
        return len(self.start_ps)

    @property
    def costs(self) -> bool:
        """Whether a packet costs any host time."""
        return bool(self.send_ps.any() or self.receive_ps.any())


def star_of(plan: Plan, format_: Aggregation) -> Star:
    """Return the star of a plan whose hosts each have one link up and one down."""
    rows = [_row(plan, format_, rank) for rank in range(plan.workers)]
    classes = {row: place for place, row in enumerate(dict.fromkeys(rows))}
    start, send, receive, up, up_delay, down, down_delay = np.array(list(classes), dtype=np.int64).T
    return Star(
        class_of=tuple(classes[row] for row in rows),
        start_ps=start,
        send_ps=send,
        receive_ps=receive,
        up_ps=up,
        up_delay_ps=up_delay,
        down_ps=down,
        down_delay_ps=down_delay,
        latency_ps=plan.graph.nodes[format_.switch].latency_ps,
    )


def _row(plan: Plan, format_: Aggregation, rank: int) -> tuple[int, ...]:
    host = plan.hosts[rank]
    row = [host.start_ps, host.send_ps, host.receive_ps]
    for index in links_of(plan, rank):
        link = plan.graph.links[index]
        row += [serialisation_ps(format_.packet_bytes, link.rate_bps), link.delay_ps]
    return tuple(row)


def links_of(plan: Plan, rank: int) -> tuple[int, int]:
    """Return the indices of a host's link up and of its link down."""
    node = plan.hosts[rank].node
    return plan.graph.links_out[node][0], plan.graph.links_into[node][0]


@dataclass(frozen=True, slots=True)
class Shards:
    """How slots and chunks are split over a worker's cores, in order of core.

    Round m of a shard holds its chunks m * window .. (m + 1) * window - 1, as far as there are
    so many. On a worker's link, a round's packets are those of its shards, in order of shard.
    """

    windows: tuple[int, ...]
    chunks: tuple[int, ...]

    @property
    def rounds(self) -> int:
        """How many rounds there are until all shards are done."""
        pairs = zip(self.chunks, self.windows, strict=True)
        return max((-(-chunks // window) for chunks, window in pairs), default=0)

    def sizes(self, turn: int) -> list[int]:
        """How many packets each shard sends in round `turn`, from 0."""
        pairs = zip(self.chunks, self.windows, strict=True)
        return [min(max(chunks - turn * window, 0), window) for chunks, window in pairs]

    def equal_rounds(self, turn: int) -> int:
        """How many rounds from `turn` on are as large as the one that follows each."""
        sizes = self.sizes(turn)
        if sizes != self.sizes(turn + 1):
            return 0
        moving = [place for place, size in enumerate(sizes) if size]
        return min(self.chunks[place] // self.windows[place] - 1 for place in moving) - turn


def shards_of(plan: Plan, format_: Aggregation) -> Shards:
    """Return the shards of every worker of a plan; those without elements are left out."""
    cores = plan.hosts[0].cores
    slots, elements = block_bounds(format_.slots, cores), block_bounds(plan.elements, cores)
    windows, chunks = [], []
    for core in range(cores):
        blocks = -(-(elements[core + 1] - elements[core]) // format_.elements_per_packet)
        if blocks:
            window = min(slots[core + 1] - slots[core], blocks)
            windows.append(window)
            chunks.append(blocks + window if format_.exponent_round else blocks)
    return Shards(tuple(windows), tuple(chunks))
