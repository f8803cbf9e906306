"""Block floating point: how floats are summed by a switch that adds only integers.

The elements of a block share one exponent e with max|x| < 2^e; the switch takes the maximum
of the workers' exponents. With n workers the scale is f = 2^(31 - e - h), where h bits of
headroom keep the sum of n values within 32 bits; a worker sends round(x f), to nearest with
ties to even, and the sum is divided by f. The scheme is SwitchML's (Sapio et al., NSDI 2021);
the scale is the largest power of two, so scaling and unscaling never round.

No overflow. |x f| < 2^(31-h), an integer, so |round(x f)| <= 2^(31-h), and n of them stay
below 2^31 if n < 2^h. If n = 2^h the rounded values must stay below 2^(31-h) themselves:
float32 has 24 significant bits, so |x f| <= 2^(31-h) - 2^(7-h), which an integer reaches only
after rounding when 7 - h < 0. So h = ceil(log2 n) below 256 workers and ceil(log2(n + 1))
from there on.

This module knows nothing of packets: arrays in, arrays out. `block_exponent`, `encode` and
`decode` take one block and are made to be called for every packet; the plural and `_tensor`
forms take whole tensors and give the same numbers.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from innet.errors import ConfigurationError
from innet.wire.dtypes import HALF_SUBNORMAL, UNIT_ROUNDOFF, DType

ZERO_EXPONENT = -128
"""The exponent of a block that is all zeros, or so small that it is flushed to zeros."""

LEAST_EXPONENT = -127
GREATEST_EXPONENT = 127
VALUE_LIMIT = 2.0**GREATEST_EXPONENT
"""Magnitudes must stay below this to have an 8-bit exponent."""

_WIDE_HEADROOM_WORKERS = 256
_CHUNK_ELEMENTS = 1 << 17
_SLACK = 1.0 + 2.0**-40

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]
I32 = npt.NDArray[np.int32]
I8 = npt.NDArray[np.int8]
_Element = TypeVar("_Element", np.float32, np.int32)


class NumericError(ConfigurationError):
    """A value that block floating point cannot carry: NaN, infinite or too large."""


class BlockExponents(NamedTuple):
    """One exponent a block, and how many non-zero blocks were flushed to zero."""

    exponents: I8
    flushed: int


def headroom_bits(workers: int) -> int:
    """Bits that the sum of `workers` values needs beyond one value's (see the module)."""
    if workers < 1:
        raise ValueError(f"workers must be at least 1, not {workers}")
    if workers < _WIDE_HEADROOM_WORKERS:
        return (workers - 1).bit_length()
    return workers.bit_length()


def scale(exponent: int, workers: int) -> float:
    """The power of two by which values below 2^exponent are multiplied before rounding.

    ValueError for ZERO_EXPONENT, which has no scale: its values are zeros.
    """
    _require_scale(exponent)
    return math.ldexp(1.0, 31 - exponent - headroom_bits(workers))


def block_exponent(values: F32, *, tensor: str = "tensor", first: int = 0) -> int:
    """The least e with max|x| < 2^e, or ZERO_EXPONENT for zeros and values below 2^-128.

    `values` is one block. `tensor` and `first`, the index of the block's first element, are
    for the message of the NumericError that NaN, infinite and values from 2^127 on raise.
    """
    largest = float(np.maximum.reduce(np.abs(values), initial=0.0))
    if not largest < VALUE_LIMIT:
        raise _out_of_range(values, tensor, first)
    return max(math.frexp(largest)[1], ZERO_EXPONENT) if largest else ZERO_EXPONENT


