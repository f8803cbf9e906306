"""Progress is shown for work that takes long, and only to who wants it."""

import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass

import pytest

from innet.cli.progress import shown_progress


@dataclass
class Step:
    done: float
    doing: str = "ring"
    reached_ps: int | None = None


class Clock:
    def __init__(self):
        self.now = 100.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(time, "monotonic", made.monotonic)
    return made


def test_short_work_shows_nothing(clock, capsys):
    with shown_progress(quiet=False) as show:
        clock.now += 0.9
        show(Step(0.5))
    assert capsys.readouterr() == ("", "")


def test_long_work_tells_the_share_done_and_the_time_left_now_and_then(clock, capsys):
    with shown_progress(quiet=False) as show:
        for tenth in range(1, 9):
            clock.now += 1
            show(Step(tenth / 10))
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "innet: 10% done, about 9 s left: ring",
        "innet: 60% done, about 4 s left: ring",
    ]


def test_the_simulated_time_stands_beside_the_time_left(clock, capsys):
    with shown_progress(quiet=False) as show:
        clock.now += 2
        show(Step(0.5, reached_ps=1_234_567_890))
    assert capsys.readouterr().err == ("innet: 50% done, about 2 s left, 1.23 ms simulated: ring\n")


@pytest.mark.parametrize(
    ("done", "told"),
    [(0, "time left unknown"), (0.01, "about 16 min left"), (0.0001, "about 27.8 h left")],
)
def test_the_time_left_has_a_fitting_unit(clock, capsys, done, told):
    with shown_progress(quiet=False) as show:
        clock.now += 10
        show(Step(done))
    assert told in capsys.readouterr().err


def test_quiet_work_shows_nothing(clock, capsys):
    with shown_progress(quiet=True) as show:
        clock.now += 10
        show(Step(0.5))
    assert capsys.readouterr() == ("", "")


def test_a_terminal_gets_a_bar_that_goes_away(clock, capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with shown_progress(quiet=False) as show:
        clock.now += 10
        show(Step(0.5))
        clock.now += 1
        show(Step(0.75))
    assert "innet:" not in capsys.readouterr().err


@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_ctrl_c_ends_a_long_run_that_tells_how_far_it_is(scenario, tmp_path, engine):
    size = "collective={op: all_reduce, size: 20 GB, dtype: int32, check: never}"
    lossy = ["--set", size, "--set", "topology.link.loss=1e-4", "--set", "limit=1000 s"]
    command = ["run", str(scenario), "--out", str(tmp_path), "--engine", engine, *lossy]
    process = subprocess.Popen(
        [sys.executable, "-m", "innet.cli.main", *command], stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    line = next(line for line in process.stderr if " done, " in line)
    process.send_signal(signal.SIGINT)
    begun = time.monotonic()
    process.communicate()
    assert process.returncode == 130
    assert time.monotonic() - begun < 2  # a second, and as much again on a busy machine
    assert re.fullmatch(
        r"innet: \d% done, about [\d.]+ (s|min|h) left, [\d.]+ (us|ms|s) simulated: in_network\n",
        line,
    )
