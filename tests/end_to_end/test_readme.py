"""What the README shows is so: commands run, tables and numbers are those of the results."""

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest

from innet.cli.main import run_command
from innet.report.explain import explain_lines
from innet.report.results import read_run
from innet.report.step_results import read_step_run
from innet.report.table import table_lines

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
RESULTS = (ROOT / "results" / "README.md").read_text()
LINKS = re.compile(r"\]\(([^)#:]+)\)")


def commands():
    """The innet commands of the README's shell blocks; pip and pytest are the CI's."""
    for block in re.findall(r"```sh\n(.*?)```", README, re.S):
        for line in block.splitlines():
            for command in line.partition("#")[0].split("&&"):
                words = shlex.split(command)
                if words and words[0] == "innet":
                    yield words[1:]


def test_every_command_runs(tmp_path, monkeypatch, capfd):
    """In order, since later ones use what earlier ones left; with a smaller quickstart."""
    shutil.copytree(ROOT / "scenarios", tmp_path / "scenarios")
    quickstart = tmp_path / "scenarios" / "quickstart.yaml"
    quickstart.write_text(quickstart.read_text().replace("size: 4 MiB", "size: 128 KiB"))
    monkeypatch.chdir(tmp_path)
    found = list(commands())
    assert {words[0] for words in found} >= {"run", "explain", "plot", "compare", "check", "new"}
    for words in found:
        assert run_command(words) == 0, words
        capfd.readouterr()


@pytest.mark.parametrize(("text", "folder"), [(README, ROOT), (RESULTS, ROOT / "results")])
def test_what_is_linked_is_there(text, folder):
    targets = LINKS.findall(text)
    assert targets
    assert [target for target in targets if not (folder / target).exists()] == []


def stored(name):
    return read_run(ROOT / "results" / name)


def test_the_table_is_that_of_the_results():
    run = stored("quickstart")
    lines = [line.plain for line in table_lines(run.results, run.scenario)]
    table = lines[: lines.index("")]
    assert "\n".join(table) in README


def test_the_explanation_is_that_of_the_results():
    shown = re.search(r"\$ innet explain runs/window_sweep.*?\n(.*?)\n *\.\.\.\n", README, re.S)
    lines = [line.plain for line in explain_lines(stored("window_sweep").results)]
    assert shown.group(1) in "\n".join(lines)


def millions(run):
    return round(run.elements * 1e6 / run.time_ps)


def test_published_rates_stand_beside_simulated_ones():
    """4, 8 and 16 workers: the published rates are those of the public repository's picture."""
    published = {"in_network": (2834, 2823, 2812), "ring": (1387, 1254, 978)}
    points = stored("published_benchmark").results.points
    for place, algorithm in enumerate(("in_network", "ring")):
        for measured, point in zip(published[algorithm], points, strict=True):
            run = point.runs[place]
            share = f"{100 * measured / millions(run):.0f} %"
            cells = (str(run.workers), algorithm, str(measured), str(millions(run)), share)
            assert f"| {' | '.join(cells)} |" in RESULTS
            if algorithm == "in_network":
                assert 0.97 <= measured / millions(run) <= 0.985


def test_layers_stand_with_their_times():
    for line in (ROOT / "results" / "gradients.csv").read_text().splitlines()[1:]:
        model, algorithm, layers, size, time = line.split(",")
        cells = (model, algorithm, layers, f"{int(size) / 1e6:.1f} MB", f"{int(time) / 1e9:.2f} ms")
        assert f"| {' | '.join(cells)} |" in RESULTS


def steps(name, kind="steps"):
    """Step times in ps by algorithm, of each point of a training scenario's results."""
    stored = read_step_run(ROOT / "results" / "training" / kind / name)
    return [{run.algorithm: run.step_ps for run in point.runs} for point in stored.results.points]


def test_published_steps_stand_beside_simulated_ones():
    """Times of full size: what was scaled by 64 and by 32 in the scenarios."""
    small, large = steps("switchml_user_runs")
    for batch, point in ((16, small), (256, large)):
        ring, switch = point["ring"], point["in_network"]
        times = [f"{64 * time / 1e9:.1f} ms" for time in (ring, switch)]
        a_step = " a step" if batch == 16 else ""
        assert f"{times[0]}, {times[1]}{a_step}: {ring / switch:.2f} |" in RESULTS
    none, half, sharded = steps("osdp")
    told = {
        algorithm: [sharded[algorithm] / mix[algorithm] for mix in (half, none)]
        for algorithm in ("ring", "in_network")
    }
    first, second = told["ring"]
    assert f"half replicated {first:.2f}, all replicated {second:.2f} |" in RESULTS
    first, second = told["in_network"]
    assert f"In the network they are {first:.2f} and {second:.2f} times" in RESULTS
    whole, compressed = (f"{32 * point['ring'] / 1e12:.2f} s" for point in steps("protocol_models"))
    assert f"| 26.8 s a boundary | {whole} |" in RESULTS
    assert f"| 0.27 s a boundary | {compressed} |" in RESULTS
    one, four = (point["ring"] for point in steps("hydra", "sweeps"))
    assert f"| {4 * one / four:.2f} times one model after another |" in RESULTS


def test_the_json_is_that_of_the_results():
    shown = re.search(r"```json\n(.*?)```", README, re.S).group(1)
    assert json.loads(shown) == stored("faults").results.as_json()
