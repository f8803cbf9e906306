"""Regenerate the committed results: run the scenarios and draw what they ask.

    python results/make.py [NAME...]

Each scenario's run directory becomes results/NAME, drawn as the scenario's line `# Draw:` says.
Models whose layers are scenarios of their own are added up in gradients.csv. The name `training`
stands for all training steps, of which results/training keeps what was run and its results.
"""

import csv
import io
import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

from innet.cli.main import run_command
from innet.files import write_whole

ROOT = Path(__file__).parents[1]
RESULTS = Path("results")
SCENARIOS = Path("scenarios")
# Its tensors are made by the tests, where its sums are checked; there is nothing to draw.
LEFT_OUT = ("digits_gradients",)
MODELS = ("resnet50", "vgg16", "bert_large")
TRAINING = RESULTS / "training"
STEPS = TRAINING / "steps"
SWEEPS = TRAINING / "sweeps"
RATES = (1, 2, 5, 10, 20, 50, 100, 200, 400, 800)
# What is swept of a step beyond what its scenario says.
SWEPT = {
    "hydra": "sweep.training.let.models=[1, 4]",
    "switchml": f"sweep.topology.link.rate=[{', '.join(f'{rate} Gbps' for rate in RATES)}]",
}
# Of one point, so that there are spans; and few enough ranks to be told apart in print.
TIMELINE = "layer_local"
SHARES = ("switchml", "asa", "layer_local", "sparse_2d", "swarm", "hydra")


def scenario_names() -> list[str]:
    """Return the scenarios that have results, in order."""
    found = sorted(path.stem for path in SCENARIOS.glob("*.yaml"))
    return [name for name in found if name not in LEFT_OUT]


def make(name: str) -> None:
    """Run and draw one scenario; SystemExit when a command fails."""
    shutil.rmtree(RESULTS / name, ignore_errors=True)
    scenario = SCENARIOS / f"{name}.yaml"
    innet("run", str(scenario), "--no-plots", "--out", str(RESULTS))
    drawn = re.search(r"^# Draw: innet plot runs/\S+(.*)$", scenario.read_text(), re.MULTILINE)
    options = shlex.split(drawn[1]) if drawn else []
    innet("plot", str(RESULTS / name), *options)


def make_training() -> None:
    """Run all training steps and draw them; SystemExit when a command fails."""
    shutil.rmtree(TRAINING, ignore_errors=True)
    run_training(step_names(), SWEPT)
    draw_training()
    keep_results_alone(TRAINING)


def step_names() -> list[str]:
    """Return the scenarios of training steps, in order."""
    return sorted(path.stem for path in (SCENARIOS / "training").glob("*.yaml"))


def run_training(names: Iterable[str], swept: Iterable[str]) -> None:
    """Run steps as their scenarios say, and some along what SWEPT says."""
    for name in names:
        innet("run", step_file(name), "--no-plots", "--out", str(STEPS))
    for name in swept:
        innet("run", step_file(name), "--set", SWEPT[name], "--no-plots", "--out", str(SWEEPS))


def step_file(name: str) -> str:
    """Return the scenario of a training step."""
    return str(SCENARIOS / "training" / f"{name}.yaml")


def draw_training() -> None:
    """Draw all training steps: gains, how some are spent, and one in time."""
    draw(step_names(), STEPS, "gain", "gains.svg")
    draw(["switchml"], SWEEPS, "gain", "gain_against_rate.svg")
    draw([TIMELINE], STEPS, "timeline", "timeline.svg")
    draw(SHARES, STEPS, "shares", "shares.svg")


def draw(names: Iterable[str], folder: Path, chart: str, file: str) -> None:
    """Draw run directories of a folder into a picture of results/training/plots."""
    runs = [str(folder / name) for name in names]
    innet("plot", *runs, "--chart", chart, "-o", str(TRAINING / "plots" / file))


def keep_results_alone(folder: Path) -> None:
    """Remove the tables of every rank, link and span below a folder, which are long."""
    for path in sorted([*folder.rglob("*.csv"), *folder.rglob("*.csv.gz")]):
        path.unlink()


def innet(*arguments: str) -> None:
    """Run one command of innet."""
    code = run_command(arguments)
    if code:
        sys.exit(code)


def gradients_text() -> str:
    """Return, for each model and algorithm, the time of all its layers one after another."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["model", "algorithm", "layers", "size_bytes", "time_ps"])
    for model in MODELS:
        summary = json.loads((RESULTS / f"gradients_{model}" / "summary.json").read_text())
        layers = [point["runs"] for point in summary["points"]]
        for runs in zip(*layers, strict=True):
            size = sum(run["size_bytes"] for run in runs)
            time = sum(run["time_ps"] for run in runs)
            writer.writerow([model, runs[0]["algorithm"], len(runs), size, time])
    return text.getvalue()


def main(names: list[str]) -> None:
    """Make the named results, or all."""
    os.chdir(ROOT)
    for name in names or [*scenario_names(), TRAINING.name]:
        if name == TRAINING.name:
            make_training()
        else:
            make(name)
    write_whole(RESULTS / "gradients.csv", gradients_text().encode())


if __name__ == "__main__":
    main(sys.argv[1:])
