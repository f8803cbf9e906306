"""Plain data as JSON and back: what an emulation tells its processes.

Dataclasses and named tuples become objects, tuples and lists become arrays, bytes become
hexadecimal text. Reading back takes the wanted type, so nothing of a document decides what is
made of it.
"""

import dataclasses
import types
import typing
from typing import Any, TypeVar

T = TypeVar("T")


def encode(value: Any) -> Any:  # noqa: ANN401 - any plain data
    """What json.dumps takes, for dataclasses, named tuples, tuples, lists, dicts and bytes."""
    if dataclasses.is_dataclass(value):
        return {
            field.name: encode(getattr(value, field.name)) for field in dataclasses.fields(value)
        }
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: encode(part) for name, part in value._asdict().items()}
    if isinstance(value, tuple | list):
        return [encode(part) for part in value]
    if isinstance(value, dict):
        return {name: encode(part) for name, part in value.items()}
    return value


def decode(kind: type[T], document: Any) -> T:  # noqa: ANN401
    """The value of type `kind` that `encode` made `document` of. ValueError if it was not."""
    try:
        value: T = _decode(kind, document)
    except (TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"no {kind.__name__}: {error}") from None
    return value


def _decode(kind: Any, document: Any) -> Any:  # noqa: ANN401
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Union or origin is types.UnionType:
        return _decode_optional(arguments, document)
    if origin is tuple:
        return tuple(_decode(arguments[0], part) for part in document)
    if origin is dict:
        return {name: _decode(arguments[1], part) for name, part in document.items()}
    if kind is bytes:
        return bytes.fromhex(document)
    if dataclasses.is_dataclass(kind) or hasattr(kind, "_fields"):
        types_of = typing.get_type_hints(kind)
        made: Any = kind
        return made(**{name: _decode(types_of[name], part) for name, part in document.items()})
    return document


def _decode_optional(kinds: tuple[Any, ...], document: Any) -> Any:  # noqa: ANN401
    if document is None:
        return None
    (kind,) = (kind for kind in kinds if kind is not type(None))
    return _decode(kind, document)
