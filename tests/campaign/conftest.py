"""A small grid in a file, and what a run directory holds."""

import pytest

from innet.campaign.execute import Request

SCENARIO = """\
version: 1
name: grid
topology: {kind: star, workers: 2, link: {rate: 10 Gbps, delay: 1 us}}
switch: {latency: 400 ns, slots: 16}
collective: {op: all_reduce, size: 16 KiB, dtype: int32}
algorithms: [in_network, ring]
sweep: {topology.workers: [2, 3], collective.size: [4 KiB, 16 KiB, 8 KiB]}
"""


@pytest.fixture
def grid(tmp_path):
    path = tmp_path / "grid.yaml"
    path.write_text(SCENARIO)
    return path


@pytest.fixture
def request_of(tmp_path):
    """A request to run a file, with its run directory below a folder of the test's."""

    def made(file, out="runs", overrides=()):
        return Request(file, overrides, None, tmp_path / out, plots=False)

    return made


def files_of(folder):
    """The bytes of all files, by path."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
