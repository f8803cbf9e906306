"""The example of a Mininet of one's own, run as its users would."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import innet
from innet.campaign.hosts_file import read_hosts
from innet.emulator.attached import AttachedNetwork
from innet.emulator.mininet_python import find_mininet
from innet.errors import ConfigurationError

ROOT = Path(innet.__file__).parents[1]
SCRIPT = ROOT / "scenarios" / "mininet_own.py"


def test_hosts_that_do_not_say_where_they_run_are_refused(tmp_path):
    file = tmp_path / "hosts.yaml"
    file.write_text("workers: [{pid: 1, interface: eth0}, {}]")
    with pytest.raises(ConfigurationError, match="worker 1 needs pid and interface"):
        AttachedNetwork(read_hosts(file, 2))


def test_the_example_aggregates_and_pings(real_bmv2, tmp_path):
    found = find_mininet()
    if found is None:
        pytest.skip("Mininet is not installed")
    if shutil.which("ping") is None:
        pytest.skip("ping is not installed")
    command = tmp_path / "innet"
    command.write_text(
        f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m innet.cli.main "$@"\n'
    )
    command.chmod(0o755)
    ran = subprocess.run(
        [found[0], str(SCRIPT)],
        env={**os.environ, "INNET": str(command)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr
    assert "*** Results: 0% dropped (6/6 received)" in ran.stderr
    lines = ran.stdout.splitlines()
    assert "job 1: 3 workers, slots 0 to 511, 256 values a packet, guard on" in lines
    head = next(number for number, line in enumerate(lines) if "#wrong" in line)
    row = dict(
        zip(lines[head].split(), lines[head + 1].replace(" KiB", "KiB").split(), strict=False)
    )
    assert (row["size"], row["workers"], row["#wrong"]) == ("256KiB", "3", "0")
    links = subprocess.run(["ip", "link"], capture_output=True, text=True, check=True).stdout
    assert "s1-eth1" not in links
