"""Where the P4 program is: p4/ beside the package, or inside it once installed."""

from dataclasses import dataclass
from pathlib import Path

import innet
from innet.errors import ConfigurationError, MissingToolError

_PACKAGE = Path(innet.__file__).parent
_FOLDERS = (_PACKAGE / "p4", _PACKAGE.parent / "p4")


@dataclass(frozen=True, slots=True)
class Build:
    """The P4 program for packets of `elements` values: p4c's JSON and its P4Runtime names."""

    elements: int
    json: Path
    p4info: Path


def program_folder() -> Path:
    """The folder with the P4 program's source. MissingToolError if it is nowhere."""
    for folder in _FOLDERS:
        if (folder / "build" / "provenance.json").is_file():
            return folder
    raise MissingToolError(f"the P4 program is not in {' or '.join(map(str, _FOLDERS))}")


def build_folder() -> Path:
    """The folder with what p4c made of the program. MissingToolError if it is nowhere."""
    return program_folder() / "build"


def find_build(elements: int) -> Build:
    """The program for packets of `elements` values. ConfigurationError if there is none."""
    folder = build_folder()
    build = Build(
        elements, folder / f"innet_{elements}.json", folder / f"innet_{elements}.p4info.txtpb"
    )
    if not (build.json.is_file() and build.p4info.is_file()):
        sizes = sorted(
            int(path.stem.removeprefix("innet_")) for path in folder.glob("innet_*.json")
        )
        raise ConfigurationError(
            f"the P4 program is compiled for {', '.join(map(str, sizes))} values a packet, "
            f"not for {elements}"
        )
    return build
