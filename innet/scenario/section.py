"""The base of every mapping in a scenario: frozen, without unknown keys, documented defaults."""

from typing import Any

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, PydanticUndefined

from innet.scenario.quantities import Parsed


class Section(BaseModel):
    """A mapping of a scenario; its field names, or their aliases, are the keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Show defaults as a file would hold them; those of whole sections stand in the section."""
        schema = handler.resolve_ref_schema(handler(core_schema))
        properties = schema.get("properties", {})
        for name, info in cls.model_fields.items():
            shown = properties.get(info.alias or name, {})
            shown.pop("title", None)
            shown.pop("default", None)
            default = _written(info)
            if default is not None:
                shown["default"] = default
        return schema


def _written(info: FieldInfo) -> object:
    """Return a default as a file would hold it, None where there is none to show."""
    if info.default is PydanticUndefined or isinstance(info.default, BaseModel):
        return None
    for note in info.metadata:
        if isinstance(note, Parsed):
            return note.write(info.default)
    return info.default
