"""Regenerate the committed results: run the scenarios and draw what they ask.

    python results/make.py [NAME...]

Each scenario's run directory becomes results/NAME, drawn as the scenario's line `# Draw:` says.
Models whose layers are scenarios of their own are added up in gradients.csv.
"""

import csv
import io
import json
import os
import re
import shlex
import shutil
import sys
from pathlib import Path

from innet.cli.main import run_command
from innet.files import write_whole

ROOT = Path(__file__).parents[1]
RESULTS = Path("results")
SCENARIOS = Path("scenarios")
# Its tensors are made by the tests, where its sums are checked; there is nothing to draw.
LEFT_OUT = ("digits_gradients",)
MODELS = ("resnet50", "vgg16", "bert_large")


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
    for name in names or scenario_names():
        make(name)
    write_whole(RESULTS / "gradients.csv", gradients_text().encode())


if __name__ == "__main__":
    main(sys.argv[1:])
