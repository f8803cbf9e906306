"""Compile the P4 program for every packet size, and note what it was compiled from.

A folder that was compiled into has

    innet_K.json            what BMv2 and the pipeline in Python run, for K values a packet
    innet_K.p4info.txtpb    names and ids for P4Runtime
    provenance.json         SHA-256 of every source and output, and the compiler's version

p4/build is committed and comes with innet, so that nobody needs p4c to run it.
"""

import hashlib
import json
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from innet.emulator.control.build import program_folder
from innet.emulator.tools import require_tools
from innet.errors import InnetError

COMPILER = "p4c-bm2-ss"
ELEMENTS = (32, 64, 256)
SOURCE = "innet.p4"


def compile_program(out: Path, elements: Sequence[int] = ELEMENTS) -> list[Path]:
    """Compile the program for packets of each of `elements` values; return the files written.

    Raises MissingToolError without p4c, and InnetError with what p4c says if it fails.
    """
    require_tools([COMPILER])
    out.mkdir(parents=True, exist_ok=True)
    outputs = [file for number in elements for file in _compile(out.resolve(), number)]
    sources = sorted(program_folder().glob("*.p4"))
    provenance = {
        "compiler": _version(),
        "elements": list(elements),
        "sources": {path.name: _sha256(path) for path in sources},
        "outputs": {path.name: _sha256(path) for path in sorted(outputs)},
    }
    noted = out / "provenance.json"
    noted.write_text(json.dumps(provenance, indent=2) + "\n")
    return [*(out / path.name for path in outputs), noted]


def differing(one: Path, other: Path) -> list[str]:
    """The outputs that two compiled folders both have and that differ, by name."""
    before, after = (json.loads((each / "provenance.json").read_text()) for each in (one, other))
    hashes, others = before["outputs"], after["outputs"]
    return [name for name in hashes if name in others and hashes[name] != others[name]]


def _compile(out: Path, elements: int) -> list[Path]:
    """Compile where the source is, so that the output names the sources without a path."""
    program, names = out / f"innet_{elements}.json", out / f"innet_{elements}.p4info.txtpb"
    command = [COMPILER, "-D", f"ELEMENTS={elements}", "--p4runtime-files", str(names)]
    command += ["-o", str(program), SOURCE]
    ran = subprocess.run(command, cwd=program_folder(), capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise InnetError(f"{COMPILER} failed for {elements} values a packet:\n{ran.stderr.strip()}")
    return [program, names]


def _version() -> str:
    """The version as the compiler prints it, without the path that it may print before."""
    asked = [COMPILER, "--version"]
    printed = subprocess.run(asked, capture_output=True, text=True, check=False)
    found = re.search(r"Version (.+)", printed.stdout + printed.stderr)
    if found is None:
        raise InnetError(f"{COMPILER} --version printed no version")
    return f"{COMPILER} {found.group(1).strip()}"


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
