"""How slots and chunks are split over a worker's cores."""

from dataclasses import dataclass

from innet.collectives.schedule import block_bounds
from innet.plan.plan import Aggregation, Plan


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
