"""Whether every element of every worker's result is the sum of the workers' inputs.

int32 results must equal the exact sum modulo 2^32. Floats must lie within a proved distance
of the exact sum:

- in the network, the block floating point bound of `innet.wire.fixed_point.sum_error_bound`;
  and all workers must hold the same bits, since they decode the same integers;
- point to point, (n - 1) u sum|x_i| with u the dtype's unit roundoff, which holds for n - 1
  additions in any order (Jeannerod and Rump, SIAM J. Matrix Anal. Appl. 34(2), 2013). float16
  and bfloat16 are added in float32 and rounded each time, which equals adding in the dtype.

The work is done in pieces, so it needs little memory beside the tensors.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from innet.collectives.schedule import block_bounds
from innet.wire.dtypes import OVERFLOW, UNIT_ROUNDOFF, DType, numpy_dtype, widen
from innet.wire.fixed_point import block_exponents, sum_error_bound

Method = Literal["in_network", "point_to_point"]
Vector = npt.NDArray[Any]
Bools = npt.NDArray[np.bool_]
F64 = npt.NDArray[np.float64]

_PIECE_ELEMENTS = 1 << 17
_SLACK = 1.0 + 2.0**-40
_INT32_MIN, _INT32_MAX = -(2**31), 2**31 - 1


@dataclass(frozen=True, slots=True)
class BlockLayout:
    """How a tensor was cut: evenly over `cores`, then into blocks of `elements_per_packet`."""

    elements_per_packet: int
    cores: int = 1


@dataclass(frozen=True, slots=True)
class WrongElement:
    """What `worker` holds at `index`, and the exact sum (wrapped, for int32)."""

    worker: int
    index: int
    got: float
    expected: float


@dataclass(frozen=True, slots=True)
class Verification:
    """`wrong` elements over all workers; `first` is the wrong one of least index and worker.

    `wrapped` counts the elements (of one vector) whose true sum leaves int32.
    """

    wrong: int
    wrapped: int
    first: WrongElement | None

    @property
    def message(self) -> str:
        """Where the first wrong element is and what it should be; empty when none is wrong."""
        if self.first is None:
            return ""
        return (
            f"worker {self.first.worker} holds {self.first.got:.10g} at element "
            f"{self.first.index}, where the sum is {self.first.expected:.10g}"
        )


class _Piece(NamedTuple):
    """One piece's answer: a row of wrong marks for each worker, or None when all are right."""

    expected: Vector
    wrong: Bools | None
    wrapped: int = 0


def shard_bounds(elements: int, cores: int) -> tuple[int, ...]:
    """The `cores + 1` offsets at which a tensor is cut for the cores of a host."""
    return block_bounds(elements, cores)


def exact_sum(inputs: Sequence[Vector], dtype: DType) -> Vector:
    """The sum over the workers: int64 for int32, else float64 (rounded only beyond 53 bits)."""
    if dtype == "int32":
        integers = np.zeros(inputs[0].shape, dtype=np.int64)
        for vector in inputs:
            integers += vector
        return integers
    total = np.zeros(inputs[0].shape, dtype=np.float64)
    for vector in inputs:
        total += widen(vector, dtype)
    return total


def count_wrong(
    results: Sequence[Vector],
    inputs: Sequence[Vector],
    dtype: DType,
    method: Method,
    layout: BlockLayout | None = None,
) -> int:
    """How many elements are wrong over all workers; arguments and errors as for `verify`."""
    return verify(results, inputs, dtype, method, layout).wrong


def verify(
    results: Sequence[Vector],
    inputs: Sequence[Vector],
    dtype: DType,
    method: Method,
    layout: BlockLayout | None = None,
) -> Verification:
    """Compare `results[w]` of each worker w with the sum of `inputs`, all flat and equally long.

    Floats summed in the network need the `layout` of their blocks. ValueError for vectors of
    another dtype or length, or no layout; NumericError for inputs that cannot be summed in
    the network.
    """
    _require_alike([*results, *inputs], dtype)
    in_network = method == "in_network" and dtype != "int32"
    if in_network and layout is None:
        raise ValueError("the layout of the blocks is needed to bound an in-network float sum")
    cut = layout if in_network and layout is not None else BlockLayout(_PIECE_ELEMENTS)
    wrong = wrapped = 0
    first = None
    for where in _pieces(inputs[0].size, cut):
        held = [vector[where] for vector in results]
        given = [vector[where] for vector in inputs]
        if dtype == "int32":
            piece = _check_integers(held, given)
        elif in_network:
            piece = _check_in_network(held, given, dtype, cut.elements_per_packet)
        else:
            piece = _check_point_to_point(held, given, dtype)
        wrapped += piece.wrapped
        if piece.wrong is not None:
            wrong += int(np.count_nonzero(piece.wrong))
            first = first or _first_wrong(piece.wrong, piece.expected, held, dtype, where.start)
    return Verification(wrong, wrapped, first)