def block_exponents(
    values: F32, block: int | None = None, *, tensor: str = "tensor", first: int = 0
) -> BlockExponents:
    """`block_exponent` of every block of a tensor.

    `values` has shape (blocks, k), or is flat and cut into blocks of `block` elements, of which
    the last may be short. Returns int8 exponents of shape (blocks,) and the number of flushed
    blocks. NumericError names `tensor` and the index (from `first` on) of a bad element.
    """
    flat, block = _as_blocks(values, block)
    largest = np.empty(-(-flat.size // block), dtype=np.float32)
    for rows, part in _chunks(flat, block):
        largest[rows] = np.maximum(part.max(axis=1), -part.min(axis=1))
    if not (largest < VALUE_LIMIT).all():
        raise _out_of_range(flat, tensor, first)
    exponents = np.maximum(np.frexp(largest)[1], ZERO_EXPONENT)
    exponents[largest == 0] = ZERO_EXPONENT
    flushed = np.count_nonzero((exponents == ZERO_EXPONENT) & (largest != 0))
    return BlockExponents(exponents.astype(np.int8), int(flushed))


def encode(values: F32, exponent: int, workers: int, out: I32 | None = None) -> I32:
    """One block as integers: round(x f), ties to even; zeros for ZERO_EXPONENT.

    `exponent` is the maximum over the workers. NumericError when a value is not below
    2^exponent, since the sum could then wrap unseen: the exponent was not formed from this
    block by all workers.
    """
    if out is None:
        out = np.empty(values.shape, dtype=np.int32)
    if not np.maximum.reduce(np.abs(values), initial=0.0) < math.ldexp(1.0, exponent):
        raise NumericError(
            f"a block holds a value that is not below 2^{exponent}, its exponent over all workers"
        )
    if exponent == ZERO_EXPONENT:
        out.fill(0)
        return out
    scaled = np.ldexp(values, 31 - exponent - headroom_bits(workers))
    out[...] = np.rint(scaled, out=scaled)
    return out


def decode(sums: I32, exponent: int, workers: int) -> F32:
    """One block of summed integers as float32: sum / f, rounded once, to nearest even.

    A sum beyond float32's range becomes infinite, as IEEE 754 addition would make it.
    """
    if exponent == ZERO_EXPONENT:
        return np.zeros(sums.shape, dtype=np.float32)
    unscaled = sums * math.ldexp(1.0, exponent + headroom_bits(workers) - 31)
    if exponent + headroom_bits(workers) < GREATEST_EXPONENT:
        return unscaled.astype(np.float32)
    with np.errstate(over="ignore"):
        return unscaled.astype(np.float32)


def encode_tensor(values: F32, exponents: I8, block: int, workers: int) -> I32:
    """`encode` of a flat tensor in blocks of `block` elements; `exponents` has one a block."""
    encoded = np.empty(values.size, dtype=np.int32)
    shifts = 31 - headroom_bits(workers) - exponents.astype(np.int32)
    limits = np.ldexp(np.float32(1.0), exponents.astype(np.int32))
    for rows, part in _chunks(values, block):
        bounded = np.maximum(part.max(axis=1), -part.min(axis=1)) < limits[rows]
        if not bounded.all():
            wrong = rows.start + int(np.argmin(bounded))
            raise NumericError(
                f"block {wrong} holds a value that is not below 2^{exponents[wrong]}, "
                "its exponent over all workers"
            )
        scaled = np.ldexp(part, shifts[rows, np.newaxis])
        scaled[exponents[rows] == ZERO_EXPONENT] = 0.0
        target = encoded[rows.start * block :][: scaled.size].reshape(scaled.shape)
        target[...] = np.rint(scaled, out=scaled)
    return encoded


def decode_tensor(sums: I32, exponents: I8, block: int, workers: int) -> F32:
    """`decode` of a flat tensor in blocks of `block` elements; `exponents` has one a block."""
    decoded = np.empty(sums.size, dtype=np.float32)
    shifts = exponents.astype(np.int32) + (headroom_bits(workers) - 31)
    for rows, part in _chunks(sums, block):
        unscaled = np.ldexp(part.astype(np.float64), shifts[rows, np.newaxis])
        unscaled[exponents[rows] == ZERO_EXPONENT] = 0.0
        target = decoded[rows.start * block :][: unscaled.size].reshape(unscaled.shape)
        with np.errstate(over="ignore"):
            target[...] = unscaled
    return decoded


def sum_error_bound(
    exponents: I8, workers: int, exact_sum: F64, magnitude_sum: F64, dtype: DType = "float32"
) -> F64:
    """How far an element of the decoded sum may be from `exact_sum`, whatever the order.

    n roundings to an integer make n/(2f) at most; the result is rounded to float32 and, if
    `dtype` is narrower, once more. `exact_sum` and `magnitude_sum` are the float64 sums of x
    and |x| over the workers, whose own rounding is allowed for; `exponents` (maximum over the
    workers) broadcasts against them. Flushed blocks may be wrong by all that was flushed.
    """
    shifts = exponents.astype(np.int32) + (headroom_bits(workers) - 32)
    bound = np.where(
        exponents == ZERO_EXPONENT, magnitude_sum, np.ldexp(float(workers), shifts)
    ) + ((workers - 1) * 2.0**-53 * magnitude_sum)
    formats: tuple[DType, ...] = ("float32",) if dtype == "float32" else ("float32", dtype)
    for narrower in formats:
        rounding = UNIT_ROUNDOFF[narrower] * (np.abs(exact_sum) + bound)
        bound = bound + rounding + HALF_SUBNORMAL[narrower]
    return np.asarray(bound * _SLACK, dtype=np.float64)


def _require_scale(exponent: int) -> None:
    if not LEAST_EXPONENT <= exponent <= GREATEST_EXPONENT:
        raise ValueError(
            f"an exponent with a scale is {LEAST_EXPONENT} to {GREATEST_EXPONENT}, not {exponent}"
        )


def _as_blocks(values: F32, block: int | None) -> tuple[F32, int]:
    if values.ndim == 2 and block is None:
        return values.reshape(-1), values.shape[1]
    if values.ndim == 1 and block is not None and block > 0:
        return values, block
    raise ValueError("give a flat tensor and a block length, or an array of shape (blocks, k)")


def _chunks(
    flat: npt.NDArray[_Element], block: int
) -> Iterator[tuple[slice, npt.NDArray[_Element]]]:
    """Whole blocks as rows, some at a time to keep temporaries in cache; then a short last one."""
    whole = flat.size // block
    step = max(1, _CHUNK_ELEMENTS // block)
    for start in range(0, whole, step):
        stop = min(whole, start + step)
        yield slice(start, stop), flat[start * block : stop * block].reshape(-1, block)
    if flat.size > whole * block:
        yield slice(whole, whole + 1), flat[whole * block :].reshape(1, -1)


def _out_of_range(values: F32, tensor: str, first: int) -> NumericError:
    index = int(np.argmin(np.abs(values) < VALUE_LIMIT))
    return NumericError(
        f"{tensor}: element {first + index} is {values[index]}; "
        "in-network sums need finite values below 2^127 in magnitude"
    )
