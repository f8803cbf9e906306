"""The sections of a scenario: frozen models whose field names are the keys of the YAML file.

Quantities are kept as int: rates in bit/s, durations in ps, sizes in bytes. `null` is allowed
only where it means something (`queue: null` is unlimited).
"""

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from innet.collectives.algorithms import ALGORITHMS as POINT_TO_POINT
from innet.plan.offload import DEFAULT_OPERATIONS, OPERATIONS, SwitchResources
from innet.plan.plan import DType, Recovery
from innet.scenario.located import located_error
from innet.scenario.quantities import (
    Duration,
    Loss,
    OptionalSize,
    Parsed,
    PositiveSize,
    Rate,
    RetransmissionTimeout,
    Size,
    Switchable,
    one_of,
    shown,
    whole_number,
)
from innet.scenario.section import Section
from innet.wire.dtypes import ITEMSIZE
from innet.wire.headers import MEDIUM_OVERHEAD_BYTES

MAXIMUM_SLOTS = 2**14
MAXIMUM_CORES = 16
PACKET_ELEMENTS = (32, 64, 128, 256)
ALGORITHMS = ("in_network", *POINT_TO_POINT)


def _parse_operations(value: object) -> tuple[str, ...]:
    known = isinstance(value, list | tuple) and all(name in OPERATIONS for name in value)
    if known and isinstance(value, list | tuple) and len(set(value)) == len(value):
        return tuple(value)
    raise ValueError(f"{shown(value)} is no list of some of {', '.join(OPERATIONS)}")


Operations = Annotated[
    tuple[str, ...],
    Parsed(
        _parse_operations,
        {"type": "array", "items": {"enum": list(OPERATIONS)}, "uniqueItems": True},
        list,
    ),
]


class SwitchSection(Section):
    """The switch: its forwarding latency and, for in_network, its aggregation pool."""

    latency: Duration = Field(
        default=400_000, description="From a whole packet in to its place in the output queue."
    )
    slots: Annotated[int, whole_number(1, MAXIMUM_SLOTS)] = Field(
        default=512, description="Slots of the pool, the window of in-network aggregation."
    )
    memory: Size | None = Field(
        default=None, description="Memory for the values in slots; without limit unless given."
    )
    operations: Operations | None = Field(
        default=None,
        description="What a switch can do: sum, min, max, and copy, which sends a packet to "
        "several ports; sum and copy unless given.",
    )
    largest_group: Annotated[int, whole_number(2, 4096)] | None = Field(
        default=None, description="Contributions that a switch can tell apart, such as 32."
    )
    elements_per_pass: Annotated[int, whole_number(1, 16384)] | None = Field(
        default=None,
        description="Values that one pass through the pipeline can add; without limit unless "
        "given.",
    )
    passes: Annotated[int, whole_number(1, 64)] = Field(
        default=1,
        description="Passes that a packet may take through the pipeline; the time of further "
        "passes is not simulated.",
    )
    wire: Literal["int32"] = Field(
        default="int32", description="Type of the values in packets of in-network aggregation."
    )
    guard: Switchable = Field(
        default=True, description="off runs the published protocol, without guard and help."
    )

    @property
    def resources(self) -> SwitchResources:
        """What every switch that aggregates has."""
        operations = DEFAULT_OPERATIONS if self.operations is None else self.operations
        return SwitchResources(self.slots, frozenset(operations), self.largest_group)


class PacketSection(Section):
    """A packet of in-network aggregation; a value takes 4 bytes."""

    elements: Annotated[int, whole_number(1, 16384)] = Field(
        default=256,
        description="Values a packet: 32, 64, 128 or 256; any number with an explicit overhead.",
    )
    overhead: Size = Field(
        default=MEDIUM_OVERHEAD_BYTES, description="Medium bytes beyond the values."
    )

    @model_validator(mode="after")
    def _known_format(self) -> Self:
        if self.elements not in PACKET_ELEMENTS and "overhead" not in self.model_fields_set:
            problem = (
                f"{self.elements} is not a packet size of the wire format; write 32, 64, 128 or "
                "256, or give packet.overhead too to model another format"
            )
            raise located_error([(("elements",), problem)])
        return self


class HostSection(Section):
    """What a host costs a packet, and when it sends again."""

    send: Duration = Field(default=0, description="Time of a core for each packet sent.")
    receive: Duration = Field(default=0, description="Time of a core for each packet received.")
    cores: Annotated[int, whole_number(1, MAXIMUM_CORES)] = Field(
        default=1, description="Cores; tensor and slots are split evenly over them."
    )
    rto: RetransmissionTimeout = Field(
        default="adaptive", description="Retransmission timeout: adaptive or a duration."
    )


