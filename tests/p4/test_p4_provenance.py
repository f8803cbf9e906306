"""The committed BMv2 JSON and p4info are what the P4 sources beside them compile to.

No compiler is needed here: the hashes that `innet p4 compile` noted must still be right.
"""

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from innet.emulator.compiler import COMPILER, compile_program, differing

AGAIN = "run innet p4 compile --out p4/build"
P4 = Path(__file__).resolve().parents[2] / "p4"
PROVENANCE = json.loads((P4 / "build" / "provenance.json").read_text())


def hashes(folder: Path, pattern: str) -> dict[str, str]:
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob(pattern)
    }


def test_the_sources_have_not_changed_since_they_were_compiled():
    assert hashes(P4, "*.p4") == PROVENANCE["sources"], AGAIN


def test_the_outputs_are_the_compilers_own():
    assert hashes(P4 / "build", "innet_*") == PROVENANCE["outputs"], AGAIN


def test_the_compiler_is_named():
    assert PROVENANCE["compiler"].startswith("p4c-bm2-ss 1.")


@pytest.mark.parametrize("elements", PROVENANCE["elements"])
def test_a_program_carries_the_values_it_was_compiled_for(elements):
    program = json.loads((P4 / "build" / f"innet_{elements}.json").read_text())
    values = next(h for h in program["header_types"] if h["name"] == "values_t")
    assert len(values["fields"]) == elements
    assert all(width == 32 for _, width, *_ in values["fields"])


@pytest.mark.parametrize("elements", PROVENANCE["elements"])
def test_an_output_names_sources_without_a_path(elements):
    program = json.loads((P4 / "build" / f"innet_{elements}.json").read_text())
    assert program["program"] == "innet.p4"


@pytest.mark.skipif(shutil.which(COMPILER) is None, reason=f"{COMPILER} is not installed")
def test_the_compiler_makes_the_same_of_the_sources(tmp_path):
    compile_program(tmp_path, (32,))
    assert differing(P4 / "build", tmp_path) == []
