"""The verifier: right sums pass, and each way to be wrong is counted and located."""

import itertools

import numpy as np
import pytest

from innet.tensors.generate import generate
from innet.tensors.verify import (
    BlockLayout,
    WrongElement,
    count_wrong,
    exact_sum,
    shard_bounds,
    verify,
)
from innet.wire.dtypes import DTYPES, FLOAT_DTYPES, narrow, numpy_dtype, widen
from innet.wire.fixed_point import block_exponents, decode_tensor, encode_tensor

LAYOUT = BlockLayout(elements_per_packet=64, cores=3)
METHODS = ("in_network", "point_to_point")


def f32(*values):
    return np.array(values, dtype=np.float32)


def inputs_of(workers, elements, dtype, seed=1):
    return [generate(worker, elements, dtype, seed) for worker in range(workers)]


def in_network(inputs, dtype, layout=LAYOUT):
    """What the switch's integers make of the inputs, shard by shard."""
    if dtype == "int32":
        return exact_sum(inputs, dtype).astype(np.int32)
    block, workers = layout.elements_per_packet, len(inputs)
    wide = [widen(vector, dtype) for vector in inputs]
    bounds = shard_bounds(inputs[0].size, layout.cores)
    shards = []
    for begin, end in itertools.pairwise(bounds):
        parts = [vector[begin:end] for vector in wide]
        exponents = np.max([block_exponents(part, block).exponents for part in parts], axis=0)
        total = sum(encode_tensor(part, exponents, block, workers) for part in parts)
        shards.append(decode_tensor(total, exponents, block, workers))
    return narrow(np.concatenate(shards), dtype)


def one_by_one(inputs, dtype, order):
    """Additions in one order, each rounded to the dtype."""
    if dtype == "int32":
        return exact_sum(inputs, dtype).astype(np.int32)
    total = inputs[order[0]]
    for worker in order[1:]:
        total = narrow(widen(total, dtype) + widen(inputs[worker], dtype), dtype)
    return total


def summed(method, inputs, dtype):
    if method == "in_network":
        return in_network(inputs, dtype)
    return one_by_one(inputs, dtype, range(len(inputs)))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("workers", "elements"), [(1, 65), (2, 1), (8, 3 * 4096 + 5), (5, 0)])
def test_right_sums_have_no_wrong_element(method, dtype, workers, elements):
    inputs = inputs_of(workers, elements, dtype)
    results = [summed(method, inputs, dtype)] * workers
    found = verify(results, inputs, dtype, method, LAYOUT)
    assert (found.wrong, found.wrapped, found.first) == (0, 0, None)
    assert found.message == ""


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("counted", [[0, 1, 2, 3, 4, 5, 6], [0, 0, 1, 2, 3, 4, 5, 6, 7]])
def test_a_missing_or_doubled_worker_makes_every_element_wrong(method, dtype, counted):
    inputs = inputs_of(8, 2000, dtype)
    result = summed(method, [inputs[worker] for worker in counted], dtype)
    assert count_wrong([result] * 8, inputs, dtype, method, LAYOUT) == 8 * 2000


def test_a_worker_counted_in_anothers_place_makes_every_integer_wrong():
    inputs = inputs_of(4, 5000, "int32")
    result = exact_sum([inputs[0], inputs[0], *inputs[2:]], "int32").astype(np.int32)
    assert count_wrong([result], inputs, "int32", "in_network") == 5000


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("direction", [1, -1])
def test_one_wrong_element_is_located(method, dtype, direction):
    inputs = inputs_of(4, 300_000, dtype)
    right = summed(method, inputs, dtype)
    results = [right, right.copy(), right.copy()]
    for worker, index in ((2, 200_001), (1, 250_000)):
        if dtype == "int32":
            results[worker][index] += direction
        else:
            moved = widen(results[worker][index : index + 1], dtype) + np.float32(direction)
            results[worker][index : index + 1] = narrow(moved, dtype)
    found = verify(results, inputs, dtype, method, LAYOUT)
    assert found.wrong == 2
    assert (found.first.worker, found.first.index) == (2, 200_001)
    assert (found.first.got - found.first.expected) * direction > 0.5


def test_errors_of_either_sign_count():
    inputs = [f32(1, 1), f32(1, 1)]
    for method in METHODS:
        assert count_wrong([f32(3, 1)], inputs, "float32", method, BlockLayout(2)) == 2


@pytest.mark.parametrize("dtype", FLOAT_DTYPES)
def test_in_network_results_must_be_the_same_bits_at_every_worker(dtype):
    inputs = inputs_of(8, 500, dtype, seed=2)
    right = in_network(inputs, dtype)
    other = right.copy()
    step = np.uint32(1) if dtype == "float32" else np.uint16(1)
    other.view(step.dtype)[7] ^= step  # one unit in the last place: within the bound
    broad = BlockLayout(elements_per_packet=500)
    found = verify([right, other, right], inputs, dtype, "in_network", broad)
    assert found.wrong == 1
    assert (found.first.worker, found.first.index) == (1, 7)
    assert count_wrong([right, other, right], inputs, dtype, "point_to_point") == 0


