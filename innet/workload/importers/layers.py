"""Layer workloads: the text files of ASTRA-sim 1.0, and those that SimAI's AICB writes.

The first line names the way to train in parallel, the second counts the layers. A layer's line
has its name, a field that is not used, and for the forward pass, the gradient of the inputs and
the gradient of the weights each a time in ns, a collective and its bytes; then the time of the
weight update. Order and overlap are those of ASTRA-sim's training loops.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from innet.errors import ConfigurationError, unreadable
from innet.units import DURATION_UNITS

_FIELDS = 12
_KINDS: Mapping[str, str] = {
    "ALLREDUCE": "all_reduce",
    "ALLGATHER": "all_gather",
    "REDUCESCATTER": "reduce_scatter",
    "ALLTOALL": "all_to_all",
    "BROADCAST": "broadcast",
}
# Which ranks a collective's suffix means; without one it is those of its column.
GROUPS = ("DP_EP", "EP")


@dataclass(frozen=True, slots=True)
class Communication:
    """A collective of a whole vector of `size_bytes`; `group` is "", "EP" or "DP_EP"."""

    kind: str
    size_bytes: int
    group: str


@dataclass(frozen=True, slots=True)
class Pass:
    """One of a layer's three columns."""

    compute_ps: int
    communication: Communication | None


@dataclass(frozen=True, slots=True)
class LayerLine:
    """A layer of the file; `policy` is its own way to train in parallel (HYBRID_CUSTOMIZED)."""

    name: str
    forward: Pass
    inputs: Pass
    weights: Pass
    update_ps: int
    policy: str | None


@dataclass(frozen=True, slots=True)
class LayerFile:
    """A parsed file: the policy, the numbers of its first line by key, and the layers."""

    policy: str
    numbers: Mapping[str, int]
    layers: tuple[LayerLine, ...]


def read_layers(path: Path) -> LayerFile:
    """Read a layer workload; ConfigurationError names the file and the line of what is wrong."""
    lines = _Lines(path)
    policy, *words = lines.next("the way to train in parallel")
    numbers = _numbers(policy, words)
    count = lines.integer(lines.next("the number of layers")[0], "the number of layers")
    layers = tuple(_layer(lines, policy) for _ in range(count))
    lines.must_be_at_end(count)
    return LayerFile(policy, numbers, layers)


class _Lines:
    """The lines of a file that are not blank, split into fields."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as error:
            raise unreadable(path, error) from None
        except UnicodeDecodeError:
            raise ConfigurationError("is no text file", file=str(path)) from None
        self._number = 0
        self._rest: Iterator[tuple[int, list[str]]] = (
            (number, line.split())
            for number, line in enumerate(text.splitlines(), start=1)
            if line.strip()
        )

    def next(self, what: str) -> list[str]:
        """The fields of the next line, which must be there."""
        self._number, fields = next(self._rest, (self._number + 1, []))
        if not fields:
            raise self.error(f"the file ends where {what} should be")
        return fields

    def must_be_at_end(self, count: int) -> None:
        """Refuse lines beyond the last layer."""
        self._number, fields = next(self._rest, (0, []))
        if fields:
            raise self.error(f"there are more than the {count} layers that line 2 counts")

    def integer(self, text: str, what: str) -> int:
        """A whole number of at least 0."""
        if not text.isdecimal():
            raise self.error(f"{what} is '{text}'; it must be a whole number of at least 0")
        return int(text)

    def error(self, message: str) -> ConfigurationError:
        """What is wrong with the line read last."""
        return ConfigurationError(message, file=str(self._path), line=self._number)


def _numbers(policy: str, words: list[str]) -> Mapping[str, int]:
    """The `key: number` pairs of the first line; DLRM may give its one number alone."""
    if len(words) == 1 and words[0].isdecimal() and "DLRM" in policy:
        return {"DLRM_LAST_BOTTOM_LAYER": int(words[0])}
    return {
        key.rstrip(":"): int(value)
        for key, value in pairwise(words)
        if not key.isdecimal() and value.isdecimal()
    }


def _layer(lines: _Lines, policy: str) -> LayerLine:
    fields = lines.next("a layer's line")
    expected = _FIELDS + (policy == "HYBRID_CUSTOMIZED")
    if len(fields) != expected:
        raise lines.error(f"a layer has {expected} fields; this line has {len(fields)}")
    forward, inputs, weights = (
        _pass(lines, fields[start : start + 3], column)
        for start, column in ((2, "forward"), (5, "input gradient"), (8, "weight gradient"))
    )
    update = lines.integer(fields[11], "the time of the weight update") * DURATION_UNITS["ns"]
    own = fields[12] if expected > _FIELDS else None
    return LayerLine(fields[0], forward, inputs, weights, update, own)


def _pass(lines: _Lines, fields: list[str], column: str) -> Pass:
    time, name, size = fields
    compute_ps = lines.integer(time, f"the {column} time") * DURATION_UNITS["ns"]
    size_bytes = lines.integer(size, f"the {column} size")
    if name == "NONE" or size_bytes == 0:
        return Pass(compute_ps, None)
    group = next((suffix for suffix in GROUPS if name.endswith(f"_{suffix}")), "")
    kind = _KINDS.get(name.removesuffix(f"_{group}") if group else name)
    if kind is None:
        known = ", ".join(("NONE", *_KINDS))
        raise lines.error(
            f"the {column} collective is '{name}'; it must be one of {known}, "
            f"followed by nothing, _EP or _DP_EP"
        )
    return Pass(compute_ps, Communication(kind, size_bytes, group))
