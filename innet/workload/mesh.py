"""The mesh of ranks: named axes, coordinates, and the groups of ranks along some of them.

Ranks are numbered with the last axis changing fastest, so that neighbours along the last axis are
next to each other.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod


@dataclass(frozen=True)
class Mesh:
    """The axes with their lengths, in the order in which they were given."""

    axes: Mapping[str, int]

    @property
    def ranks(self) -> int:
        """The number of ranks."""
        return prod(self.axes.values())

    def coordinates(self, rank: int) -> dict[str, int]:
        """Return a rank's place along every axis."""
        found: dict[str, int] = {}
        for axis in reversed(tuple(self.axes)):
            rank, found[axis] = divmod(rank, self.axes[axis])
        return {axis: found[axis] for axis in self.axes}

    def rank(self, coordinates: Mapping[str, int]) -> int | None:
        """Return the rank at a place, None when it lies outside the mesh."""
        rank = 0
        for axis, length in self.axes.items():
            if not 0 <= coordinates[axis] < length:
                return None
            rank = rank * length + coordinates[axis]
        return rank

    def ordered(self, axes: Sequence[str]) -> tuple[str, ...]:
        """Return some axes in the mesh's order."""
        return tuple(axis for axis in self.axes if axis in axes)

    def group(self, rank: int, axes: Sequence[str]) -> tuple[int, ...]:
        """Return, in order, the ranks that differ from `rank` along `axes` only."""
        strides = self._strides()
        own = self.coordinates(rank)
        members = [rank - sum(own[axis] * strides[axis] for axis in axes)]
        for axis in self.ordered(axes):
            members = [
                member + place * strides[axis]
                for member in members
                for place in range(self.axes[axis])
            ]
        return tuple(members)

    def _strides(self) -> dict[str, int]:
        strides, stride = {}, 1
        for axis in reversed(tuple(self.axes)):
            strides[axis] = stride
            stride *= self.axes[axis]
        return strides
