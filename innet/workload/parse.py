"""From the plain lists and mappings of a YAML file to the statements of a training step.

A statement is the name of a block, or a mapping with one verb or control key:
`compute: TIME`, `all_reduce: {size, over, dtype, density, lane, bucket, async}` and the other
collectives (op and quorum where something is summed, root for broadcast, reduce and gather),
`barrier: {over, async}`, `send: {to, size, async}`, `recv: {from, size, async}`, `wait: NAME`,
`{repeat: COUNT, slack, do}`, `{each: layer, do}`, `{each: layer reversed, do}`,
`{when: CONDITION, do}`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from innet.errors import ConfigurationError
from innet.workload.expression import Expression, parse_expression
from innet.workload.statements import (
    COLLECTIVES,
    ELEMENT_TYPES,
    REDUCTIONS,
    Block,
    Collective,
    CollectiveKind,
    Compute,
    Definition,
    Each,
    Place,
    Repeat,
    Statement,
    Statements,
    Transfer,
    Wait,
    When,
)
from innet.workload.values import ExpressionError

Path = tuple[str | int, ...]
Locate = Callable[[Path], Place]

_CONTROLS = {"repeat": ("repeat", "do", "slack"), "each": ("each", "do"), "when": ("when", "do")}
VERBS = ("compute", *COLLECTIVES, "barrier", "send", "recv", "wait")
_ROOTED = ("broadcast", "reduce", "gather")
STATEMENT_KEYS = (*VERBS, *dict.fromkeys(key for keys in _CONTROLS.values() for key in keys))
_SUMMED = ("all_reduce", "reduce_scatter", "reduce")
# What every collective takes, what some take, and what is written as an expression.
_COMMON = ("bucket", "dtype", "density", "lane")
_VALUES = ("root", "bucket", "density", "quorum")
# torch.distributed's barrier over NCCL sums one element too.
_BARRIER_BYTES = 4
# The names that a step has without `let`, beside its axes and their lengths.
_GIVEN = ("rank", "ranks", "i", "n")


@dataclass(frozen=True, slots=True)
class Step:
    """The parsed step of every rank and the blocks that it names."""

    step: Statements
    blocks: Mapping[str, Statements]


def parse_step(
    step: object, blocks: Mapping[str, object], axes: Sequence[str], locate: Locate
) -> Step:
    """Return a step over the axes of a mesh.

    `locate` gives the place of a path such as ("step", 2, "do", 0) or ("blocks", "fwd", 1).
    Raises ConfigurationError with file, line and key, and what would be right.
    """
    parser = _Parser(axes, blocks, locate)
    parsed = {name: parser.statements(body, ("blocks", name)) for name, body in blocks.items()}
    whole = Step(parser.statements(step, ("step",)), parsed)
    _refuse_cycles(whole)
    return whole


def parse_let(
    let: Mapping[str, object], axes: Sequence[str], locate: Locate
) -> dict[str, Definition]:
    """Return the names that a step defines, in order; each may use those before it.

    Raises ConfigurationError with file, line and key ("let", name), and what would be right.
    """
    parser = _Parser(axes, {}, locate)
    return {name: parser.definition(name, value) for name, value in let.items()}


class _Parser:
    def __init__(self, axes: Sequence[str], blocks: Mapping[str, object], locate: Locate) -> None:
        self._axes, self._blocks, self._locate = axes, blocks, locate

    def _error(self, path: Path, message: str) -> ConfigurationError:
        place = self._locate(path)
        key = ".".join(map(str, path))
        return ConfigurationError(message, file=place.file, line=place.line, key=key)

    def statements(self, value: object, path: Path) -> Statements:
        if not isinstance(value, list | tuple):
            raise self._error(path, "must be a list of statements")
        return tuple(self._statement(item, (*path, place)) for place, item in enumerate(value))

    def _statement(self, value: object, path: Path) -> Statement:
        place = self._locate(path)
        if isinstance(value, str):
            if value not in self._blocks:
                known = ", ".join(self._blocks) or "none"
                raise self._error(path, f"unknown block {value!r}; blocks are {known}")
            return Block(value, place)
        if not isinstance(value, Mapping):
            raise self._error(path, f"must be a block's name or a mapping with {_known()}")
        heads = [key for key in value if key in (*_CONTROLS, *VERBS)]
        if len(heads) != 1:
            raise self._error(path, f"must have exactly one of {_known()}")
        head = heads[0]
        self._only(value, _CONTROLS.get(head, (head,)), path)
        if head in _CONTROLS:
            return self._control(head, value, path, place)
        return self._verb(head, value[head], (*path, head), place)

    def _only(self, value: Mapping[Any, Any], allowed: Sequence[str], path: Path) -> None:
        for key in value:
            if key not in allowed:
                raise self._error(
                    (*path, key), f"unknown key {key!r}; known here are {', '.join(allowed)}"
                )

    def definition(self, name: object, value: object) -> Definition:
        path = ("let", str(name))
        if not isinstance(name, str) or not name.isidentifier():
            raise self._error(path, f"{name!r} is not a name")
        given = (*self._axes, *(f"{axis}_n" for axis in self._axes), *_GIVEN)
        if name in given:
            told = f"{name} has a meaning already, as have {', '.join(given)}"
            raise self._error(path, told)
        return Definition(self._expression(value, path), self._locate(path))

    def _control(
        self, head: str, value: Mapping[str, Any], path: Path, place: Place
    ) -> Repeat | Each | When:
        do = self.statements(value.get("do"), (*path, "do"))
        if head == "each":
            if value[head] not in ("layer", "layer reversed"):
                raise self._error((*path, head), "write layer, or layer reversed")
            return Each(value[head] == "layer reversed", do, place)
        expression = self._expression(value[head], (*path, head))
        if head == "when":
            return When(expression, do, place)
        return Repeat(expression, do, place, self._given(value, "slack", path))

    def _given(self, value: Mapping[str, Any], key: str, path: Path) -> Expression | None:
        return self._expression(value[key], (*path, key)) if key in value else None

    def _expression(self, value: object, path: Path) -> Expression:
        try:
            return parse_expression(value)
        except ExpressionError as error:
            raise self._error(path, str(error)) from None

    def _verb(self, verb: str, value: Any, path: Path, place: Place) -> Statement:  # noqa: ANN401
        if verb == "compute":
            return Compute(self._expression(value, path), place)
        if verb == "wait":
            return Wait(self._handle(value, path), place)
        if not isinstance(value, Mapping):
            raise self._error(path, "must be a mapping of options, for example {size: 25 MiB}")
        if verb in ("send", "recv"):
            return self._transfer(verb, value, path, place)
        if verb == "barrier":
            return self._barrier(value, path, place)
        kind = next(kind for kind in COLLECTIVES if kind == verb)
        return self._collective(kind, value, path, place)

    def _handle(self, value: object, path: Path) -> str:
        if not isinstance(value, str) or not value.isidentifier():
            raise self._error(path, f"{value!r} is not a name")
        return value

    def _options(
        self, value: Mapping[str, Any], required: Sequence[str], others: Sequence[str], path: Path
    ) -> str | None:
        """Check the keys of an operation; return its handle."""
        self._only(value, (*required, *others, "async"), path)
        for key in required:
            if key not in value:
                raise self._error(path, f"{key} is missing")
        return self._handle(value["async"], (*path, "async")) if "async" in value else None

    def _transfer(self, verb: str, value: Mapping[str, Any], path: Path, place: Place) -> Transfer:
        end = "to" if verb == "send" else "from"
        handle = self._options(value, (end, "size"), (), path)
        peer, here = value[end], (*path, end)
        if not isinstance(peer, Mapping) or not peer:
            raise self._error(here, "must be a mapping of axes, for example {pp: pp+1}")
        self._only(peer, self._axes, here)
        return Transfer(
            verb == "send",
            {axis: self._expression(at, (*here, axis)) for axis, at in peer.items()},
            self._expression(value["size"], (*path, "size")),
            place,
            handle,
        )

    def _collective(
        self,
        kind: CollectiveKind,
        value: Mapping[str, Any],
        path: Path,
        place: Place,
    ) -> Collective:
        extras = [*_COMMON]
        extras += ["root"] if kind in _ROOTED else []
        extras += ["op", "quorum"] if kind in _SUMMED else []
        handle = self._options(value, ("size", "over"), extras, path)
        for key, known in (("op", REDUCTIONS), ("dtype", ELEMENT_TYPES)):
            if key in value and value[key] not in known:
                raise self._error((*path, key), f"write one of {', '.join(known)}")
        return Collective(
            kind,
            self._expression(value["size"], (*path, "size")),
            self._over(value["over"], (*path, "over")),
            place,
            op=value.get("op", "sum"),
            handle=handle,
            dtype=value.get("dtype"),
            lane=self._handle(value["lane"], (*path, "lane")) if "lane" in value else None,
            **{key: self._given(value, key, path) for key in _VALUES},
        )

    def _barrier(self, value: Mapping[str, Any], path: Path, place: Place) -> Collective:
        handle = self._options(value, ("over",), (), path)
        over = self._over(value["over"], (*path, "over"))
        size = parse_expression(_BARRIER_BYTES)
        return Collective("all_reduce", size, over, place, handle=handle, dtype="int32")

    def _over(self, value: object, path: Path) -> tuple[str, ...]:
        names = [name.strip() for name in value.split(",")] if isinstance(value, str) else []
        known = ", ".join(self._axes)
        if not names or len(set(names)) < len(names):
            raise self._error(path, f"write axes of the mesh ({known}), separated by commas")
        for name in names:
            if name not in self._axes:
                raise self._error(path, f"unknown axis {name!r}; the mesh has {known}")
        return tuple(axis for axis in self._axes if axis in names)


def _known() -> str:
    return ", ".join((*_CONTROLS, *VERBS))


def _refuse_cycles(whole: Step) -> None:
    """Refuse blocks that lead back to themselves."""
    finished: set[str] = set()

    def visit(statements: Statements, above: tuple[str, ...]) -> None:
        for statement in statements:
            if isinstance(statement, Repeat | Each | When):
                visit(statement.do, above)
            elif isinstance(statement, Block) and statement.name not in finished:
                if statement.name in above:
                    told = " -> ".join((*above, statement.name))
                    place = statement.place
                    raise ConfigurationError(
                        f"a block leads back to itself: {told}", file=place.file, line=place.line
                    )
                visit(whole.blocks[statement.name], (*above, statement.name))
                finished.add(statement.name)

    visit(whole.step, ())
