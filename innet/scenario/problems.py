"""From pydantic's errors to configuration errors: file, line, key and what is allowed."""

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from pydantic import BaseModel, Tag, ValidationError

from innet.errors import ConfigurationError
from innet.scenario.document import dotted
from innet.scenario.located import KeyPath
from innet.scenario.quantities import shown

Place = tuple[str, int | None]


class ScenarioError(ConfigurationError):
    """Everything that is wrong with a scenario; its text has one problem a line."""

    def __init__(self, problems: Iterable[ConfigurationError]) -> None:
        self.problems = tuple(problems)
        first = self.problems[0]
        super().__init__(first.message, file=first.file, line=first.line, key=first.key)

    def __str__(self) -> str:
        return "\n".join(str(problem) for problem in self.problems)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the values of a scenario came from.

    `places` has the file and line of a path, or the option (`--set topology.workers`) that gave
    it; `point` names the point of a sweep that is being validated.
    """

    places: Mapping[KeyPath, Place]
    point: str = ""

    def error(self, path: KeyPath, message: str) -> ConfigurationError:
        """Return the error that locates `message` at the nearest known place of `path`."""
        if self.point:
            message = f"{message} (at the point {self.point} of the sweep)"
        file, line = self.place(path)
        key = dotted(path)
        if line is None and file.endswith(f" {key}"):
            key = None
        return ConfigurationError(message, file=file, line=line, key=key)

    def moved(self, changes: Mapping[KeyPath, Place], point: str = "") -> "Origin":
        """Return the origin after other values were put at the paths of `changes`."""
        kept = {
            path: place
            for path, place in self.places.items()
            if not any(path[: len(changed)] == changed for changed in changes)
        }
        return Origin({**kept, **changes}, point)

    def place(self, path: KeyPath) -> Place:
        """Return the place of the nearest known path at or above `path`."""
        for length in range(len(path), -1, -1):
            if path[:length] in self.places:
                return self.places[path[:length]]
        return "<scenario>", None


def explain(error: ValidationError, model: type[BaseModel], origin: Origin) -> ScenarioError:
    """Return the located errors of a failed validation, in the order of the file."""
    problems = []
    for detail in error.errors(include_url=False):
        tagged = tuple(_part(part) for part in detail["loc"] if part != "[key]")
        path = _untagged(tagged, model)
        if detail["type"] == "union_tag_not_found" and isinstance(detail["input"], Mapping):
            path = (*path, "kind")
        problems.append(origin.error(path, _message(detail, tagged, model)))
    return ScenarioError(sorted(problems, key=lambda problem: problem.line or 0))


def _untagged(path: KeyPath, model: type[BaseModel]) -> KeyPath:
    """Return a path without pydantic's tags, which say which of several models was taken."""
    return tuple(
        part
        for place, part in enumerate(path)
        if part not in _variants(_annotation_at(path[:place], model))
    )


def _part(part: str | int) -> str | int:
    """Undo that pydantic turns a number into a text where a mapping's key is wrong."""
    return int(part) if isinstance(part, str) and part.isdecimal() else part


def _message(detail: Mapping[str, Any], path: KeyPath, model: type[BaseModel]) -> str:
    kind = detail["type"]
    context = detail.get("ctx", {})
    if kind == "scenario":
        return str(context["problem"])
    if kind == "value_error":
        return str(context["error"])
    if kind == "union_tag_not_found":
        return _unknown_kind(detail["input"], path, model)
    if kind == "extra_forbidden":
        return _unknown_key(path, model)
    if kind == "missing":
        return f"this key is missing{_description(path, model)}"
    if kind in ("model_type", "model_attributes_type", "dict_type"):
        return f"must be a mapping of keys{_known_keys(path, model)}"
    if kind in ("tuple_type", "list_type"):
        return "must be a list"
    return str(detail["msg"])


def _unknown_kind(given: object, path: KeyPath, model: type[BaseModel]) -> str:
    if not isinstance(given, Mapping):
        return "must be a mapping of keys"
    kinds = ", ".join(_variants(_annotation_at(path, model)))
    return f"{shown(given.get('kind'))} is not a {path[-1]}; write one of {kinds}"


def _unknown_key(path: KeyPath, model: type[BaseModel]) -> str:
    parent = _model_at(path[:-1], model)
    keys = known_keys(parent) if parent else []
    near = difflib.get_close_matches(str(path[-1]), keys, n=1)
    hint = f"did you mean '{near[0]}'? " if near else ""
    return f"unknown key {shown(str(path[-1]))}; {hint}known keys here: {', '.join(keys)}"


def _known_keys(path: KeyPath, model: type[BaseModel]) -> str:
    here = _model_at(path, model)
    return f": {', '.join(known_keys(here))}" if here else ""


def _description(path: KeyPath, model: type[BaseModel]) -> str:
    parent = _model_at(path[:-1], model)
    for name, info in parent.model_fields.items() if parent else ():
        if path[-1] in (name, info.alias):
            if info.description:
                return f"; {info.description}"
            section = _model_in(info.annotation)
            return f"; a mapping of {', '.join(known_keys(section))}" if section else ""
    return ""


def known_keys(model: type[BaseModel]) -> list[str]:
    """Return the keys that a mapping of this model may have."""
    return [info.alias or name for name, info in model.model_fields.items()]


def _model_at(path: KeyPath, model: type[BaseModel]) -> type[BaseModel] | None:
    """Return the model that validates the mapping at `path`."""
    return _model_in(_annotation_at(path, model))


def _annotation_at(path: KeyPath, model: type[BaseModel]) -> object:
    """Return what the value at `path` is declared as, None where nothing is."""
    here: object = model
    for part in path:
        variants = _variants(here)
        if part in variants:
            here = variants[str(part)]
        elif _is_collection(here):
            here = get_args(here)[-1 if _is_mapping(here) else 0]
        else:
            section = _model_in(here)
            fields = section.model_fields.items() if section is not None else ()
            found = (info for name, info in fields if part in (name, info.alias))
            field = next(found, None)
            here = None if field is None else field.annotation
    return here


def _variants(annotation: object) -> dict[str, type[BaseModel]]:
    """Return the models of a tagged union by their tags."""
    return {
        note.tag: get_args(part)[0]
        for part in get_args(annotation)
        for note in getattr(part, "__metadata__", ())
        if isinstance(note, Tag)
    }


def _is_mapping(annotation: object) -> bool:
    return getattr(annotation, "__origin__", None) is dict


def _is_collection(annotation: object) -> bool:
    return getattr(annotation, "__origin__", None) in (dict, tuple, list)


def _model_in(annotation: object) -> type[BaseModel] | None:
    """Return the first model in an annotation such as `tuple[Fault, ...]` or `Drop | None`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for part in get_args(annotation):
        found = _model_in(part)
        if found is not None:
            return found
    return None
