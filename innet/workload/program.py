"""A rank's program: the statements of a step expanded, one action after another, for one rank.

Expressions are evaluated here, with the rank's coordinates (`tp`), the lengths of axes (`tp_n`),
`rank`, `ranks`, the names of `let`, `i` of the innermost repeat, in a collective's options `n`, the
ranks of its group, and `layer.fwd`, `.bwd`, `.grad`, `.parameters`, `.number`. A neighbour outside
the mesh is no operation.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from innet.errors import ConfigurationError
from innet.workload.buckets import FIRST_BUCKET_BYTES
from innet.workload.expression import Expression, ExpressionError, Names, Value
from innet.workload.mesh import Mesh
from innet.workload.parse import Step
from innet.workload.statements import (
    Block,
    Collective,
    CollectiveKind,
    Compute,
    Each,
    Place,
    Reduction,
    Repeat,
    Statement,
    Statements,
    Transfer,
    Wait,
    When,
)


@dataclass(frozen=True, slots=True)
class TimedLayer:
    """A layer as a rank sees it: times in ps, and the bytes of each gradient in its order."""

    name: str
    forward_ps: int
    backward_ps: int
    gradients: tuple[int, ...]
    parameters: int


class Work(NamedTuple):
    """Compute for a time."""

    duration_ps: int
    place: Place


class Call(NamedTuple):
    """Enter a collective of `group`, which holds ranks; `root` is a place in it."""

    kind: CollectiveKind
    axes: tuple[str, ...]
    group: tuple[int, ...]
    size: int
    op: Reduction
    root: int
    handle: str | None
    place: Place


class Exchange(NamedTuple):
    """Send to `target` or receive from `source`; one of them is the rank itself."""

    sends: bool
    axes: tuple[str, ...]
    source: int
    target: int
    size: int
    handle: str | None
    place: Place


class Await(NamedTuple):
    """Wait for all that was begun under a handle."""

    handle: str
    place: Place


Action = Work | Call | Exchange | Await


@dataclass(frozen=True, slots=True)
class Workload:
    """A step on a mesh: what all ranks run, with the names of `let` and the model's layers."""

    mesh: Mesh
    step: Step
    let: Mapping[str, Expression]
    layers: tuple[TimedLayer, ...] = ()

    def program(self, rank: int) -> Iterator[Action]:
        """Yield a rank's actions in order; ConfigurationError names rank, line and operation."""
        return _Program(self, rank).actions()


class _Bucket:
    """Gradients that wait until there are enough; the first bucket is small."""

    def __init__(self, call: Call) -> None:
        self.last = call
        self.filling = 0
        self.issued = False

    def add(self, call: Call, limit: int) -> Iterator[Call]:
        self.last = call
        self.filling += call.size
        if self.filling >= (limit if self.issued else min(limit, FIRST_BUCKET_BYTES)):
            yield from self.flush()

    def flush(self) -> Iterator[Call]:
        if self.filling:
            self.issued = True
            yield self.last._replace(size=self.filling)
        self.filling = 0


