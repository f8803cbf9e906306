"""algbw and busbw are NCCL's, to the digits its tests print."""

from fractions import Fraction

import pytest

from innet.metrics.rates import algorithm_bandwidth_bps, bus_bandwidth_bps, bus_factor

TEN_MS = 10 * 10**9


def gigabytes(rate_bps):
    return round(rate_bps / 8e9, 2)


@pytest.mark.parametrize(
    ("operation", "busbw"),
    [("all_reduce", 187.90), ("reduce_scatter", 93.95), ("all_gather", 93.95)],
)
def test_one_gibibyte_in_ten_milliseconds_among_eight(operation, busbw):
    """The example of nccl-tests issue 45."""
    assert gigabytes(algorithm_bandwidth_bps(2**30, TEN_MS)) == 107.37
    assert gigabytes(bus_bandwidth_bps(2**30, TEN_MS, operation, 8)) == busbw


def test_in_network_all_reduce_at_ten_gigabits():
    """The example of nccl-tests issue 238: the bus rate exceeds the wire's 1.25 GB/s."""
    assert gigabytes(algorithm_bandwidth_bps(100 * 10**6, 80 * 10**9)) == 1.25
    assert gigabytes(bus_bandwidth_bps(100 * 10**6, 80 * 10**9, "all_reduce", 8)) == 2.19


@pytest.mark.parametrize(
    ("operation", "factor"),
    [
        ("all_reduce", Fraction(6, 4)),
        ("reduce_scatter", Fraction(3, 4)),
        ("all_gather", Fraction(3, 4)),
        ("all_to_all", Fraction(3, 4)),
        ("broadcast", 1),
        ("reduce", 1),
    ],
)
def test_factors_of_four_workers(operation, factor):
    assert bus_factor(operation, 4) == factor


def test_one_worker_moves_nothing_over_the_bus():
    assert bus_bandwidth_bps(1024, 1000, "all_reduce", 1) == 0


def test_an_empty_tensor_in_no_time_has_no_rate():
    assert algorithm_bandwidth_bps(0, 0) == 0
    assert bus_bandwidth_bps(0, 0, "all_reduce", 8) == 0
