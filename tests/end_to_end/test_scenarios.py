"""Every scenario in scenarios/ runs in a short form, can be drawn as it says, and is explained."""

import json
import re
import shlex
import shutil
from pathlib import Path

import digits
import layers
import pytest

from innet.cli.main import run_command
from innet.scenario.create import schema_text
from innet.scenario.load import expand, load_scenario
from innet.scenario.templates import SCHEMA_FILE, template_text

FOLDER = Path(__file__).parents[2] / "scenarios"
NAMES = sorted(path.stem for path in FOLDER.glob("*.yaml"))

# What makes each scenario short: smaller tensors, fewer points.
SHORT = {
    "digits_gradients": [],
    "faults": [],
    "gradients_bert_large": ["sweep.collective.size=[64 KiB, 128 KiB, 128 KiB]"],
    "gradients_resnet50": ["sweep.collective.size=[64 KiB, 16 KiB, 16 KiB]"],
    "gradients_vgg16": ["sweep.collective.size=[16 KiB, 7168 B]"],
    "latency_vs_size": [
        "sweep.zip={collective.size: [1 KiB, 64 KiB], collective.check: [always, never]}"
    ],
    "line_rate": ["collective.size=64 KiB", "sweep.topology.workers=[2, 4]"],
    "loss_inflation": ["collective.size=128 KiB"],
    "published_benchmark": ["collective.size=128 KiB"],
    "quickstart": ["collective.size=128 KiB"],
    "slow_worker": ["collective.size=64 KiB"],
    "straggler": ["collective.size=64 KiB"],
    "two_racks": ["collective.size=32 KiB", "sweep.topology.oversubscription=[1, 16]"],
    "window_sweep": [
        "collective.size=64 KiB",
        "sweep.zip={switch.slots: [1, 4, 64], message.window: [1, 4, 64]}",
    ],
}


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    """The scenarios in a folder of their own, with the files of gradients that one reads."""
    folder = tmp_path_factory.mktemp("scenarios")
    for path in FOLDER.iterdir():
        if path.is_file():
            shutil.copy(path, folder)
    digits.write_gradients(folder / "digits")
    return folder


@pytest.fixture(scope="module")
def runs(copied):
    """Run a scenario in its short form, once; return its run directory."""
    done = {}

    def run(name):
        if name not in done:
            overrides = [word for key in SHORT[name] for word in ("--set", key)]
            file = str(copied / f"{name}.yaml")
            out = str(copied / "runs")
            command = ["run", file, "-q", "--no-plots", "--out", out, *overrides]
            assert run_command(command) == 0
            done[name] = copied / "runs" / name
        return done[name]

    return run


def test_the_scenarios_have_short_forms():
    assert set(SHORT) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_scenario_says_what_it_asks_from_where_and_how_to_draw_it(name):
    text = (FOLDER / f"{name}.yaml").read_text()
    assert text.startswith(f"# yaml-language-server: $schema={SCHEMA_FILE}\n")
    assert load_scenario(FOLDER / f"{name}.yaml").name == name
    if name != "quickstart":  # a commented template, not a question
        for word in ("# Question: ", "# Source: ", f"# Draw: innet plot runs/{name}"):
            assert word in text


def test_the_schema_beside_the_scenarios_is_that_of_this_version():
    assert (FOLDER / SCHEMA_FILE).read_text() == schema_text()


def test_innet_new_writes_the_quickstart():
    assert (FOLDER / "quickstart.yaml").read_text() == template_text("quickstart")


@pytest.mark.parametrize("name", SHORT)
def test_a_scenario_runs_and_no_sum_is_wrong(runs, name):
    summary = json.loads((runs(name) / "summary.json").read_text())
    found = [run for point in summary["points"] for run in point["runs"]]
    points = expand(load_scenario(FOLDER / f"{name}.yaml"))
    assert {run["algorithm"] for run in found} == set(points[0].scenario.algorithms)
    assert all(run["wrong"] == 0 for run in found)
    assert all(run["time_ps"] >= run["bound_ps"] > 0 for run in found)


@pytest.mark.parametrize("name", [name for name in SHORT if name != "quickstart"])
def test_a_scenario_can_be_drawn_as_it_says(runs, name, monkeypatch):
    monkeypatch.chdir(runs(name).parents[1])
    text = (FOLDER / f"{name}.yaml").read_text()
    command = re.search(r"^# Draw: innet (.*)$", text, re.MULTILINE).group(1)
    assert run_command([*shlex.split(command), "-q", "-o", f"{name}.svg"]) == 0
    assert Path(f"{name}.svg").read_bytes().startswith(b"<?xml")


@pytest.mark.parametrize(
    ("name", "model", "parameters"),
    [
        ("gradients_resnet50", layers.resnet50, 25_557_032),
        ("gradients_vgg16", layers.vgg16, 138_357_544),
        ("gradients_bert_large", layers.bert_large, 335_141_888),
    ],
)
def test_gradient_scenarios_have_every_layer_of_the_published_models(name, model, parameters):
    points = expand(load_scenario(FOLDER / f"{name}.yaml"))
    elements = [point.scenario.collective.elements for point in points]
    assert sum(elements) == parameters
    assert elements == model()[::-1]


def test_the_digits_are_learned_and_every_worker_has_gradients_of_its_own():
    local, losses = digits.train()
    assert losses[0] > 2 > 1 > losses[-1]
    hidden = [each["hidden.weight"] for each in local]
    assert all((one != hidden[0]).any() for one in hidden[1:])


def test_real_gradients_are_summed_and_checked(runs):
    (point,) = json.loads((runs("digits_gradients") / "summary.json").read_text())["points"]
    assert [run["algorithm"] for run in point["runs"]] == ["in_network", "ring"]
    for run in point["runs"]:
        assert (run["checked"], run["wrong"]) == (True, 0)
        assert run["size_bytes"] == 4 * (64 * 256 + 256 + 256 * 10 + 10)


def test_a_switch_that_forgets_is_survived_with_the_guard_alone(runs, copied, capfd):
    (point,) = json.loads((runs("faults") / "summary.json").read_text())["points"]
    (run,) = point["runs"]
    assert (run["checked"], run["wrong"]) == (True, 0)
    published = ["--set", "switch.guard=off", "--set", "limit=50 ms", "--set", "name=published"]
    command = ["run", str(copied / "faults.yaml"), "-q", "--no-plots", *published]
    assert run_command([*command, "--out", str(copied / "runs")]) == 1
    told = capfd.readouterr().err
    assert "in_network cannot finish: reached the simulated time limit" in told
    assert "the switch lacks the contribution of worker" in told
