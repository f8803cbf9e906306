"""Training scenarios through `run` and `sweep`: files, exit codes, and the same bytes from both."""

import csv
import json

import pytest

from innet.campaign.execute import execute
from innet.campaign.sweep import Crew, sweep
from innet.cli.main import run_command
from innet.errors import ConfigurationError
from tests.campaign.conftest import files_of
from tests.scenario.made_steps import step_text

STEP = [
    {"compute": "10 us"},
    {"all_reduce": {"size": "size", "over": "dp", "async": "g"}},
    {"compute": "3 us"},
    {"wait": "g"},
]
SWEEP = "sweep: {training.let.size: [1 KiB, 64 KiB, 1 KiB]}\n"


@pytest.fixture
def steps(tmp_path):
    path = tmp_path / "made.yaml"
    path.write_text(step_text(STEP, let={"size": "4 KiB"}) + SWEEP)
    return path


def quietly(_):
    pass


def test_a_run_directory_of_a_training_step(steps, request_of, tmp_path):
    outcome = execute(request_of(steps), quietly)
    folder = tmp_path / "runs" / "made"
    assert outcome.failures == []
    found = sorted(path.name for path in folder.iterdir())
    assert found == ["links.csv", "manifest.json", "operations.csv", "ranks.csv", "summary.json"]
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["kind"] == "training"
    times = [[run["step_ps"] for run in point["runs"]] for point in summary["points"]]
    # One packet: 10 us of compute, then 2 x (880 ns + 1 us) + 400 ns for its sum.
    assert times[0][0] == times[2][0] == 14_160_000
    with (folder / "operations.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["how"] for row in rows] == ["in_network", "ring"] * 3
    assert rows[2]["training.let.size"] == "64 KiB"
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["complete"]
    assert manifest["scenario"]["resolved"]["training"]["let"] == {"size": "4 KiB"}


@pytest.mark.parametrize("swept", [SWEEP, ""])
def test_a_sweep_leaves_the_same_files_and_keeps_its_points(steps, request_of, tmp_path, swept):
    steps.write_text(step_text(STEP, let={"size": "4 KiB"}) + swept)
    execute(request_of(steps, "run"), quietly)
    outcome = sweep(request_of(steps, "sweep"), Crew(1), quietly)
    again = sweep(request_of(steps, "sweep"), Crew(1), quietly)
    assert outcome.results == again.results
    kept = {
        name: data for name, data in files_of(tmp_path / "sweep").items() if "points" not in name
    }
    assert kept == files_of(tmp_path / "run")
    assert ("made/spans.csv.gz" in kept) == (not swept)


def test_a_step_that_cannot_end_is_told_and_the_others_are_kept(steps, capfd, tmp_path):
    stuck = [{"when": "rank < 3", "do": STEP}]
    steps.write_text(step_text(stuck, let={"size": "4 KiB"}))
    words = ["run", str(steps), "-q", "--no-plots", "--out", str(tmp_path)]
    assert run_command(words) == 1
    err = capfd.readouterr().err
    assert "deadlock" in err
    assert "not entered by rank 3 (ended)" in err
    assert "made.yaml:10)" in err
    assert "Traceback" not in err
    assert not json.loads((tmp_path / "made" / "manifest.json").read_text())["complete"]


def test_other_engines_and_emulation_refuse_a_training_step(steps, request_of, capfd):
    steps.write_text(steps.read_text() + "host: {send: 10 ns}\n")
    request = request_of(steps)
    with pytest.raises(ConfigurationError, match="the compiled engine does not simulate this"):
        execute(type(request)(steps, out=request.out, engine="compiled"), quietly)
    assert run_command(["emulate", str(steps), "--target", "soft"]) == 2
    assert f"{steps}:5: training: a training step runs in" in capfd.readouterr().err


def test_check_tells_how_operations_run(steps, capfd):
    assert run_command(["check", str(steps), "--show"]) == 0
    told = capfd.readouterr().out
    assert "4: dp 4; placed packed" in told
    assert "all_reduce of 4 ranks (1 different call): in_network" in told
    assert "aggregation tree of ranks 0, 1, 2, 3" in told
