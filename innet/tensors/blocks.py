"""A worker's vector as the blocks that packets carry: integers, or floats in block floating point.

They are what a worker machine reads its contributions from and stores sums to; a block has as
many values as a packet, the last one is filled up with zeros.
"""

import itertools
from typing import cast

import numpy as np
import numpy.typing as npt

from innet.collectives.schedule import block_bounds
from innet.wire.dtypes import DType, widen
from innet.wire.fixed_point import block_exponent, decode, encode

Vector = npt.NDArray[np.generic]
I32 = npt.NDArray[np.int32]
F32 = npt.NDArray[np.float32]


class IntegerBlocks:
    """A part of an int32 vector, in either order of bytes, in blocks of `k` values."""

    def __init__(self, vector: I32, k: int) -> None:
        self._vector = vector
        self.result: Vector = np.zeros_like(self._vector)
        self._k = k

    def exponent(self, block: int) -> int:
        """Integers have none."""
        return 0

    def values(self, block: int, exponent: int) -> I32:
        """The block itself."""
        return _filled(self._vector[block * self._k : (block + 1) * self._k], self._k)

    def store(self, block: int, values: I32, exponent: int) -> None:
        """Keep the sum, without what filled the last block up."""
        part = self.result[block * self._k : (block + 1) * self._k]
        part[:] = values[: part.size]


class FloatBlocks:
    """A part of a float vector in blocks of `k` values, scaled for the sum of `workers`."""

    def __init__(self, vector: F32, k: int, workers: int) -> None:
        self._vector = vector
        self.result: Vector = np.zeros_like(vector)
        self._k = k
        self._workers = workers

    def _block(self, block: int) -> F32:
        return self._vector[block * self._k : (block + 1) * self._k]

    def exponent(self, block: int) -> int:
        """The smallest e with every magnitude below 2**e."""
        return block_exponent(self._block(block))

    def values(self, block: int, exponent: int) -> I32:
        """The block scaled to integers for the largest exponent of all workers."""
        return _filled(encode(self._block(block), exponent, self._workers), self._k)

    def store(self, block: int, values: I32, exponent: int) -> None:
        """Keep the sum, scaled back."""
        part = self.result[block * self._k : (block + 1) * self._k]
        part[:] = decode(values[: part.size], exponent, self._workers)


def blocks_of(
    vector: Vector, dtype: DType, k: int, cores: int, workers: int
) -> list[IntegerBlocks | FloatBlocks]:
    """Split a vector evenly over `cores` and each part into blocks of `k` values."""
    bounds = itertools.pairwise(block_bounds(vector.size, cores))
    if dtype == "int32":
        integers = cast(I32, vector)
        return [IntegerBlocks(integers[start:end], k) for start, end in bounds]
    wide = widen(vector, dtype)
    return [FloatBlocks(wide[start:end], k, workers) for start, end in bounds]


def _filled(values: I32, k: int) -> I32:
    if values.size == k:
        return values
    whole = np.zeros(k, dtype=values.dtype)
    whole[: values.size] = values
    return whole
