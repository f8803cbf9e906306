"""Block floating point: exponents, scale, encoding, the sum's error and what is refused."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from innet.errors import ConfigurationError
from innet.wire.dtypes import FLOAT_DTYPES, narrow, widen
from innet.wire.fixed_point import (
    ZERO_EXPONENT,
    NumericError,
    block_exponent,
    block_exponents,
    decode,
    decode_tensor,
    encode,
    encode_tensor,
    headroom_bits,
    scale,
    sum_error_bound,
)

LARGEST_BELOW_ONE = np.float32(1.0) - np.float32(2.0**-24)
carried = st.floats(
    width=32,
    allow_nan=False,
    allow_infinity=False,
    min_value=-(2.0**126),
    max_value=2.0**126,
)


def f32(*values):
    return np.array(values, dtype=np.float32)


def in_network_sum(vectors):
    """What a switch makes of one block a worker, and the exponent it used."""
    exponent = max(block_exponent(vector) for vector in vectors)
    total = np.zeros(vectors[0].shape, dtype=np.int32)
    for vector in vectors:
        total += encode(vector, exponent, len(vectors))
    return decode(total, exponent, len(vectors)), exponent


@pytest.mark.parametrize(
    ("largest", "workers", "exponent", "factor"),
    [(0.99, 2, 0, 2.0**30), (1.0, 8, 1, 134217728.0), (-1.0, 8, 1, 2.0**27), (0.5, 1, 0, 2.0**31)],
)
def test_exponent_and_scale(largest, workers, exponent, factor):
    assert block_exponent(f32(0.1, largest)) == exponent
    assert scale(exponent, workers) == factor


def test_small_integers_are_exact():
    values = f32(1, 2, 3, 4)
    total, _ = in_network_sum([values, values])
    assert total.tolist() == [2, 4, 6, 8]


def test_rank_and_reciprocal_of_rank():
    vectors = [f32(rank, 1 / rank if rank else 0) for rank in range(4)]
    total, _ = in_network_sum(vectors)
    assert total[0] == 6
    assert total[1] == pytest.approx(1.83333, abs=1e-5)


def test_the_sum_does_not_depend_on_order():
    sums = {
        in_network_sum([f32(value) for value in order])[0].tobytes()
        for order in itertools.permutations((1e8, 1, -1e8, 1))
    }
    assert sums == {f32(2).tobytes()}


def test_a_zero_block_is_exactly_zero():
    total, exponent = in_network_sum([f32(0, -0.0, 0)] * 3)
    assert exponent == ZERO_EXPONENT
    assert total.tobytes() == f32(0, 0, 0).tobytes()


def test_a_zero_block_of_one_worker_leaves_the_others_values():
    total, _ = in_network_sum([f32(0, 0), f32(1.5, -2)])
    assert total.tolist() == [1.5, -2]


def test_rounding_is_half_to_even():
    exponent = 31  # f = 1 for one worker
    assert encode(f32(0.5, 1.5, 2.5, -0.5, -1.5), exponent, 1).tolist() == [0, 2, 2, 0, -2]


def test_encode_into_a_given_array():
    out = np.full(2, 7, dtype=np.int32)
    assert encode(f32(1, -1), 1, 1, out=out) is out
    assert out.tolist() == [2**30, -(2**30)]
    assert encode(f32(0, 0), ZERO_EXPONENT, 1, out=out).tolist() == [0, 0]


@pytest.mark.parametrize("sign", [1, -1])
def test_the_largest_sum_does_not_overflow(sign):
    for workers in range(1, 4097):
        value = int(encode(f32(sign * LARGEST_BELOW_ONE), 0, workers)[0])
        assert -(2**31) <= value * workers < 2**31, workers
        assert abs(value) >= 2 ** (30 - headroom_bits(workers)), workers


def test_the_scale_is_the_largest_safe_power_of_two():
    for workers in range(1, 4097):
        doubled = np.rint(np.ldexp(LARGEST_BELOW_ONE, 32 - headroom_bits(workers)))
        assert int(doubled) * workers >= 2**31


@pytest.mark.parametrize("workers", [0, -1])
def test_no_scale_without_workers(workers):
    with pytest.raises(ValueError, match="at least 1"):
        headroom_bits(workers)


@pytest.mark.parametrize("exponent", [ZERO_EXPONENT, 128])
def test_no_scale_outside_the_exponents(exponent):
    with pytest.raises(ValueError, match="-127 to 127"):
        scale(exponent, 2)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 2.0**127, -(2.0**127)])
def test_values_that_cannot_be_carried_are_named(bad):
    values = np.ones(100, dtype=np.float32)
    values[70] = bad
    for find in (
        lambda: block_exponent(values, tensor="fc.weight", first=1000),
        lambda: block_exponents(values, 32, tensor="fc.weight", first=1000),
    ):
        with pytest.raises(NumericError, match=r"fc\.weight: element 1070 is .*below 2\^127"):
            find()
    assert issubclass(NumericError, ConfigurationError)


def test_the_greatest_and_the_least_exponent():
    just_below = np.nextafter(f32(2.0**127), f32(0))
    assert block_exponent(just_below) == 127
    assert block_exponent(f32(2.0**-128)) == -127
    below = np.nextafter(f32(2.0**-128), f32(0))
    assert block_exponent(below) == ZERO_EXPONENT
    assert block_exponents(below, 1) == (np.array([-128]), 1)


def test_flushed_blocks_are_counted_and_zero_blocks_are_not():
    exponents, flushed = block_exponents(f32(0, 0, 1e-40, -1e-39, 1, 0, 0), 2)
    assert exponents.tolist() == [-128, -128, 1, -128]
    assert flushed == 2 - 1
    total, _ = in_network_sum([f32(1e-40)] * 2)
    assert total.tolist() == [0]


def test_sums_at_both_ends_of_the_range():
    tiny = f32(2.0**-128, 2.0**-140)
    assert in_network_sum([tiny, tiny])[0].tolist() == [2.0**-127, 2.0**-139]
    large = f32(1.5 * 2.0**126)
    assert in_network_sum([large, -large])[0].tolist() == [0]
    assert in_network_sum([large, large])[0].tolist() == [1.5 * 2.0**127]
    assert in_network_sum([large] * 3)[0].tolist() == [np.inf]


@pytest.mark.parametrize("exponent", [0, ZERO_EXPONENT])
def test_a_block_above_its_exponent_is_refused(exponent):
    with pytest.raises(NumericError, match="not below"):
        encode(f32(0.5, 1.0), exponent, 2)
    with pytest.raises(NumericError, match="block 1 holds"):
        encode_tensor(f32(0, 0, 0.5, 1.0), np.array([0, exponent], dtype=np.int8), 2, 2)


def test_empty_blocks_and_tensors():
    assert block_exponent(f32()) == ZERO_EXPONENT
    assert encode(f32(), 3, 2).size == 0
    exponents, flushed = block_exponents(f32(), 32)
    assert (exponents.size, flushed) == (0, 0)
    assert encode_tensor(f32(), exponents, 32, 2).size == 0
    assert decode_tensor(np.array([], dtype=np.int32), exponents, 32, 2).size == 0


@pytest.mark.parametrize(
    ("values", "block"), [(f32(1), None), (f32(1), 0), (f32(1).reshape(1, 1), 1)]
)
def test_the_block_length_must_be_known(values, block):
    with pytest.raises(ValueError, match="block length"):
        block_exponents(values, block)


@pytest.mark.parametrize("block", [32, 256, 7])
def test_whole_tensors_give_the_same_numbers_as_blocks(block):
    random = np.random.default_rng(block)
    elements = 2 * (1 << 17) + 3 * block - 1  # more than two chunks and a short last block
    values = random.standard_normal(elements).astype(np.float32)
    values *= np.exp2(random.integers(-60, 60, elements)).astype(np.float32)
    values[5 * block : 6 * block] = 0
    exponents, _ = block_exponents(values, block)
    encoded = encode_tensor(values, exponents, block, 5)
    decoded = decode_tensor(encoded, exponents, block, 5)
    last = (elements - 1) // block
    for index in [*range(20), 131072 // block, last - 1, last]:
        part = slice(index * block, (index + 1) * block)
        exponent = block_exponent(values[part])
        assert exponents[index] == exponent
        assert np.array_equal(encoded[part], encode(values[part], exponent, 5))
        assert np.array_equal(decoded[part], decode(encoded[part], exponent, 5))
    rows = values[: 10 * block].reshape(10, block)
    assert np.array_equal(block_exponents(rows).exponents, exponents[:10])


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 9).flatmap(
        lambda workers: hnp.arrays(np.float32, (workers, 4), elements=carried)
    ),
    st.sampled_from(FLOAT_DTYPES),
)
def test_the_error_of_a_sum_stays_within_its_bound(vectors, dtype):
    stored = [narrow(vector, dtype) for vector in vectors]
    widened = [np.where(np.isfinite(widen(x, dtype)), widen(x, dtype), 1) for x in stored]
    widened = [x.astype(np.float32) for x in widened]
    total, exponent = in_network_sum(widened)
    result = widen(narrow(total, dtype), dtype)
    exact = [sum(map(Fraction, map(float, column))) for column in zip(*widened, strict=True)]
    magnitude = [
        sum(abs(Fraction(float(x))) for x in column) for column in zip(*widened, strict=True)
    ]
    bounds = sum_error_bound(
        np.array(exponent, dtype=np.int8),
        len(widened),
        np.array([float(x) for x in exact]),
        np.array([float(x) for x in magnitude]),
        dtype,
    )
    for got, right, bound in zip(result.tolist(), exact, bounds, strict=True):
        if math.isfinite(got):
            assert abs(Fraction(got) - right) <= Fraction(float(bound))


def test_the_bound_is_n_half_steps_and_one_rounding():
    bound = sum_error_bound(np.int8(0), 4, np.array([0.0]), np.array([0.0]))
    assert bound[0] == pytest.approx(4 / (2 * scale(0, 4)), rel=1e-6)
    bound = sum_error_bound(np.int8(0), 4, np.array([1.0]), np.array([1.0]), "float16")
    assert bound[0] == pytest.approx(2.0**-11, rel=1e-2)
    zero = sum_error_bound(np.int8(ZERO_EXPONENT), 4, np.array([0.0]), np.array([0.0]))
    assert zero[0] < 2.0**-149


def test_flushed_blocks_of_a_tensor_are_zeros_both_ways():
    values = f32(1e-39, -1e-39, 0.5, 0.25)
    exponents, _ = block_exponents(values, 2)
    encoded = encode_tensor(values, exponents, 2, 2)
    assert encoded.tolist() == [0, 0, 2**29, 2**28]
    noise = np.array([2**30, -5, 2**29, 2**28], dtype=np.int32)
    assert decode_tensor(noise, exponents, 2, 2).tolist() == [0, 0, 0.5, 0.25]
    assert decode(noise[:2], ZERO_EXPONENT, 2).tolist() == [0, 0]


def test_a_flushed_block_may_be_wrong_by_all_that_was_flushed():
    exact = np.array([2e-39])
    bound = sum_error_bound(np.int8(ZERO_EXPONENT), 2, exact, exact)
    assert 2e-39 <= bound[0] < 2.1e-39
