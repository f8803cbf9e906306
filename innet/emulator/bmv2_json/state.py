"""What a program keeps from packet to packet, beside its tables: registers, counters, groups.

Register arrays are lists of integers, except those whose cells at one index are used together
as the lanes of a vector (see `lanes`): they share a NumPy array of shape (cells, lanes).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from innet.emulator.bmv2_json.program import CounterArray, RegisterArray
from innet.errors import ConfigurationError

LANE_TYPES: Mapping[int, Any] = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}
"""NumPy's unsigned type of each register width that can be in a vector."""


class Replica(NamedTuple):
    """A copy that a multicast group makes: the port it leaves by, and its number (egress_rid)."""

    port: int
    instance: int


class Counter:
    """An array of cells that count packets and bytes."""

    def __init__(self, size: int) -> None:
        self.packets = [0] * size
        self.bytes = [0] * size

    def clear(self) -> None:
        """Set all cells to 0."""
        self.packets[:] = self.bytes[:] = [0] * len(self.packets)


class State:
    """Registers, counters and multicast groups of one running program."""

    def __init__(
        self,
        registers: Mapping[str, RegisterArray],
        vectors: Sequence[Sequence[str]],
        counters: Mapping[str, CounterArray],
    ) -> None:
        """`vectors`: the names of register arrays that are the lanes of one vector, in order."""
        self.vectors: list[npt.NDArray[Any]] = []
        self._lanes: dict[str, npt.NDArray[Any]] = {}
        for names in vectors:
            first = registers[names[0]]
            vector = np.zeros((first.size, len(names)), dtype=LANE_TYPES[first.width])
            self.vectors.append(vector)
            for lane, name in enumerate(names):
                self._lanes[name] = vector[:, lane]
        self.registers = {
            name: [0] * array.size for name, array in registers.items() if name not in self._lanes
        }
        self.counters = {
            name: Counter(array.size) for name, array in counters.items() if array.table is None
        }
        self.groups: dict[int, tuple[Replica, ...]] = {}

    def read_register(self, name: str) -> list[int]:
        """All cells of a register array. KeyError if there is none."""
        if name in self._lanes:
            return [int(cell) for cell in self._lanes[name]]
        return list(self.registers[name])

    def reset_registers(self) -> None:
        """Set all registers to 0, as a restart of the switch does."""
        for vector in self.vectors:
            vector.fill(0)
        for cells in self.registers.values():
            cells[:] = [0] * len(cells)

    def set_group(self, number: int, replicas: Iterable[Replica]) -> None:
        """Set what a multicast group copies to, in order of (instance, port).

        ConfigurationError for number 0, which means no multicast, and for a replica twice.
        """
        chosen = sorted(replicas, key=lambda each: (each.instance, each.port))
        if not 0 < number < 1 << 16:
            raise ConfigurationError(f"a multicast group has a number from 1 to 65535: {number}")
        if len(set(chosen)) != len(chosen):
            raise ConfigurationError(f"multicast group {number} has a replica twice")
        self.groups[number] = tuple(chosen)
