"""What sparse collectives exchange where nothing sums them."""

from fractions import Fraction

import pytest

from innet.wire.dtypes import DTYPES
from innet.workload.actions import Call
from innet.workload.sparse import as_exchange
from innet.workload.statements import ELEMENT_TYPES, Place


def call(kind, elements, value_bytes, density):
    size = elements * value_bytes
    return Call(kind, ("w",), (3, 4, 5, 6), size, "min", 0, "g", Place("s.yaml", 7), None, density)


@pytest.mark.parametrize(
    ("kind", "value_bytes", "expected_kind", "expected_bytes"),
    [
        # 1000 elements, 21 of them (2.05 % rounded up) not zero, 4 ranks.
        ("all_reduce", 4, "all_gather", 4 * 21 * 8),
        ("all_reduce", 2, "all_gather", 4 * 21 * 6),
        ("reduce", 4, "gather", 4 * 21 * 8),
        ("reduce_scatter", 4, "all_to_all", 21 * 8),
        ("all_gather", 4, "all_gather", 21 * 8),
        ("broadcast", 4, "broadcast", 21 * 8),
    ],
)
def test_pairs_are_exchanged(kind, value_bytes, expected_kind, expected_bytes):
    sparse = call(kind, 1000, value_bytes, Fraction(205, 10000))
    dense = as_exchange(sparse, value_bytes)
    assert (dense.kind, dense.size) == (expected_kind, expected_bytes)
    assert (dense.op, dense.dtype, dense.density) == ("sum", "int32", None)
    assert (dense.group, dense.handle, dense.place) == (sparse.group, "g", sparse.place)


@pytest.mark.parametrize(
    ("kind", "last"), [("all_reduce", 249), ("reduce", 124), ("reduce_scatter", 499)]
)
def test_a_vector_that_is_dense_enough_goes_as_it_is(kind, last):
    """Four ranks' pairs of 8 B: from a quarter of 1000 elements on they are 2 x 4000 B."""
    assert as_exchange(call(kind, 1000, 4, Fraction(last, 1000)), 4).kind != kind
    full = call(kind, 1000, 4, Fraction(last + 1, 1000))
    assert as_exchange(full, 4) == full._replace(density=None)


def test_a_dense_call_stays_as_it_is():
    dense = call("all_reduce", 1000, 4, None)
    assert as_exchange(dense, 4) is dense


def test_element_types_are_those_of_the_wire():
    assert ELEMENT_TYPES == DTYPES
