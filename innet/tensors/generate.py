"""Tensors made from a seed, so that every element of a wrong sum shows.

Each value is a hash of (seed, worker, index) by SplitMix64 (Steele, Lea and Flood, OOPSLA
2014) on unsigned 64-bit integers, assembled from bits: the same bytes on every machine.

No value is zero or small beside its neighbours, so a worker that is missing or counted twice
moves every element of the sum by more than rounding may. Point-to-point sums of floats are
bounded by (n - 1) u sum|x|, which is below the least |x| up to 11 workers in bfloat16, 32 in
float16 and 2896 in float32; with more, a few such elements may pass. int32 magnitudes differ
between all workers at every index, so one worker counted in another's place shows everywhere.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from innet.wire.dtypes import DType, numpy_dtype

MAXIMUM_WORKERS = 4096
"""Sums of up to this many generated vectors overflow in no dtype."""

_U64 = npt.NDArray[np.uint64]
_U16or32 = npt.NDArray[np.uint16] | npt.NDArray[np.uint32]
_MASK = 2**64 - 1
_GAMMA = 0x9E3779B97F4A7C15
_REGION = 1024
_CHUNK_ELEMENTS = 64 * _REGION


def generate(worker: int, elements: int, dtype: DType, seed: int) -> npt.NDArray[Any]:
    """Worker `worker`'s vector of `elements` values, flat, of `numpy_dtype(dtype)`.

    int32: magnitudes in [2^18, 2^19), either sign. Floats: a sign times [0.5, 1) times a power
    of two from 2^-4 to 2^3 that changes every 1024 elements and is the same for all workers,
    so that blocks differ in exponent; exact in `dtype`. ValueError for a worker outside
    0 .. MAXIMUM_WORKERS - 1, since worker numbers are told apart by that many values.
    """
    if not 0 <= worker < MAXIMUM_WORKERS:
        raise ValueError(f"worker must be 0 to {MAXIMUM_WORKERS - 1}, not {worker}")
    values = np.empty(elements, dtype=numpy_dtype(dtype))
    stream = _mix_scalar(_mix_scalar(seed) + worker + 1)
    for start in range(0, elements, _CHUNK_ELEMENTS):
        stop = min(elements, start + _CHUNK_ELEMENTS)
        counters = np.arange(start + 1, stop + 1, dtype=np.uint64) * np.uint64(_GAMMA)
        hashes = _mix(counters + np.uint64(stream))
        if dtype == "int32":
            values[start:stop] = _integers(hashes, counters, worker)
        else:
            patterns = _float_patterns(hashes, _exponents(start, stop, seed), dtype)
            values[start:stop] = patterns.view(values.dtype)
    return values


def _mix_scalar(value: int) -> int:
    return int(_mix(np.array([(value * _GAMMA) & _MASK], dtype=np.uint64))[0])


def _mix(state: _U64) -> _U64:
    """SplitMix64's output function of each state."""
    mixed = state ^ (state >> np.uint64(30))
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return mixed


def _integers(hashes: _U64, counters: _U64, worker: int) -> npt.NDArray[np.int32]:
    """Bit 18 set, six hashed bits, and 12 bits in which all workers differ at each index."""
    tags = (counters >> np.uint64(52)) ^ np.uint64(worker)
    bits = np.uint64(1 << 18) | ((hashes & np.uint64(63)) << np.uint64(12)) | tags
    values = bits.astype(np.int32)
    values *= 1 - 2 * (hashes >> np.uint64(63)).astype(np.int32)
    return values


def _exponents(start: int, stop: int, seed: int) -> _U64:
    """For each element, 0 to 7: the power of two of its region, plus 4."""
    first, last = start // _REGION, (stop - 1) // _REGION
    regions = np.arange(first + 1, last + 2, dtype=np.uint64) * np.uint64(_GAMMA)
    hashes = _mix(regions + np.uint64(_mix_scalar(seed))) >> np.uint64(61)
    return np.repeat(hashes, _REGION)[: stop - start]


def _float_patterns(hashes: _U64, exponents: _U64, dtype: DType) -> _U16or32:
    """IEEE 754 bit patterns: a hashed sign and fraction with the given exponents less 4."""
    width, fraction_bits, half = {
        "float32": (32, 23, 126),
        "float16": (16, 10, 14),
        "bfloat16": (16, 7, 126),
    }[dtype]
    signs = (hashes >> np.uint64(63)) << np.uint64(width - 1)
    fractions = hashes & np.uint64((1 << fraction_bits) - 1)
    biased = (exponents + np.uint64(half - 4)) << np.uint64(fraction_bits)
    patterns: _U64 = signs | biased | fractions
    if width == 32:
        return patterns.astype(np.uint32)
    return patterns.astype(np.uint16)
