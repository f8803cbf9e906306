"""One MPI rank: all-reduce seeded float32 vectors of the given lengths and save the sums.

Usage, under mpirun: open_mpi_all_reduce.py DIRECTORY LENGTH...
"""

import sys
from pathlib import Path

import numpy as np


def vector_of(rank: int, elements: int) -> np.ndarray:
    source = np.random.default_rng([rank, elements])
    return (source.standard_normal(elements) * 10 ** source.uniform(-3, 3, elements)).astype("f4")


def main() -> None:
    from mpi4py import MPI

    world = MPI.COMM_WORLD
    directory, *lengths = sys.argv[1:]
    sums = {}
    for length in lengths:
        own = vector_of(world.Get_rank(), int(length))
        sums[length] = np.empty_like(own)
        world.Allreduce(own, sums[length], op=MPI.SUM)
    np.savez(Path(directory) / f"rank{world.Get_rank()}.npz", **sums)


if __name__ == "__main__":
    main()
