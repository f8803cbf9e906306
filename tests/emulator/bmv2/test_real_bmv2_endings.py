"""However an emulation on BMv2 ends, none of its processes and links stays."""

import os
import secrets
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import innet
from innet.emulator.mininet_python import find_mininet

SCENARIO = """\
version: 1
name: long
topology: {kind: star, workers: 2, link: {rate: 10 Gbps, delay: 1 us}}
switch: {slots: 32}
packet: {elements: 32}
collective: {op: all_reduce, size: 8 MiB, dtype: int32}
algorithms: [in_network]
"""
PATIENCE_S = 30
MARK = "INNET_TEST_MARK"


def marked(mark):
    """The processes that have the mark in their environment, which they all inherit."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={mark}".encode() in (place / "environ").read_bytes().split(b"\0"):
                found.append((place / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue
    return found


def wait_for(condition):
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def links():
    return subprocess.run(["ip", "link"], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=["ctrl-c", "killed"])
@pytest.mark.parametrize("net", ["netns", "mininet"])
def test_nothing_is_left(real_bmv2, tmp_path, net, number):
    if net == "mininet" and find_mininet() is None:
        pytest.skip("Mininet is not installed")
    before = links()
    scenario = tmp_path / "long.yaml"
    scenario.write_text(SCENARIO)
    mark = secrets.token_hex(8)
    environment = {**os.environ, MARK: mark, "PYTHONPATH": str(Path(innet.__file__).parents[1])}
    arguments = ["emulate", str(scenario), "--target", "bmv2", "--net", net, "--out", str(tmp_path)]
    with subprocess.Popen(
        [sys.executable, "-m", "innet.cli.main", *arguments],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        for program in ("simple_switch_grpc", "innet.emulator.agent"):
            wait_for(lambda: any(program in each for each in marked(mark)))  # noqa: B023
        time.sleep(1)  # so that it is at work; the work itself takes longer
        running.send_signal(number)
        said = running.stderr.read()
    if number == signal.SIGINT:
        assert running.returncode == 130
        assert said.endswith("interrupted; no run had finished\n")
    wait_for(lambda: not marked(mark))
    assert links() == before
