"""A worker's vector as the blocks of an in-network all-reduce, one packet's values each.

These are what the protocol's worker machine reads and fills (protocol.worker.Blocks). Whole
arrays are cut and scaled; no element is touched by itself.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from innet.collectives.schedule import block_bounds
from innet.wire.dtypes import DType, narrow, widen
from innet.wire.fixed_point import block_exponent, decode, encode

I32 = npt.NDArray[np.int32]
F32 = npt.NDArray[np.float32]


class IntegerBlocks:
    """A part of an int32 vector in blocks of `k` values, the last filled up with zeros."""

    def __init__(self, vector: I32, k: int) -> None:
        self._vector = vector
        self.result = np.zeros_like(vector)
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
    """A part of a float vector in blocks of `k` values, in block floating point."""

    def __init__(self, vector: F32, k: int, workers: int) -> None:
        self._vector = vector
        self.result = np.zeros_like(vector)
        self._k = k
        self._workers = workers

    def _block(self, block: int) -> F32:
        return self._vector[block * self._k : (block + 1) * self._k]

    def exponent(self, block: int) -> int:
        """The smallest e with every magnitude below 2**e."""
        return block_exponent(self._block(block))

    def values(self, block: int, exponent: int) -> I32:
        """The block scaled to integers for the exponent of all workers."""
        return _filled(encode(self._block(block), exponent, self._workers), self._k)

    def store(self, block: int, values: I32, exponent: int) -> None:
        """Keep the sum, scaled back."""
        part = self.result[block * self._k : (block + 1) * self._k]
        part[:] = decode(values[: part.size], exponent, self._workers)


VectorBlocks = IntegerBlocks | FloatBlocks


def blocks_of(
    vector: npt.NDArray[Any], dtype: DType, k: int, cores: int, workers: int
) -> list[VectorBlocks]:
    """Cut a flat vector of `numpy_dtype(dtype)` evenly over `cores`, each part into blocks of `k`.

    `workers` is how many vectors are summed: their values are scaled so that the sum fits.
    """
    parts = list(pairwise(block_bounds(vector.size, cores)))
    if dtype == "int32":
        return [IntegerBlocks(vector[start:end], k) for start, end in parts]
    wide = widen(vector, dtype)
    return [FloatBlocks(wide[start:end], k, workers) for start, end in parts]


def result_of(blocks: Sequence[VectorBlocks], dtype: DType) -> npt.NDArray[Any]:
    """Join what `blocks_of`'s parts hold into a flat vector of `numpy_dtype(dtype)`."""
    whole = np.concatenate([part.result for part in blocks])
    return whole if dtype == "int32" else narrow(whole, dtype)


def _filled(values: I32, k: int) -> I32:
    if values.size == k:
        return values
    whole = np.zeros(k, dtype=np.int32)
    whole[: values.size] = values
    return whole
