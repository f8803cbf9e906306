"""Compile the P4 program for every packet size and note what it was compiled from.

Needs p4c's BMv2 back end (`p4c-bm2-ss`) on the PATH. What it writes below build/ is
committed, so that nobody needs p4c to run innet:

    innet_K.json            what BMv2 (and innet's own pipeline) runs, K values a packet
    innet_K.p4info.txtpb    names and ids for P4Runtime
    provenance.json         SHA-256 of every source and output, and the compiler's version

A test compares the hashes, so run this after every change of a .p4 file.
"""

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILD = HERE / "build"
COMPILER = "p4c-bm2-ss"
ELEMENTS = (32, 64, 256)


def sha256(path: Path) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def compiler_version() -> str:
    """The version as the compiler prints it, without the path that it may print before."""
    printed = subprocess.run([COMPILER, "--version"], capture_output=True, text=True, check=True)
    found = re.search(r"Version (.+)", printed.stdout + printed.stderr)
    if not found:
        raise SystemExit(f"{COMPILER} --version printed no version")
    return f"{COMPILER} {found.group(1).strip()}"


def compile_for(elements: int) -> None:
    """Compile from this folder, so that the output names the sources without a path."""
    command = [COMPILER, "-D", f"ELEMENTS={elements}"]
    command += ["--p4runtime-files", f"build/innet_{elements}.p4info.txtpb"]
    command += ["-o", f"build/innet_{elements}.json", "innet.p4"]
    subprocess.run(command, cwd=HERE, check=True)


def main() -> None:
    """Write everything below build/."""
    BUILD.mkdir(exist_ok=True)
    for elements in ELEMENTS:
        compile_for(elements)
    outputs = [path for path in BUILD.iterdir() if path.name.startswith("innet_")]
    provenance = {
        "compiler": compiler_version(),
        "elements": ELEMENTS,
        "sources": {path.name: sha256(path) for path in sorted(HERE.glob("*.p4"))},
        "outputs": {path.name: sha256(path) for path in sorted(outputs)},
    }
    (BUILD / "provenance.json").write_text(json.dumps(provenance, indent=2) + "\n")


if __name__ == "__main__":
    try:
        main()
    except FileNotFoundError:
        sys.exit(f"{COMPILER} is not on the PATH; it is part of p4c (github.com/p4lang/p4c)")
