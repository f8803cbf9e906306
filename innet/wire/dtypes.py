"""The element types that a collective may have, and their way to and from float32.

numpy has no bfloat16, so its bit patterns are kept as uint16: the upper half of a float32.
The switch adds integers and point-to-point algorithms add float32; narrower floats are
widened before and rounded (to nearest, ties to even) after.
"""

from collections.abc import Mapping
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

DType = Literal["int32", "float32", "float16", "bfloat16"]

DTYPES: tuple[DType, ...] = get_args(DType)
FLOAT_DTYPES: tuple[DType, ...] = ("float32", "float16", "bfloat16")
ITEMSIZE: Mapping[DType, int] = {"int32": 4, "float32": 4, "float16": 2, "bfloat16": 2}
"""Bytes an element takes in memory."""

UNIT_ROUNDOFF: Mapping[DType, float] = {
    "float32": 2.0**-24,
    "float16": 2.0**-11,
    "bfloat16": 2.0**-8,
}
"""Largest relative error of one rounding to nearest in the normal range."""

HALF_SUBNORMAL: Mapping[DType, float] = {
    "float32": 2.0**-150,
    "float16": 2.0**-25,
    "bfloat16": 2.0**-134,
}
"""Largest absolute error of one rounding to nearest in the subnormal range."""

OVERFLOW: Mapping[DType, float] = {
    "float32": 2.0**128 - 2.0**103,
    "float16": 65520.0,
    "bfloat16": 2.0**128 - 2.0**119,
}
"""Least magnitude that rounds to infinity."""

_STORAGE: Mapping[DType, np.dtype[Any]] = {
    "int32": np.dtype(np.int32),
    "float32": np.dtype(np.float32),
    "float16": np.dtype(np.float16),
    "bfloat16": np.dtype(np.uint16),
}


def numpy_dtype(dtype: DType) -> np.dtype[Any]:
    """The numpy dtype that holds `dtype`: uint16 bit patterns for bfloat16."""
    return _STORAGE[dtype]


def widen(array: npt.NDArray[Any], dtype: DType) -> npt.NDArray[np.float32]:
    """The same values as float32, exactly. `array` is of `numpy_dtype(dtype)`, any shape.

    A float32 array is returned as it is, not copied. ValueError for int32, which has no
    exact float32 form.
    """
    if dtype == "bfloat16":
        bits = array.astype(np.uint32)
        bits <<= np.uint32(16)
        return bits.view(np.float32)
    if dtype == "int32":
        raise ValueError("int32 values are not widened to float32: most do not fit exactly")
    return array.astype(np.float32, copy=False)


def narrow(array: npt.NDArray[np.float32], dtype: DType) -> npt.NDArray[Any]:
    """Round float32 values to `dtype`, to nearest with ties to even, as IEEE 754 does.

    Values beyond the range become infinite, NaN stays NaN. A float32 array is returned as it
    is. ValueError for int32.
    """
    if dtype == "bfloat16":
        return _narrow_to_bfloat16(array)
    if dtype == "int32":
        raise ValueError("float32 values are not narrowed to int32: decode the integers instead")
    with np.errstate(over="ignore"):
        return array.astype(_STORAGE[dtype], copy=False)


def add(mine: npt.NDArray[Any], theirs: npt.NDArray[Any], dtype: DType) -> npt.NDArray[Any]:
    """Return the sum of two arrays of `numpy_dtype(dtype)`: narrow floats are added as float32."""
    if dtype in ("int32", "float32"):
        total: npt.NDArray[Any] = mine + theirs
        return total
    return narrow(widen(mine, dtype) + widen(theirs, dtype), dtype)


def _narrow_to_bfloat16(array: npt.NDArray[np.float32]) -> npt.NDArray[np.uint16]:
    bits = np.ascontiguousarray(array, dtype=np.float32).view(np.uint32)
    upper = bits >> np.uint32(16)
    rounded = (bits + np.uint32(0x7FFF) + (upper & np.uint32(1))) >> np.uint32(16)
    nan = np.isnan(array)
    if nan.any():  # the carry could turn a NaN into an infinity or a zero
        rounded = np.where(nan, upper | np.uint32(0x40), rounded)
    return rounded.astype(np.uint16)