def _require_alike(vectors: Sequence[Vector], dtype: DType) -> None:
    wanted = (numpy_dtype(dtype), vectors[-1].shape)
    for vector in vectors:
        if (vector.dtype, vector.shape) != wanted or vector.ndim != 1:
            raise ValueError(
                f"vectors must be flat, {wanted[0]} and equally long; one is {vector.dtype} "
                f"of shape {vector.shape}, another of shape {wanted[1]}"
            )


def _pieces(elements: int, layout: BlockLayout) -> Iterator[slice]:
    """Pieces of whole blocks, each within one core's shard, in order."""
    block = layout.elements_per_packet
    step = max(1, _PIECE_ELEMENTS // block) * block
    bounds = shard_bounds(elements, layout.cores)
    for begin, end in pairwise(bounds):
        for start in range(begin, end, step):
            yield slice(start, min(end, start + step))


def _check_integers(results: Sequence[Vector], inputs: Sequence[Vector]) -> _Piece:
    total = exact_sum(inputs, "int32")
    expected = total.astype(np.int32)  # wraps modulo 2^32, as the switch does
    wrapped = int(np.count_nonzero((total < _INT32_MIN) | (total > _INT32_MAX)))
    if all(np.array_equal(result, expected) for result in results):
        return _Piece(expected, None, wrapped)
    return _Piece(expected, np.array([result != expected for result in results]), wrapped)


def _check_in_network(
    results: Sequence[Vector], inputs: Sequence[Vector], dtype: DType, block: int
) -> _Piece:
    exact, magnitude = _sums(inputs, dtype)
    exponents = np.max(
        [block_exponents(widen(vector, dtype), block).exponents for vector in inputs], axis=0
    )
    each = np.repeat(exponents, block)[: exact.size]
    bound = sum_error_bound(each, len(inputs), exact, magnitude, dtype)
    right = _all_within(results, exact, bound, dtype)
    if right.all() and _same_bits(results):
        return _Piece(exact, None)
    return _Piece(exact, ~right | _differing(results, right))


def _check_point_to_point(
    results: Sequence[Vector], inputs: Sequence[Vector], dtype: DType
) -> _Piece:
    exact, magnitude = _sums(inputs, dtype)
    roundoff = UNIT_ROUNDOFF[dtype] + 2.0**-53  # the second for the float64 sum itself
    bound = (len(inputs) - 1) * roundoff * _SLACK * magnitude
    right = _all_within(results, exact, bound, dtype)
    return _Piece(exact, None if right.all() else ~right)


def _sums(inputs: Sequence[Vector], dtype: DType) -> tuple[F64, F64]:
    """The sums of x and of |x|."""
    magnitude = np.zeros(inputs[0].shape, dtype=np.float64)
    for vector in inputs:
        magnitude += np.abs(widen(vector, dtype))
    return exact_sum(inputs, dtype), magnitude


def _all_within(results: Sequence[Vector], exact: F64, bound: F64, dtype: DType) -> Bools:
    """For each worker a row of marks; equal results, the usual case, are compared once."""
    first = _within(results[0], exact, bound, dtype)
    if _same_bits(results):
        return np.broadcast_to(first, (len(results), first.size))
    others = [_within(result, exact, bound, dtype) for result in results[1:]]
    return np.array([first, *others])


def _within(result: Vector, exact: F64, bound: F64, dtype: DType) -> Bools:
    """NaN is never right; an infinity is where the exact sum may round to it."""
    got = widen(result, dtype).astype(np.float64)
    right: Bools = np.abs(got - exact) <= bound
    if right.all():
        return right
    overflows = np.abs(exact) + bound >= OVERFLOW[dtype]
    right |= np.isinf(got) & overflows & (np.sign(got) == np.sign(exact))
    return right


def _bits(vector: Vector) -> Vector:
    return vector.view(f"u{vector.dtype.itemsize}")


def _same_bits(results: Sequence[Vector]) -> bool:
    return all(np.array_equal(_bits(results[0]), _bits(result)) for result in results[1:])


def _differing(results: Sequence[Vector], right: Bools) -> Bools:
    """Marks what differs from the first worker whose element is right."""
    bits = np.array([_bits(result) for result in results])
    reference = np.take_along_axis(bits, right.argmax(axis=0)[np.newaxis], axis=0)
    return np.asarray(bits != reference, dtype=np.bool_)


def _first_wrong(
    wrong: Bools, expected: Vector, results: Sequence[Vector], dtype: DType, offset: int
) -> WrongElement:
    index = int(wrong.any(axis=0).argmax())
    worker = int(wrong[:, index].argmax())
    element = results[worker][index : index + 1]
    got = element if dtype == "int32" else widen(element, dtype)
    return WrongElement(worker, offset + index, got[0].item(), expected[index].item())
