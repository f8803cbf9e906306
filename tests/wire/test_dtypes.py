"""Widening and narrowing: exact one way, to nearest with ties to even the other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from innet.wire.dtypes import (
    DTYPES,
    FLOAT_DTYPES,
    HALF_SUBNORMAL,
    ITEMSIZE,
    OVERFLOW,
    UNIT_ROUNDOFF,
    narrow,
    numpy_dtype,
    widen,
)


def f32(*values):
    return np.array(values, dtype=np.float32)


@pytest.mark.parametrize("dtype", DTYPES)
def test_item_sizes(dtype):
    assert numpy_dtype(dtype).itemsize == ITEMSIZE[dtype]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_every_pattern_survives_widening_and_narrowing(dtype):
    patterns = np.arange(2**16, dtype=np.uint16)
    values = widen(patterns.view(numpy_dtype(dtype)), dtype)
    back = narrow(values, dtype).view(np.uint16)
    numbers = ~np.isnan(values)
    assert np.array_equal(back[numbers], patterns[numbers])
    assert np.isnan(widen(narrow(values[~numbers], dtype), dtype)).all()


def test_bfloat16_ties_go_to_even():
    step = 2.0**-7
    values = f32(1 + step / 2, 1 + 3 * step / 2, 1 + step / 2 + 2.0**-20, -1 - step / 2)
    rounded = widen(narrow(values, "bfloat16"), "bfloat16")
    assert rounded.tolist() == [1, 1 + 2 * step, 1 + step, -1]


@pytest.mark.parametrize("dtype", FLOAT_DTYPES)
def test_the_least_value_that_overflows(dtype):
    with np.errstate(over="ignore"):
        infinite = f32(OVERFLOW[dtype])
    assert np.isinf(widen(narrow(infinite, dtype), dtype)).all()
    below = np.nextafter(infinite, f32(0))
    assert np.isfinite(widen(narrow(below, dtype), dtype)).all()


def test_the_nan_with_all_bits_set_stays_nan():
    nan = np.array([0xFFFFFFFF, 0x7F800001], dtype=np.uint32).view(np.float32)
    assert np.isnan(widen(narrow(nan, "bfloat16"), "bfloat16")).all()


@given(st.floats(width=32, min_value=-60000, max_value=60000), st.sampled_from(FLOAT_DTYPES))
def test_one_rounding_errs_by_a_unit_roundoff_at_most(value, dtype):
    rounded = float(widen(narrow(f32(value), dtype), dtype)[0])
    assert abs(rounded - value) <= max(UNIT_ROUNDOFF[dtype] * abs(value), HALF_SUBNORMAL[dtype])


def test_float32_is_not_copied():
    values = f32(1, 2)
    assert widen(values, "float32") is values
    assert narrow(values, "float32") is values


def test_int32_is_neither_widened_nor_narrowed():
    with pytest.raises(ValueError, match="int32"):
        widen(np.zeros(1, dtype=np.int32), "int32")
    with pytest.raises(ValueError, match="int32"):
        narrow(f32(1), "int32")
