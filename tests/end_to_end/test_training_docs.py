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


def test_every_published_strategy_is_listed():
    folder = Path(__file__).parents[2] / "scenarios" / "training"
    told = [cell.strip(" `") for cell in first_cells(section("Published strategies"))]
    assert sorted(told) == sorted(path.stem for path in folder.glob("*.yaml"))


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


def operations(summary):
    """How the operations of the run in the network ran: (operation, axes, how)."""
    return {(each["operation"], each["axes"], each["how"]) for each in rows(summary)}


def rows(summary):
    (run,) = (run for run in summary["points"][0]["runs"] if run["algorithm"] == "in_network")
    return run["operations"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_runs_both_ways(summaries, name):
    (point,) = summaries[name]["points"]
    assert [run["algorithm"] for run in point["runs"]] == ["in_network", "ring"]
    assert all(run["step_ps"] > 0 for run in point["runs"])


def test_what_the_page_says_is_not_offloaded_is_not(summaries):
    assert operations(summaries["stale_synchronous"]) == {
        ("reduce_scatter", "w", "pairwise"),
        ("all_reduce", "w", "in_network"),
    }
    assert operations(summaries["sparse_tables"]) == {
        ("all_to_all", "mp", "pairwise"),
        ("all_reduce", "rep", "in_network"),
        ("all_reduce", "rep,mp", "in_network"),
    }
    assert operations(summaries["three_dimensions"]) == {
        ("send", "pp", "send"),
        ("all_reduce", "tp", "in_network"),
        ("all_reduce", "dp", "in_network"),
    }


def test_a_quorum_is_said_wherever_it_was_used(summaries):
    found = {(each["calls"], each["how"]): each for each in rows(summaries["smooth_switch"])}
    # K is 1, 1, 2, 2, 3, 3 and then all four.
    assert set(found) == {(6, "ring"), (2, "in_network")}
    assert found[2, "in_network"]["modelled"] == ""
    assert "times of entry" in found[6, "ring"]["modelled"]
    assert "quorum" in found[6, "ring"]["why"]
