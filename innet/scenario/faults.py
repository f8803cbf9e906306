"""Faults as a scenario writes them: a list of verbs, each a mapping with one key.

Packet verbs (drop, duplicate, reorder, corrupt, delay) choose packets of one link direction;
node verbs (pause, crash, restart, partition) say what happens to a node, and when.
"""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, model_validator

from innet.scenario.quantities import (
    Duration,
    Parsed,
    PositiveDuration,
    Probability,
    is_name,
    one_of,
    shown,
    whole_number,
)
from innet.scenario.section import Section

Place = int | str
PacketChoice = tuple[int, ...] | None
PacketKind = Literal["update", "result", "help", "data", "ack"]

_WORKER = {"type": "integer", "minimum": 0}
_ORDINAL = {"type": "integer", "minimum": 1}


def _parse_place(value: object) -> Place:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    if isinstance(value, str) and is_name(value):
        return value
    raise ValueError(f"{shown(value)} is no place; write a worker's index or a node's name")


def _parse_packets(value: object) -> PacketChoice:
    """Return ordinals from 1, or None for all packets."""
    if value == "all":
        return None
    if value == "first":
        return (1,)
    ordinals = value if isinstance(value, list | tuple) else (value,)
    if ordinals and all(
        isinstance(ordinal, int) and not isinstance(ordinal, bool) and ordinal >= 1
        for ordinal in ordinals
    ):
        return tuple(sorted(set(ordinals)))
    raise ValueError(
        f"{shown(value)} chooses no packets; write first, all, a number from 1 or a list of them"
    )


def _write_packets(packets: PacketChoice) -> object:
    return "all" if packets is None else list(packets)


Packets = Annotated[
    PacketChoice,
    Parsed(
        _parse_packets,
        {
            "anyOf": [
                {"enum": ["first", "all"]},
                _ORDINAL,
                {"type": "array", "items": _ORDINAL, "minItems": 1},
            ]
        },
        _write_packets,
    ),
]
Node = Annotated[Place, Parsed(_parse_place, {"anyOf": [_WORKER, {"type": "string"}]})]
Kind = Annotated[PacketKind, one_of("a kind of packet", "update", "result", "help", "data", "ack")]
Chunk = Annotated[int, whole_number(0, 2**32 - 1)]


class PacketVerb(Section):
    """Chosen packets from one place to a neighbour, in a star to or from the switch.

    `packet` counts, from 1, the packets on the link that fit `kind` and `chunk` and are sent
    in the time from `after` up to `until`; each is met with `probability`.
    """

    source: Node = Field(alias="from", description="Worker index, switch, server or all.")
    target: Node = Field(alias="to", description="Worker index, switch, server or all.")
    packet: Packets = Field(default=None, description="first, N from 1, a list, or all.")
    probability: Probability = Field(default=1.0, description="Chance for each chosen packet.")
    kind: Kind | None = Field(default=None, description="Only packets of this kind.")
    chunk: Chunk | None = Field(default=None, description="Only this sequence number.")
    after: Duration = Field(default=0, description="Only packets sent from this time on.")
    until: Duration | None = Field(default=None, description="Only packets sent before this.")


class Drop(PacketVerb):
    """Chosen packets are lost after they have occupied the link."""


class Corrupt(PacketVerb):
    """Chosen packets arrive with a wrong checksum and are discarded there."""


class Duplicate(PacketVerb):
    """Chosen packets arrive twice, the copy `by` later."""

    by: Duration = Field(default=0, description="How much later the copy arrives.")


class Reorder(PacketVerb):
    """Chosen packets arrive `by` later and are overtaken by those behind them."""

    by: PositiveDuration = Field(description="How much later the packet arrives.")


class Delay(PacketVerb):
    """Chosen packets arrive `by` later and hold up those behind them."""

    by: PositiveDuration = Field(description="How much later the packet arrives.")


class Pause(Section):
    """A node takes and sends nothing from `at`, for `for`."""

    node: Node
    at: Duration
    lasts: PositiveDuration = Field(alias="for", description="How long it pauses.")


class Crash(Section):
    """A node is gone from `at` on."""

    node: Node
    at: Duration


class Restart(Section):
    """A node loses its state at `at` and is back `for` later."""

    node: Node
    at: Duration
    lasts: Duration = Field(default=0, alias="for", description="How long it is away.")


class Partition(Section):
    """Everything on both directions of a node's links is dropped from `at`, for `for`."""

    node: Node
    at: Duration
    lasts: PositiveDuration = Field(alias="for", description="How long it lasts.")


class Fault(Section):
    """One fault: a mapping with exactly one verb."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1, "maxProperties": 1})

    drop: Drop | None = None
    corrupt: Corrupt | None = None
    duplicate: Duplicate | None = None
    reorder: Reorder | None = None
    delay: Delay | None = None
    pause: Pause | None = None
    crash: Crash | None = None
    restart: Restart | None = None
    partition: Partition | None = None

    @model_validator(mode="after")
    def _one_verb(self) -> "Fault":
        given = [name for name in self.model_fields_set if getattr(self, name) is not None]
        if len(given) != 1:
            verbs = ", ".join(type(self).model_fields)
            raise ValueError(f"a fault has exactly one verb, this one {len(given)}; one of {verbs}")
        return self

    @property
    def verb(self) -> str:
        """The name of the one verb."""
        return next(name for name in self.model_fields_set if getattr(self, name) is not None)

    @property
    def action(self) -> Section:
        """What the verb says."""
        action: Section = getattr(self, self.verb)
        return action
