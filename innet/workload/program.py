"""A rank's program: the statements of a step expanded, one action after another, for one rank.

Expressions are evaluated here, with the rank's coordinates (`tp`), the lengths of axes (`tp_n`),
`rank`, `ranks`, the names of `let`, `i` of the innermost repeat, in a collective's options `n`, the
ranks of its group, and `layer.fwd`, `.bwd`, `.grad`, `.parameters`, `.number`. A neighbour outside
the mesh is no operation.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import count

from innet.errors import ConfigurationError
from innet.workload.actions import Action, Await, Call, Exchange, TimedLayer, Work
from innet.workload.buckets import FIRST_BUCKET_BYTES
from innet.workload.expression import Expression, Names
from innet.workload.mesh import Mesh
from innet.workload.parse import Step
from innet.workload.slack import with_slack
from innet.workload.statements import (
    Block,
    Collective,
    Compute,
    Definition,
    Each,
    Repeat,
    Statement,
    Statements,
    Transfer,
    Wait,
    When,
)
from innet.workload.values import ExpressionError, Value


@dataclass(frozen=True, slots=True)
class Workload:
    """A step on a mesh: what all ranks run, with the names of `let` and the model's layers."""

    mesh: Mesh
    step: Step
    let: Mapping[str, Definition]
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
        self._buckets: dict[tuple[object, ...], _Bucket] = {}
        self._groups: dict[tuple[str, ...], tuple[int, ...]] = {}
        self._loops = count(1)
        self._names = self._first_names()

    def _first_names(self) -> dict[str, Value]:
        names = {axis: _plain(place) for axis, place in self._own.items()}
        names |= {f"{axis}_n": _plain(length) for axis, length in self._mesh.axes.items()}
        names |= {"rank": _plain(self._rank), "ranks": _plain(self._mesh.ranks)}
        for name, definition in self._workload.let.items():
            try:
                names[name] = definition.value.evaluate(names)
            except ExpressionError as error:
                file, line = definition.place
                told = f"rank {self._rank}: let {name}: {error}"
                raise ConfigurationError(told, file=file, line=line) from None
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
                yield from self._repeat(statement, names)
            case Each():
                yield from self._each(statement, names)
            case When():
                if statement.condition.evaluate(names).number:
                    yield from self._list(statement.do, names)
            case Block():
                yield from self._list(self._workload.step.blocks[statement.name], names)

    def _repeat(self, statement: Repeat, names: Names) -> Iterator[Action]:
        turns = (
            self._list(statement.do, {**names, "i": _plain(turn)})
            for turn in range(_count(statement.count, names, "count"))
        )
        slack = 0 if statement.slack is None else _count(statement.slack, names, "slack")
        if slack:
            yield from with_slack(turns, slack, f"loop {next(self._loops)} turn")
        else:
            for turn in turns:
                yield from turn

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
        group = self._group(statement.over)
        names = {**names, "n": _plain(len(group))}
        call = Call(
            statement.kind,
            statement.over,
            group,
            statement.size.size(names),
            statement.op,
            _root(statement, names, len(group)),
            statement.handle,
            statement.place,
            statement.dtype,
            None if statement.density is None else statement.density.share(names, "density"),
            _quorum(statement, names, len(group)),
            statement.lane,
        )
        if statement.bucket is None:
            yield call
            return
        limit = statement.bucket.size(names)
        bucket = self._buckets.setdefault(
            (call.handle, call.lane, call.axes, call.terms), _Bucket(call)
        )
        for part in self._parts(statement, names, call.size):
            yield from bucket.add(call._replace(size=part), limit)

    def _group(self, over: tuple[str, ...]) -> tuple[int, ...]:
        """Return the rank's group along some axes, worked out once."""
        if over not in self._groups:
            self._groups[over] = self._mesh.group(self._rank, over)
        return self._groups[over]

    def _parts(self, statement: Collective, names: Names, size: int) -> tuple[int, ...]:
        """Return a layer's gradients one by one, as buckets take tensors whole."""
        if statement.size.text.strip() == "layer.grad":
            number = names["layer.number"].number.numerator
            return tuple(reversed(self._workload.layers[number].gradients))
        return (size,)

    def _flush(self, handle: str | None) -> Iterator[Call]:
        """Issue what waits in buckets, of one handle or of all."""
        for key in [key for key in self._buckets if handle in (None, key[0])]:
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


def _count(expression: Expression, names: Names, what: str) -> int:
    found = expression.whole(names, what)
    if found < 0:
        raise ExpressionError(f"{what} {expression.text!r} is negative: {found}")
    return found


def _root(statement: Collective, names: Names, members: int) -> int:
    root = 0 if statement.root is None else statement.root.whole(names, "root")
    if not 0 <= root < members:
        raise ExpressionError(f"root {root} is outside the group of {members}")
    return root


def _quorum(statement: Collective, names: Names, members: int) -> int | None:
    """Return how many members are enough, None where it takes all of them."""
    if statement.quorum is None:
        return None
    quorum = statement.quorum.whole(names, "quorum")
    if not 1 <= quorum <= members:
        raise ExpressionError(f"quorum {quorum} lies outside 1 to {members}, the group's members")
    return None if quorum == members else quorum


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
