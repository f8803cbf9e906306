"""Write a new scenario file, with the JSON Schema beside it that editors check it against."""

import json
import re
from pathlib import Path

from innet.errors import ConfigurationError
from innet.files import write_whole
from innet.scenario.quantities import is_name
from innet.scenario.schema import Scenario
from innet.scenario.templates import SCHEMA_FILE, template_names, template_text


def schema_text() -> str:
    """Return the JSON Schema of scenario files, indented, ending in a newline."""
    return json.dumps(Scenario.json_schema(), indent=2) + "\n"


def create_scenario(path: Path, template: str, force: bool = False) -> tuple[Path, ...]:
    """Write a template to `path` under the path's own name, and the schema beside it.

    Returns the files written. ConfigurationError: an unknown template, a file that exists
    (unless `force`), or a folder that cannot be written.
    """
    if template not in template_names():
        raise ConfigurationError(
            f"there is no template '{template}'; one of {', '.join(template_names())}"
        )
    if path.is_dir():
        raise ConfigurationError("is a folder; name a file", file=str(path))
    if path.exists() and not force:
        raise ConfigurationError("exists already; --force replaces it", file=str(path))
    text = template_text(template)
    if is_name(path.stem):
        text = re.sub(r"^name: .*$", f"name: {path.stem}", text, count=1, flags=re.MULTILINE)
    write_whole(path, text.encode())
    schema = path.parent / SCHEMA_FILE
    write_whole(schema, schema_text().encode())
    return path, schema