def test_the_worker_that_is_right_is_the_reference():
    inputs = [f32(1), f32(2)]
    found = verify([f32(9), f32(3), f32(3)], inputs, "float32", "in_network", BlockLayout(1))
    assert found.wrong == 1
    assert found.first == WrongElement(worker=0, index=0, got=9.0, expected=3.0)
    assert found.message == "worker 0 holds 9 at element 0, where the sum is 3"


def test_an_integer_sum_wraps_and_is_reported():
    inputs = [np.array([2147483647, 5], dtype=np.int32), np.array([1, 5], dtype=np.int32)]
    result = np.array([-2147483648, 10], dtype=np.int32)
    found = verify([result, result], inputs, "int32", "in_network")
    assert (found.wrong, found.wrapped) == (0, 1)
    below = [-value for value in inputs]
    below[1][0] = -2
    found = verify([np.array([2147483647, -10], dtype=np.int32)], below, "int32", "in_network")
    assert (found.wrong, found.wrapped) == (0, 1)


def test_any_order_of_point_to_point_additions_is_right():
    inputs = [f32(1e8), f32(1), f32(-1e8), f32(1)]
    sums = {
        one_by_one(inputs, "float32", order)[0].item() for order in itertools.permutations(range(4))
    }
    assert sums == {0.0, 1.0, 2.0}
    for value in sums:
        assert count_wrong([f32(value)], inputs, "float32", "point_to_point") == 0
    assert count_wrong([f32(64)], inputs, "float32", "point_to_point") == 1


def test_in_network_sums_do_not_depend_on_the_order():
    layout = BlockLayout(elements_per_packet=1)
    vectors = [f32(1e8), f32(1), f32(-1e8), f32(1)]
    results = {
        in_network(order, "float32", layout).tobytes() for order in itertools.permutations(vectors)
    }
    assert results == {f32(2).tobytes()}
    assert count_wrong([f32(2)] * 4, vectors, "float32", "in_network", layout) == 0


@pytest.mark.parametrize("dtype", FLOAT_DTYPES)
@pytest.mark.parametrize("workers", [16, 300])
def test_many_workers_in_many_orders(dtype, workers):
    inputs = inputs_of(workers, 300, dtype)
    random = np.random.default_rng(workers)
    for _ in range(3):
        result = one_by_one(inputs, dtype, random.permutation(workers))
        assert count_wrong([result], inputs, dtype, "point_to_point") == 0
    assert count_wrong([in_network(inputs, dtype)], inputs, dtype, "in_network", LAYOUT) == 0


def test_the_bound_follows_each_cores_blocks():
    """A small element is bounded by its own block, which starts at its core's first element."""
    small, large = np.full(5, 2.0**-10), np.full(5, 2.0**20)
    inputs = [np.concatenate([small, large]).astype(np.float32)] * 2
    result = 2 * inputs[0]
    result[4] += np.float32(2.0**-20)
    sharded = BlockLayout(elements_per_packet=8, cores=2)
    assert count_wrong([result], inputs, "float32", "in_network", sharded) == 1
    whole = BlockLayout(elements_per_packet=8)
    assert count_wrong([result], inputs, "float32", "in_network", whole) == 0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", FLOAT_DTYPES)
def test_a_result_that_is_no_number_is_wrong(method, bad, dtype):
    inputs = inputs_of(2, 3, dtype)
    result = summed(method, inputs, dtype)
    result[1:2] = narrow(f32(bad), dtype)
    found = verify([result], inputs, dtype, method, LAYOUT)
    assert (found.wrong, found.first.index) == (1, 1)


@pytest.mark.parametrize("method", METHODS)
def test_a_sum_beyond_the_range_is_infinite_with_its_sign(method):
    inputs = [np.array([60000, -60000], dtype=np.float16)] * 2
    result = np.array([np.inf, -np.inf], dtype=np.float16)
    assert count_wrong([result], inputs, "float16", method, LAYOUT) == 0
    assert count_wrong([-result], inputs, "float16", method, LAYOUT) == 2
    assert count_wrong([inputs[0]], inputs, "float16", method, LAYOUT) == 2


def test_zeros_must_stay_zeros():
    inputs = [f32(0, 0)] * 3
    for method in METHODS:
        assert count_wrong([f32(0, 0)], inputs, "float32", method, LAYOUT) == 0
        assert count_wrong([f32(0, 1e-45)], inputs, "float32", method, LAYOUT) == 1


def test_shards_are_even_and_the_first_are_longer():
    assert shard_bounds(1000, 4) == (0, 250, 500, 750, 1000)
    assert shard_bounds(10, 4) == (0, 3, 6, 8, 10)


def test_vectors_must_be_alike():
    good = np.zeros(4, dtype=np.int32)
    for bad in (np.zeros(3, dtype=np.int32), f32(0, 0, 0, 0), good.reshape(2, 2)):
        with pytest.raises(ValueError, match="equally long"):
            verify([bad], [good], "int32", "in_network")
    with pytest.raises(ValueError, match="flat"):
        verify([good.reshape(2, 2)], [good.reshape(2, 2)], "int32", "in_network")


def test_in_network_floats_need_their_layout():
    values = np.zeros(2, dtype=numpy_dtype("bfloat16"))
    with pytest.raises(ValueError, match="layout"):
        verify([values], [values], "bfloat16", "in_network")