class MessageSection(Section):
    """Packets of the point-to-point algorithms (by default TCP's at MTU 1500)."""

    payload: PositiveSize = Field(default=1460, description="Payload bytes of a full packet.")
    overhead: Size = Field(default=78, description="Medium bytes beyond the payload.")
    window: Annotated[int, whole_number(1, 2**20)] = Field(
        default=64, description="Packets in flight, for each pair of ranks and direction."
    )
    recovery: Annotated[Recovery, one_of("a recovery", "selective_repeat", "go_back_n")] = Field(
        default="selective_repeat", description="selective_repeat or go_back_n (as RoCE)."
    )
    ack: Size = Field(
        default=0,
        description="Medium bytes of an acknowledgement; 0 lets them ride free, which favours "
        "the point-to-point algorithms.",
    )


def _parse_tensors(value: object) -> tuple[Path, ...]:
    names = (value,) if isinstance(value, str) else value
    if not isinstance(names, list | tuple) or not names:
        raise ValueError(f"{shown(value)} names no files; write a path or a list of paths")
    for name in names:
        if not isinstance(name, str) or "\0" in name or not name.endswith(TENSOR_SUFFIXES):
            raise ValueError(
                f"{shown(name)} is not a tensor file; write a path that ends in "
                f"{', '.join(TENSOR_SUFFIXES)}"
            )
    return tuple(Path(name) for name in names)


TENSOR_SUFFIXES = (".npy", ".npz", ".safetensors")
_PATH = {"type": "string", "pattern": r"\.(npy|npz|safetensors)$"}
Tensors = Annotated[
    tuple[Path, ...],
    Parsed(
        _parse_tensors,
        {"anyOf": [_PATH, {"type": "array", "items": _PATH, "minItems": 1}]},
        lambda paths: [str(path) for path in paths],
    ),
]


class CollectiveSection(Section):
    """The collective: how large, of which type, and whether values travel and are checked.

    Either `size` (generated tensors) or `tensors` (files) is given.
    """

    op: Annotated[Literal["all_reduce"], one_of("a collective", "all_reduce")] = "all_reduce"
    size: Size | None = Field(default=None, description="Bytes of the tensor at each worker.")
    dtype: Annotated[DType, one_of("a data type", *ITEMSIZE)] = Field(
        default="float32", description="Type of the elements, of the files' too."
    )
    check: Annotated[
        Literal["always", "never", "auto"], one_of("a way to check", "always", "never", "auto")
    ] = Field(default="auto", description="never is timing only; auto checks up to 512 MiB.")
    tensors: Tensors | None = Field(
        default=None,
        description="Files, one a worker, or one with a leading worker axis; relative to the "
        "scenario file.",
    )

    @property
    def elements(self) -> int | None:
        """Number of elements, None where files decide."""
        return None if self.size is None else self.size // ITEMSIZE[self.dtype]

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.size is None) == (self.tensors is None):
            raise ValueError("give exactly one of size and tensors")
        item = ITEMSIZE[self.dtype]
        if self.size is not None and self.size % item:
            below = self.size - self.size % item
            problem = (
                f"{self.size} B is not a whole number of {self.dtype} elements of {item} B; the "
                f"nearest are {below} B and {below + item} B"
            )
            raise located_error([(("size",), problem)])
        return self


class WorkerLinkSection(Section):
    """What differs on one worker's cable."""

    rate: Rate | None = None
    delay: Duration | None = None
    loss: Loss | None = None
    queue: OptionalSize = None


class WorkerHostSection(Section):
    """What differs at one worker's host."""

    send: Duration | None = None
    receive: Duration | None = None


class WorkerSection(Section):
    """What differs for one worker."""

    start: Duration = Field(default=0, description="When the worker starts, after the others' 0.")
    link: WorkerLinkSection = WorkerLinkSection()
    host: WorkerHostSection = WorkerHostSection()


def _parse_algorithms(value: object) -> tuple[str, ...]:
    names = (value,) if isinstance(value, str) else value
    if not isinstance(names, list | tuple) or not names:
        raise ValueError(f"{shown(value)} is not a list of algorithms; {_KNOWN_ALGORITHMS}")
    for place, name in enumerate(names):
        if name not in ALGORITHMS:
            raise ValueError(f"{shown(name)} is not an algorithm; {_KNOWN_ALGORITHMS}")
        if name in names[:place]:
            raise ValueError(f"{shown(name)} is listed twice")
    return tuple(names)


_KNOWN_ALGORITHMS = f"write some of {', '.join(ALGORITHMS)}"
Algorithms = Annotated[
    tuple[str, ...],
    Parsed(
        _parse_algorithms,
        {
            "type": "array",
            "items": {"enum": list(ALGORITHMS)},
            "minItems": 1,
            "uniqueItems": True,
        },
        list,
    ),
]
