"""A small scenario, and a way to run the command line in this process."""

import signal

import pytest

from innet.cli.main import run_command

SCENARIO = """\
version: 1
name: small
seed: 1
topology: {kind: star, workers: 4, link: {rate: 10 Gbps, delay: 1 us}}
switch: {latency: 400 ns, slots: 16}
collective: {op: all_reduce, size: 64 KiB, dtype: int32}
algorithms: [in_network, ring]
"""


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "small.yaml"
    path.write_text(SCENARIO)
    return path


@pytest.fixture
def innet(tmp_path, monkeypatch, capfd):
    """Run `innet` in a fresh folder; returns exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    before = signal.getsignal(signal.SIGTERM)

    def run(*arguments):
        code = run_command([str(argument) for argument in arguments])
        signal.signal(signal.SIGTERM, before)
        out, err = capfd.readouterr()
        return code, out, err

    return run