class _Program:
    def __init__(self, workload: Workload, rank: int) -> None:
        self._workload, self._mesh, self._rank = workload, workload.mesh, rank
        self._own = self._mesh.coordinates(rank)
        self._buckets: dict[tuple[str, tuple[str, ...], str | None], _Bucket] = {}
        self._names = self._first_names()

    def _first_names(self) -> dict[str, Value]:
        names = {axis: _plain(place) for axis, place in self._own.items()}
        names |= {f"{axis}_n": _plain(length) for axis, length in self._mesh.axes.items()}
        names |= {"rank": _plain(self._rank), "ranks": _plain(self._mesh.ranks)}
        for name, expression in self._workload.let.items():
            try:
                names[name] = expression.evaluate(names)
            except ExpressionError as error:
                raise ConfigurationError(f"rank {self._rank}: let {name}: {error}") from None
        return names

    def actions(self) -> Iterator[Action]:
        yield from self._list(self._workload.step.step, self._names)
        yield from self._flush(None)

    def _list(self, statements: Statements, names: Names) -> Iterator[Action]:
        for statement in statements:
            try:
                yield from self._statement(statement, names)
            except ExpressionError as error:
                raise self._error(statement, str(error)) from None

    def _error(self, statement: Statement, why: str) -> ConfigurationError:
        kind = statement.kind if isinstance(statement, Collective) else _verb_of(statement)
        place = statement.place
        told = f"rank {self._rank}: {kind}: {why}"
        return ConfigurationError(told, file=place.file, line=place.line)

    def _statement(self, statement: Statement, names: Names) -> Iterator[Action]:
        match statement:
            case Compute():
                yield Work(statement.time.duration(names), statement.place)
            case Collective():
                yield from self._collective(statement, names)
            case Transfer():
                yield from self._transfer(statement, names)
            case Wait():
                yield from self._flush(statement.handle)
                yield Await(statement.handle, statement.place)
            case _:
                yield from self._control(statement, names)

    def _control(self, statement: Repeat | Each | When | Block, names: Names) -> Iterator[Action]:
        match statement:
            case Repeat():
                for turn in range(self._count(statement, names)):
                    yield from self._list(statement.do, {**names, "i": _plain(turn)})
            case Each():
                yield from self._each(statement, names)
            case When():
                if statement.condition.evaluate(names).number:
                    yield from self._list(statement.do, names)
            case Block():
                yield from self._list(self._workload.step.blocks[statement.name], names)

    def _count(self, statement: Repeat, names: Names) -> int:
        count = statement.count.whole(names, "count")
        if count < 0:
            raise ExpressionError(f"count {statement.count.text!r} is negative: {count}")
        return count

    def _each(self, statement: Each, names: Names) -> Iterator[Action]:
        layers = self._workload.layers
        if not layers:
            raise ExpressionError("there are no layers; give a model or layers")
        numbers = range(len(layers))
        for number in reversed(numbers) if statement.backwards else numbers:
            here = {**names, **_layer_names(layers[number], number)}
            yield from self._list(statement.do, here)
        yield from self._flush(None)

    def _collective(self, statement: Collective, names: Names) -> Iterator[Call]:
        group = self._mesh.group(self._rank, statement.over)
        names = {**names, "n": _plain(len(group))}
        root = 0 if statement.root is None else statement.root.whole(names, "root")
        if not 0 <= root < len(group):
            raise ExpressionError(f"root {root} is outside the group of {len(group)}")
        call = Call(
            statement.kind,
            statement.over,
            group,
            statement.size.size(names),
            statement.op,
            root,
            statement.handle,
            statement.place,
        )
        if statement.bucket is None:
            yield call
            return
        limit = statement.bucket.size(names)
        bucket = self._buckets.setdefault((call.kind, call.axes, call.handle), _Bucket(call))
        for part in self._parts(statement, names, call.size):
            yield from bucket.add(call._replace(size=part), limit)

    def _parts(self, statement: Collective, names: Names, size: int) -> tuple[int, ...]:
        """Return a layer's gradients one by one, as buckets take tensors whole."""
        if statement.size.text.strip() == "layer.grad":
            number = names["layer.number"].number.numerator
            return tuple(reversed(self._workload.layers[number].gradients))
        return (size,)

    def _flush(self, handle: str | None) -> Iterator[Call]:
        """Issue what waits in buckets, of one handle or of all."""
        for key in [key for key in self._buckets if handle in (None, key[2])]:
            yield from self._buckets.pop(key).flush()

    def _transfer(self, statement: Transfer, names: Names) -> Iterator[Exchange]:
        at = {axis: where.whole(names, axis) for axis, where in statement.peer.items()}
        peer = self._mesh.rank({**self._own, **at})
        if peer is None:
            return
        if peer == self._rank:
            raise ExpressionError("a rank does not send to itself")
        source, target = (self._rank, peer) if statement.sends else (peer, self._rank)
        axes = self._mesh.ordered(tuple(at))
        size = statement.size.size(names)
        yield Exchange(
            statement.sends, axes, source, target, size, statement.handle, statement.place
        )


def _plain(number: int) -> Value:
    return Value(Fraction(number))


def _verb_of(statement: Statement) -> str:
    if isinstance(statement, Transfer):
        return "send" if statement.sends else "recv"
    return type(statement).__name__.lower()


def _layer_names(layer: TimedLayer, number: int) -> dict[str, Value]:
    return {
        "layer.number": _plain(number),
        "layer.fwd": Value(Fraction(layer.forward_ps), "time"),
        "layer.bwd": Value(Fraction(layer.backward_ps), "time"),
        "layer.grad": Value(Fraction(sum(layer.gradients)), "bytes"),
        "layer.parameters": _plain(layer.parameters),
    }
