"""docs/training.md: its examples run, and it names every statement and option."""

import json
import re
from pathlib import Path

import pytest

from innet.cli.main import run_command
from innet.workload.parse import STATEMENT_KEYS
from innet.workload.statements import COLLECTIVES

PAGE = (Path(__file__).parents[2] / "docs" / "training.md").read_text()
EXAMPLES = {
    re.search(r"^name: (.*)$", text, re.MULTILINE).group(1): text
    for text in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
}


def section(title):
    return re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE).group(1)


def first_cells(text):
    return [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]


@pytest.fixture(scope="module")
def summaries(tmp_path_factory):
    """The summary.json of every example."""
    folder = tmp_path_factory.mktemp("training_docs")
    found = {}
    for name, text in EXAMPLES.items():
        path = folder / f"{name}.yaml"
        path.write_text(text)
        command = ["run", str(path), "-q", "--no-plots", "--out", str(folder / "runs")]
        assert run_command(command) == 0
        found[name] = json.loads((folder / "runs" / name / "summary.json").read_text())
    return found


def test_there_are_five_examples():
    assert list(EXAMPLES) == [
        "data_parallel",
        "three_dimensions",
        "sparse_tables",
        "stale_synchronous",
        "smooth_switch",
    ]


def test_every_statement_is_explained():
    told = set(re.findall(r"`(\w+):", "\n".join(first_cells(section("Statements")))))
    options = {"async", "dtype", "density", "bucket", "op", "quorum", "root", "slack", "lane"}
    assert told | options >= {*STATEMENT_KEYS} - {"do"}
    assert set(COLLECTIVES) <= told
