"""Commented scenarios that `innet new` writes."""

from importlib.resources import files

SCHEMA_FILE = "innet.schema.json"


def template_names() -> tuple[str, ...]:
    """Return the names of the templates, in order."""
    found = (entry.name for entry in files(__name__).iterdir())
    return tuple(sorted(name.removesuffix(".yaml") for name in found if name.endswith(".yaml")))


def template_text(name: str) -> str:
    """Return the text of one of `template_names`."""
    return files(__name__).joinpath(f"{name}.yaml").read_text(encoding="utf-8")
