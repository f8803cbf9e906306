"""The committed results belong to the committed scenarios and can be made again."""

import csv
import hashlib
import importlib.util
import json
import re
import shutil
from pathlib import Path

import pytest

from innet import __version__
from innet.report.results import read_run
from innet.report.step_results import read_step_run
from innet.scenario.load import expand, load_scenario

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results"


def load_maker():
    spec = importlib.util.spec_from_file_location("make", RESULTS / "make.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


maker = load_maker()
NAMES = [
    path.stem
    for path in sorted((ROOT / "scenarios").glob("*.yaml"))
    if path.stem not in maker.LEFT_OUT
]


def run_of(name):
    return read_run(RESULTS / name)


def test_every_scenario_has_results_and_nothing_else_does():
    folders = sorted(path.name for path in RESULTS.iterdir() if (path / "manifest.json").exists())
    assert folders == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_results_are_of_the_scenario_as_it_is(name):
    stored = run_of(name)
    file = ROOT / "scenarios" / f"{name}.yaml"
    scenario = load_scenario(file)
    told = stored.manifest["scenario"]
    assert told["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert (told["file"], told["overrides"]) == (file.name, [])
    # Through JSON, whose keys are texts.
    assert told["resolved"] == json.loads(json.dumps(scenario.resolved()))
    assert stored.manifest["command"] == f"innet run scenarios/{name}.yaml"
    assert stored.manifest["complete"] is True
    assert stored.manifest["innet"] == __version__


@pytest.mark.parametrize("name", NAMES)
def test_results_are_whole_right_and_drawn(name):
    stored = run_of(name)
    points = expand(load_scenario(ROOT / "scenarios" / f"{name}.yaml"))
    assert [point.parameters for point in stored.results.points] == [
        point.parameters for point in points
    ]
    for point, result in zip(points, stored.results.points, strict=True):
        assert [run.algorithm for run in result.runs] == list(point.scenario.algorithms)
        assert all(run.wrong == 0 and run.time_ps >= run.bound_ps > 0 for run in result.runs)
    (plot,) = (RESULTS / name / "plots").iterdir()
    assert plot.suffix == ".svg"


def matplotlib_of(svg):
    return re.search(rb"Matplotlib v([0-9.]+)", svg).group(1)


def test_results_can_be_made_again_byte_for_byte(tmp_path, monkeypatch):
    import matplotlib

    for folder in ("scenarios", "results"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    monkeypatch.setattr(maker, "ROOT", tmp_path)
    monkeypatch.chdir(tmp_path)
    maker.main(["faults"])
    assert files_of(tmp_path / "results", ".csv", ".json") == files_of(RESULTS, ".csv", ".json")
    (plot,) = (RESULTS / "faults" / "plots").iterdir()
    kept = plot.read_bytes()
    if matplotlib_of(kept) == matplotlib.__version__.encode():
        assert (tmp_path / "results" / "faults" / "plots" / plot.name).read_bytes() == kept


def files_of(folder, *suffixes):
    return {
        path.relative_to(folder): path.read_bytes()
        for path in folder.rglob("*")
        if path.suffix in suffixes
    }


def test_layers_are_added_up():
    with (RESULTS / "gradients.csv").open() as file:
        rows = {(row["model"], row["algorithm"]): row for row in csv.DictReader(file)}
    for model, bytes_, layers in (
        ("resnet50", 4 * 25_557_032, 54),
        ("vgg16", 4 * 138_357_544, 16),
        ("bert_large", 4 * 335_141_888, 26),
    ):
        points = run_of(f"gradients_{model}").results.points
        for place, algorithm in enumerate(("in_network", "ring", "halving_doubling")):
            row = rows.pop((model, algorithm))
            assert (int(row["size_bytes"]), int(row["layers"])) == (bytes_, layers)
            assert int(row["time_ps"]) == sum(point.runs[place].time_ps for point in points)
    assert not rows


STEPS = [
    (RESULTS / "training" / "steps" / path.stem, [])
    for path in (ROOT / "scenarios" / "training").glob("*.yaml")
]
SWEEPS = [(RESULTS / "training" / "sweeps" / name, [swept]) for name, swept in maker.SWEPT.items()]


def test_every_training_step_has_results_and_nothing_else_does():
    for kind, named in (("steps", STEPS), ("sweeps", SWEEPS)):
        folders = set((RESULTS / "training" / kind).iterdir())
        assert folders == {folder for folder, _ in named}


@pytest.mark.parametrize(("folder", "overrides"), STEPS + SWEEPS)
def test_results_of_a_training_step_are_of_its_scenario_as_it_is(folder, overrides):
    stored = read_step_run(folder)
    file = ROOT / "scenarios" / "training" / f"{folder.name}.yaml"
    told = stored.manifest["scenario"]
    assert told["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert (told["file"], told["overrides"]) == (file.name, overrides)
    resolved = load_scenario(file, overrides).resolved()
    assert told["resolved"] == json.loads(json.dumps(resolved))
    assert stored.manifest["complete"] is True
    points = expand(load_scenario(file, overrides))
    for point, result in zip(points, stored.results.points, strict=True):
        assert result.parameters == point.parameters
        assert [run.algorithm for run in result.runs] == list(point.scenario.algorithms)
        assert all(run.step_ps >= run.bound_ps for run in result.runs)
    assert {path.name for path in folder.iterdir()} == {"manifest.json", "summary.json"}


def test_results_of_training_steps_can_be_made_again_byte_for_byte(tmp_path, monkeypatch):
    import matplotlib

    for folder in ("scenarios", "results"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    monkeypatch.chdir(tmp_path)
    maker.run_training(["hydra", "layer_local", "switchml_user_runs"], ["hydra"])
    maker.draw_training()
    maker.keep_results_alone(maker.TRAINING)
    made, kept = tmp_path / maker.TRAINING, RESULTS / "training"
    assert files_of(made, ".json", ".csv", ".gz") == files_of(kept, ".json", ".csv", ".gz")
    pictures = files_of(kept, ".svg")
    assert sorted(path.name for path in pictures) == [
        "gain_against_rate.svg",
        "gains.svg",
        "shares.svg",
        "timeline.svg",
    ]
    versions = {matplotlib_of(picture) for picture in pictures.values()}
    if versions == {matplotlib.__version__.encode()}:
        assert files_of(made, ".svg") == pictures
