"""A small, strict reader of YAML that keeps the line of every key.

Scalars are YAML 1.2's, less what surprises: `true` and `false` are the only booleans (`yes`,
`on` and `12:30` are texts), whole numbers are decimal without leading zeros, `1e-4` is a number.
A key of digits is a whole number, quoted or not, since JSON has to quote it. Duplicate keys,
anchors, aliases, merge keys, tags and several documents are refused.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from innet.errors import ConfigurationError
from innet.scenario.located import KeyPath

MAXIMUM_CHARACTERS = 2**20
MAXIMUM_DEPTH = 20
MAXIMUM_VALUES = 30_000

_WHOLE = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_REAL = re.compile(r"[-+]?(\.[0-9]+|(0|[1-9][0-9]*)(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_NAMED: Mapping[str, bool | None] = {
    "": None,
    "~": None,
    "null": None,
    "true": True,
    "false": False,
}
# Python refuses to convert longer texts to int; no number of a scenario comes near it.
_LONGEST_NUMBER = 100


@dataclass(frozen=True, slots=True)
class Document:
    """The values of a YAML text, and the 1-based line of every key and list item."""

    file: str
    value: Any
    lines: dict[KeyPath, int] = field(default_factory=dict)


def read_document(text: str, file: str) -> Document:
    """Parse a YAML text; ConfigurationError names `file` and the line of what is wrong."""
    if len(text) > MAXIMUM_CHARACTERS:
        raise ConfigurationError(f"longer than {MAXIMUM_CHARACTERS} characters", file=file)
    try:
        return _Reader(text, file).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = 1 if mark is None else mark.line + 1
        told = ", ".join(part for part in (error.context, error.problem) if part)
        raise ConfigurationError(f"not valid YAML: {told}", file=file, line=line) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        told = f"not valid YAML: the character {error.character!r} is not allowed"
        raise ConfigurationError(told, file=file, line=line) from None


def resolve_scalar(text: str) -> str | int | float | bool | None:
    """Return what an unquoted YAML scalar means."""
    if text in _NAMED:
        return _NAMED[text]
    if len(text) <= _LONGEST_NUMBER:
        if _WHOLE.fullmatch(text):
            return int(text)
        if _REAL.fullmatch(text):
            return float(text)
        if _NOT_FINITE.fullmatch(text):
            return float(text.replace(".", ""))
    return text


class _Reader:
    """Recursive descent over PyYAML's events."""

    def __init__(self, text: str, file: str) -> None:
        self._events: Iterator[Any] = yaml.parse(text, Loader=yaml.SafeLoader)
        self._file = file
        self._lines: dict[KeyPath, int] = {}
        self._values = 0

    def document(self) -> Document:
        next(self._events)
        event = next(self._events)
        if isinstance(event, yaml.StreamEndEvent):
            return Document(self._file, None, {(): 1})
        self._lines[()] = event.start_mark.line + 1
        value = self._value(next(self._events), ())
        next(self._events)
        after = next(self._events)
        if not isinstance(after, yaml.StreamEndEvent):
            raise self._error(after, "a second document begins; a file holds one scenario")
        return Document(self._file, value, self._lines)

    def _value(self, event: Any, path: KeyPath) -> Any:  # noqa: ANN401
        self._refuse_extras(event, path)
        if isinstance(event, yaml.ScalarEvent):
            return resolve_scalar(event.value) if event.implicit[0] else event.value
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(path)
        return self._mapping(path)

    def _refuse_extras(self, event: Any, path: KeyPath) -> None:  # noqa: ANN401
        self._values += 1
        if self._values > MAXIMUM_VALUES:
            raise self._error(event, f"more than {MAXIMUM_VALUES} values")
        if len(path) > MAXIMUM_DEPTH:
            raise self._error(event, f"nested deeper than {MAXIMUM_DEPTH} levels")
        if isinstance(event, yaml.AliasEvent):
            raise self._error(event, f"alias *{event.anchor}: write the value out instead")
        if event.anchor is not None:
            raise self._error(event, f"anchor &{event.anchor}: write the value out instead")
        if event.tag is not None:
            raise self._error(event, f"tag {event.tag}: tags are not allowed")

    def _sequence(self, path: KeyPath) -> list[Any]:
        items: list[Any] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            here = (*path, len(items))
            self._lines[here] = event.start_mark.line + 1
            items.append(self._value(event, here))
        return items

    def _mapping(self, path: KeyPath) -> dict[str | int, Any]:
        entries: dict[str | int, Any] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._key(event, path)
            here = (*path, key)
            if key in entries:
                first = self._lines[here]
                told = f"duplicate key, first given in line {first}"
                raise self._error(event, told, here)
            self._lines[here] = event.start_mark.line + 1
            entries[key] = self._value(next(self._events), here)
        return entries

    def _key(self, event: Any, path: KeyPath) -> str | int:  # noqa: ANN401
        self._refuse_extras(event, path)
        if not isinstance(event, yaml.ScalarEvent):
            raise self._error(event, "a key must be a name or a whole number", path)
        if event.implicit[0] and event.value == "<<":
            raise self._error(event, "merge key <<: write the keys out instead", path)
        plain = event.implicit[0] or _WHOLE.fullmatch(event.value)
        key = resolve_scalar(event.value) if plain else event.value
        if isinstance(key, bool) or not isinstance(key, str | int):
            told = f"'{event.value}' cannot be a key; write a name or a whole number"
            raise self._error(event, told, path)
        return key

    def _error(self, event: Any, message: str, path: KeyPath = ()) -> ConfigurationError:  # noqa: ANN401
        line = event.start_mark.line + 1
        return ConfigurationError(message, file=self._file, line=line, key=dotted(path))


def dotted(path: KeyPath) -> str | None:
    """Write a path as `topology.link.rate`, None for the root; never with a line break in it."""
    parts = [str(part) for part in path]
    return ".".join(part if part.isprintable() else repr(part) for part in parts) or None
