"""Generated tensors: the same everywhere, never near zero, different for every worker."""

import hashlib

import numpy as np
import pytest

from innet.tensors.generate import MAXIMUM_WORKERS, generate
from innet.wire.dtypes import DTYPES, FLOAT_DTYPES, numpy_dtype, widen

GAMMA = 0x9E3779B97F4A7C15
ACROSS_CHUNKS = 3 * 65536 + 17


def splitmix64(state):
    """The published generator, one number at a time."""
    state = (state + GAMMA) % 2**64
    mixed = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB % 2**64
    return mixed ^ (mixed >> 31)


@pytest.mark.parametrize(
    ("dtype", "digest"),
    [
        ("int32", "d243c20928e885f3"),
        ("float32", "545c740893b91d6c"),
        ("float16", "a0c756ed942eeea8"),
        ("bfloat16", "60b3f6989dbcc51b"),
    ],
)
def test_the_bytes_never_change(dtype, digest):
    values = generate(3, ACROSS_CHUNKS, dtype, seed=1)
    assert values.dtype == numpy_dtype(dtype)
    little_endian = values.astype(values.dtype.newbyteorder("<")).tobytes()
    assert hashlib.sha256(little_endian).hexdigest()[:16] == digest


def test_the_generator_is_splitmix64():
    assert splitmix64(1234567) == 6457827717110365317  # the published first output
    seed, worker = 11, 2
    stream = splitmix64(GAMMA * (splitmix64(GAMMA * (seed - 1)) + worker))
    for index, value in enumerate(generate(worker, 5, "float32", seed).view(np.uint32).tolist()):
        expected = splitmix64(stream + index * GAMMA)
        assert value & 0x7FFFFF == expected & 0x7FFFFF
        assert value >> 31 == expected >> 63


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_longer_tensor_begins_like_a_shorter_one(dtype):
    long = generate(1, ACROSS_CHUNKS, dtype, seed=5)
    for elements in (0, 1, 1023, 1025, 65536, 65537):
        assert np.array_equal(generate(1, elements, dtype, seed=5), long[:elements])


@pytest.mark.parametrize("dtype", DTYPES)
def test_seed_and_worker_change_the_values(dtype):
    base = generate(0, 4096, dtype, seed=1)
    for other in (generate(1, 4096, dtype, seed=1), generate(0, 4096, dtype, seed=2)):
        assert np.count_nonzero(base != other) > 3900


@pytest.mark.parametrize("seed", [-1, 2**64, 2**70 + 3])
def test_any_integer_is_a_seed(seed):
    assert generate(0, 10, "int32", seed).size == 10


def test_integers_are_large_and_their_sum_never_overflows():
    values = generate(4095, ACROSS_CHUNKS, "int32", seed=9)
    magnitudes = np.abs(values)
    assert magnitudes.min() >= 2**18
    assert int(magnitudes.max()) * MAXIMUM_WORKERS < 2**31
    assert 0.45 < np.mean(values > 0) < 0.55


def test_integers_of_all_workers_differ_at_every_index():
    columns = np.abs([generate(worker, 300, "int32", seed=3) for worker in range(64)])
    assert all(len(set(column)) == 64 for column in columns.T.tolist())


@pytest.mark.parametrize("dtype", FLOAT_DTYPES)
def test_floats_are_never_small_beside_their_neighbours(dtype):
    values = np.abs(widen(generate(2, 64 * 1024, dtype, seed=4), dtype)).reshape(64, 1024)
    largest, least = values.max(axis=1), values.min(axis=1)
    assert (largest < 2 * least).all()
    exponents = np.frexp(least)[1]
    assert set(exponents.tolist()) == set(range(-4, 4))
    assert float(values.max()) * MAXIMUM_WORKERS < 65504
    signs = np.sign(widen(generate(2, 4096, dtype, seed=4), dtype))
    assert abs(signs.mean()) < 0.1


@pytest.mark.parametrize("dtype", FLOAT_DTYPES)
def test_regions_have_one_exponent_for_all_workers(dtype):
    first, second = (widen(generate(worker, 5000, dtype, seed=7), dtype) for worker in (0, 1))
    assert np.array_equal(np.frexp(first)[1], np.frexp(second)[1])


@pytest.mark.parametrize("worker", [-1, MAXIMUM_WORKERS])
def test_worker_numbers_that_cannot_be_told_apart(worker):
    with pytest.raises(ValueError, match="0 to 4095"):
        generate(worker, 1, "int32", 0)
