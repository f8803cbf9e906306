"""A P4 program that runs: load it, fill its tables, give it packets."""

import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from innet.emulator.bmv2_json.generate import generate
from innet.emulator.bmv2_json.lanes import find_vectors
from innet.emulator.bmv2_json.load import load_program
from innet.emulator.bmv2_json.program import Program
from innet.emulator.bmv2_json.refuse import PipelineError
from innet.emulator.bmv2_json.runtime import namespace
from innet.emulator.bmv2_json.state import Counter, Replica, State
from innet.emulator.bmv2_json.surroundings import FUNCTION, NORMAL
from innet.emulator.bmv2_json.tables import RuntimeTable
from innet.errors import ConfigurationError


class Pipeline:
    """A program of p4c for v1model, with the state of one switch.

    A DataPlane: `process` takes a frame at a port. Tables, multicast groups, registers and
    counters are its control interface; they are known by their full names, or by the last part
    of the name where only one ends so.

    ConfigurationError, when it is made, for anything in the program that is not implemented.
    """

    def __init__(
        self,
        program: Program,
        *,
        seed: int = 0,
        microseconds: Callable[[], int] | None = None,
        vectors: bool = True,
    ) -> None:
        """`microseconds` is the switch's clock, by default the time since it was made.

        `vectors` off: values are added one by one, which is slower and gives the same.
        """
        started = time.monotonic_ns()
        self.program = program
        found = find_vectors(program) if vectors else {}
        try:
            self.source, context = generate(program, found)
        except ConfigurationError as error:
            raise ConfigurationError(error.message, file=program.path) from None
        lanes = [vector.registers for vector in found.values()]
        self._state = State(program.registers, lanes, program.counters)
        self.tables: Mapping[str, RuntimeTable] = {
            name: RuntimeTable(table, program.actions) for name, table in program.tables().items()
        }
        clock = microseconds or (lambda: (time.monotonic_ns() - started) // 1000)
        names = namespace(context, self._state, self.tables, seed, clock)
        exec(compile(self.source, program.path, "exec"), names)
        self._run: Callable[..., list[tuple[int, bytes]]] = names[FUNCTION]

    @classmethod
    def load(cls, path: str | Path, *, seed: int = 0) -> "Pipeline":
        """A pipeline for a JSON file of p4c. `seed` is that of the program's random numbers."""
        return cls(load_program(path), seed=seed)

    def process(self, port: int, frame: bytes) -> list[tuple[int, bytes]]:
        """Take a frame that came in at `port`; return (port, frame) to send, in order.

        PipelineError if the packet makes the program do what would crash or hang BMv2.
        """
        try:
            return self._run(port, frame, NORMAL, None, 0)
        except ZeroDivisionError:
            raise PipelineError(f"{self.program.path}: a packet divides by zero") from None

    # --- control interface ----------------------------------------------------------------

    def table(self, name: str) -> RuntimeTable:
        """A table. ConfigurationError if there is none of this name."""
        return self.tables[_full_name(name, self.tables, "table")]

    def set_group(self, number: int, replicas: Iterable[tuple[int, int]]) -> None:
        """Set a multicast group's copies, (port, instance) each."""
        self._state.set_group(number, (Replica(*replica) for replica in replicas))

    def delete_group(self, number: int) -> None:
        """Remove a multicast group; packets for it are dropped."""
        self._state.groups.pop(number, None)

    @property
    def groups(self) -> Mapping[int, tuple[Replica, ...]]:
        """The multicast groups."""
        return self._state.groups

    def counter(self, name: str) -> Counter:
        """The cells of a counter array."""
        counters = self._state.counters
        return counters[_full_name(name, counters, "counter array")]

    def read_register(self, name: str) -> list[int]:
        """The cells of a register array."""
        return self._state.read_register(_full_name(name, self.program.registers, "register array"))

    def reset_registers(self) -> None:
        """Set all registers to 0, as losing power does. Tables stay."""
        self._state.reset_registers()

    def reset(self) -> None:
        """Be as new: tables, groups, registers and counters."""
        for table in self.tables.values():
            table.clear()
        self._state.groups.clear()
        self._state.reset_registers()
        for counter in self._state.counters.values():
            counter.clear()


def _full_name(name: str, known: Iterable[str], what: str) -> str:
    """The one of `known` that is `name` or ends with it."""
    if name in (names := list(known)):
        return name
    found = [each for each in names if each.endswith(f".{name}")]
    if len(found) != 1:
        problem = "no" if not found else "more than one"
        raise ConfigurationError(f"the P4 program has {problem} {what} {name!r}")
    return found[0]
