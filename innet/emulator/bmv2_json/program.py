"""What a compiled P4 program consists of, validated and without its JSON.

The format is p4c's output for BMv2 (docs/JSON_format.md of p4lang/behavioral-model). These
classes only hold it: `load` fills them, `generate` turns them into Python source.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from innet.emulator.bmv2_json.terms import Constant, Expression, Field, Valid


@dataclass(frozen=True, slots=True)
class Header:
    """A header instance, or a struct of metadata, which is never on the wire."""

    name: str
    fields: tuple[Field, ...]
    metadata: bool

    @property
    def bytes(self) -> int:
        """The length on the wire."""
        return sum(field.width for field in self.fields) // 8


@dataclass(frozen=True, slots=True)
class Stack:
    """A header stack: the names of its elements in order."""

    name: str
    headers: tuple[str, ...]


# --- Actions ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Reference:
    """A stack, register array, counter array or calculation that a primitive works on."""

    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class Text:
    """The format of a log message."""

    value: str


@dataclass(frozen=True, slots=True)
class Values:
    """The values of a log message."""

    values: tuple[Expression, ...]


Argument = Expression | Reference | Text | Values


JUMPS = ("_jump", "_jump_if_zero")
"""Primitives that go on at the primitive whose place in the action is their last argument."""


@dataclass(frozen=True, slots=True)
class Primitive:
    """One step of an action. `where` names the action and, if known, the line of P4."""

    op: str
    arguments: tuple[Argument, ...]
    where: str


@dataclass(frozen=True, slots=True)
class Action:
    """An action; `parameters` are (name, bits)."""

    name: str
    parameters: tuple[tuple[str, int], ...]
    primitives: tuple[Primitive, ...]


# --- Control flow -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Key:
    """One part of a table's key. `kind`: exact, lpm, ternary or range."""

    name: str
    kind: str
    source: Field | Valid
    width: int
    mask: int | None


@dataclass(frozen=True, slots=True)
class Entry:
    """An action with its data, behind a match in the order of the table's keys.

    A match of a key is an integer, (value, prefix length), (value, mask) or (low, high), by
    its kind. Of ternary and range entries the one with the highest priority wins.
    """

    match: tuple[int | tuple[int, int], ...]
    action: int
    data: tuple[int, ...]
    priority: int


@dataclass(frozen=True, slots=True)
class Table:
    """A match-action table.

    `actions` are keys of Program.actions. `after_hit` and `after_miss` name the next node
    if the program asks whether the table was hit, else `after_action` does for each action.
    """

    name: str
    keys: tuple[Key, ...]
    actions: tuple[int, ...]
    size: int
    counted: bool
    default: Entry
    default_fixed: bool
    entries: tuple[Entry, ...] | None
    after_action: Mapping[int, str | None] | None
    after_hit: str | None
    after_miss: str | None


@dataclass(frozen=True, slots=True)
class Conditional:
    """A branch of the control flow."""

    name: str
    condition: Expression
    when_true: str | None
    when_false: str | None


Node = Table | Conditional


@dataclass(frozen=True, slots=True)
class ControlFlow:
    """Ingress or egress: nodes by name, and the first."""

    name: str
    start: str | None
    nodes: Mapping[str, Node]


# --- Parser, deparser, checksums ----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Extract:
    """Take a header from the packet."""

    header: str


@dataclass(frozen=True, slots=True)
class ExtractNext:
    """Take a stack's next element from the packet."""

    stack: str


@dataclass(frozen=True, slots=True)
class SetField:
    """Assign to a field."""

    field: Field
    value: Expression


@dataclass(frozen=True, slots=True)
class Verify:
    """Stop with an error number unless a condition holds."""

    condition: Expression
    error: Expression


@dataclass(frozen=True, slots=True)
class Advance:
    """Skip bits, a multiple of 8."""

    bits: Expression


ParserOperation = Extract | ExtractNext | SetField | Verify | Advance | Primitive


@dataclass(frozen=True, slots=True)
class Transition:
    """Where to go if each key, masked, equals the (value, mask) in its place."""

    matches: tuple[tuple[int, int], ...]
    target: str | None


@dataclass(frozen=True, slots=True)
class State:
    """A state of the parser; target None ends it. `keys` are fields or bits ahead."""

    name: str
    operations: tuple[ParserOperation, ...]
    keys: tuple[Expression, ...]
    transitions: tuple[Transition, ...]
    otherwise: str | None


@dataclass(frozen=True, slots=True)
class Calculation:
    """A hash or checksum over fields and constants, each (source, bits), and the payload."""

    name: str
    algorithm: str
    inputs: tuple[tuple[Field | Constant, int], ...]
    payload: bool


@dataclass(frozen=True, slots=True)
class Checksum:
    """A field that holds a calculation's result, checked after parsing or set at the end."""

    name: str
    target: Field
    calculation: str
    verify: bool
    update: bool
    condition: Expression | None


@dataclass(frozen=True, slots=True)
class RegisterArray:
    """`size` cells of `width` bits."""

    name: str
    size: int
    width: int


@dataclass(frozen=True, slots=True)
class CounterArray:
    """`size` cells that count packets and bytes; of a direct one, `table` has the cells."""

    name: str
    size: int
    table: str | None


@dataclass(frozen=True, slots=True)
class Program:
    """A whole compiled program. `path` is for messages."""

    path: str
    headers: Mapping[str, Header]
    stacks: Mapping[str, Stack]
    start: str
    states: Mapping[str, State]
    ingress: ControlFlow
    egress: ControlFlow
    deparser: tuple[str, ...]
    actions: Mapping[int, Action]
    registers: Mapping[str, RegisterArray]
    counters: Mapping[str, CounterArray]
    calculations: Mapping[str, Calculation]
    checksums: tuple[Checksum, ...]
    field_lists: Mapping[int, tuple[Field, ...]]
    errors: Mapping[str, int]
    aliases: Mapping[str, Field]

    def tables(self) -> Mapping[str, Table]:
        """All tables of ingress and egress by name."""
        nodes = [*self.ingress.nodes.values(), *self.egress.nodes.values()]
        return {node.name: node for node in nodes if isinstance(node, Table)}
