"""The samples' JSON is what p4c makes of their sources, where p4c is installed."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

COMPILER = "p4c-bm2-ss"
NAMES = ("router", "calculator", "stacks")
SAMPLES = Path(__file__).parent / "samples"


@pytest.mark.skipif(shutil.which(COMPILER) is None, reason=f"not installed: {COMPILER}")
@pytest.mark.parametrize("name", NAMES)
def test_a_sample_is_compiled_from_its_source(tmp_path, name):
    compiled = tmp_path / "compiled.json"
    subprocess.run([COMPILER, f"{name}.p4", "-o", str(compiled)], cwd=SAMPLES, check=True)
    committed = json.loads((SAMPLES / f"{name}.json").read_text())
    assert json.loads(compiled.read_text()) == committed


def test_every_sample_has_both():
    found = {(path.stem, path.suffix) for path in SAMPLES.iterdir() if path.suffix != ".txtpb"}
    assert found == {(name, end) for name in NAMES for end in (".p4", ".json")}
