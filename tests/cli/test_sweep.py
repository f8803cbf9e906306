"""`innet sweep`: output, exit codes, and what stops it."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass

import pytest

from innet.cli import progress
from innet.cli.sweep_status import shown_status
from tests.cli.test_progress import Clock

GRID = ("--set", "sweep={topology.workers: [2, 3], collective.size: [4 KiB, 8 KiB]}")


def files_of(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_a_sweep_prints_and_leaves_what_a_run_does(innet, scenario, tmp_path):
    expected = innet("run", scenario, *GRID, "--out", "run")
    found = innet("sweep", scenario, *GRID, "--out", "sweep", "--jobs", "1")
    assert (found[0], found[1]) == (0, expected[1])
    assert found[2] == expected[2].replace("run/", "sweep/")
    kept = files_of(tmp_path / "sweep" / "small")
    records = [kept.pop(name) for name in list(kept) if name.startswith("points/")]
    assert kept == files_of(tmp_path / "run" / "small")
    assert len(records) == 4


def test_quiet_and_json(innet, scenario):
    code, out, err = innet("sweep", scenario, *GRID, "-j1", "-q", "--json", "--no-plots")
    assert (code, err) == (0, "")
    assert len(json.loads(out)["points"]) == 4


def test_a_scenario_without_a_sweep_has_one_point(innet, scenario, tmp_path):
    code, _, _ = innet("sweep", scenario, "-j1", "--seed", "3", "--no-plots")
    assert code == 0
    assert len(list((tmp_path / "runs" / "small" / "points").iterdir())) == 1


def test_a_point_that_fails_gives_exit_code_1_at_the_end(innet, scenario, tmp_path):
    (tmp_path / "bad.npy").write_text("no tensor")
    words = ("--set", "collective={dtype: int32}", "--set", "sweep={collective.tensors: [bad.npy]}")
    code, _, err = innet("sweep", scenario, *words, "-j1", "-q")
    assert code == 1
    assert err.startswith("innet: collective.tensors=bad.npy: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["--jobs", "0"], 2, "--jobs"),
        (["--set", "switch.slots=0"], 2, "switch.slots"),
        (["--out", "/dev/null"], 2, "/dev/null"),
    ],
)
def test_bad_input_is_told_before_any_work(innet, scenario, words, code, told):
    found = innet("sweep", scenario, *words)
    assert found[0] == code
    assert told in found[2]


def test_a_cluster_without_dask_gives_exit_code_3(innet, scenario, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    code, _, err = innet("sweep", scenario, "--cluster", "tcp://127.0.0.1:8786")
    assert (code, err) == (3, "innet: --cluster needs Dask: pip install 'innet[cluster]'\n")


# --- What stops it ---------------------------------------------------------------------

SLOW = ("--set", "sweep={seed: [1, 2, 3]}", "--set", "collective.size=3 MiB", "--no-plots")


def started(scenario, *words):
    command = [sys.executable, "-m", "innet.cli.main", "sweep", str(scenario), *SLOW, *words]
    with (scenario.parent / "told").open("w") as told:
        return subprocess.Popen(command, cwd=scenario.parent, stdout=told, stderr=told)


def wait_for_a_record(points):
    patience = time.monotonic() + 60
    while not list(points.glob("*.json")):
        assert time.monotonic() < patience
        time.sleep(0.02)


@pytest.mark.skipif(os.name != "posix", reason="sends POSIX signals")
@pytest.mark.parametrize(
    ("number", "jobs", "code"),
    [(signal.SIGKILL, 1, -9), (signal.SIGKILL, 2, -9), (signal.SIGTERM, 1, 130)],
)
def test_a_sweep_that_is_stopped_goes_on_when_run_again(innet, scenario, number, jobs, code):
    points = scenario.parent / "runs" / "small" / "points"
    with started(scenario, "--jobs", str(jobs)) as process:
        wait_for_a_record(points)
        process.send_signal(number)
        assert process.wait() == code
    assert "Traceback" not in (scenario.parent / "told").read_text()
    kept = {path: path.stat().st_mtime_ns for path in points.glob("*.json")}
    assert 0 < len(kept) < 3
    assert innet("sweep", scenario, *SLOW, "-q", "-j1")[0] == 0
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert innet("run", scenario, *SLOW, "-q", "--out", "run")[0] == 0
    expected = files_of(scenario.parent / "run" / "small")
    assert expected.items() < files_of(scenario.parent / "runs" / "small").items()


# --- What is shown ---------------------------------------------------------------------


@dataclass
class Status:
    kept: int = 0
    done: int = 7
    running: int = 2
    failed: int = 1
    left: int = 10
    share: float = 0.4


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(progress.time, "monotonic", made.monotonic)
    return made


@pytest.mark.parametrize(("kept", "told"), [(0, "7 done"), (3, "3 kept, 7 done")])
def test_a_long_sweep_tells_its_points_now_and_then(clock, capsys, kept, told):
    with shown_status(quiet=False) as show:
        show(Status(kept))
        assert capsys.readouterr().err == ""
        clock.now += 20
        show(Status(kept))
        show(Status(kept))
    line = f"innet: points: {told}, 2 running, 1 failed, 10 waiting, about 30 s left\n"
    assert capsys.readouterr() == ("", line)


def test_a_terminal_gets_a_table(clock, capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    with shown_status(quiet=False) as show:
        clock.now += 20
        show(Status())
        clock.now += 20
        show(Status(done=8, running=1))
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", capsys.readouterr().err)
    assert re.search(r"done . running . failed . waiting", shown)
    assert re.search(r" 8 .\s+1 .\s+1 .\s+10 ", shown)
    assert "about 60 s left" in shown


def test_quiet_shows_nothing(clock, capsys):
    with shown_status(quiet=True) as show:
        clock.now += 20
        show(Status())
    assert capsys.readouterr() == ("", "")
