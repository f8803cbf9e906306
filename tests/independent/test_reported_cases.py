"""All-reduce times that users of other simulators asked about, with what they ought to be."""

from functools import cache

import pytest
from stars import finish_times, star_plan

from innet.collectives.algorithms import ALGORITHMS

US = 10**6


def ring_us(workers: int, rate: str) -> float:
    plan = star_plan("ring", 10 * 2**20, workers=workers, rate=rate, delay="1 us")
    return max(finish_times(plan)) / US


# 10 MiB at 10 Gbps and 1 us a link; a packet of 8 KiB crosses a second link in every step.
@pytest.mark.parametrize(("workers", "right_us"), [(4, 12_595), (8, 14_708)])
def test_a_ring_of_more_workers_takes_longer(workers, right_us):
    store_and_forward_us = 2 * (workers - 1) * 6.5536
    assert ring_us(workers, "10 Gbps") == pytest.approx(right_us + store_and_forward_us, abs=1)


def test_a_tenth_of_the_rate_takes_about_ten_times_as_long():
    assert 9.98 < ring_us(4, "1 Gbps") / ring_us(4, "10 Gbps") < 10


@cache
def hundred_megabytes_ms(algorithm: str) -> float:
    """All-reduce by eight workers at 50 GB/s and 10 ns a link, without headers."""
    plan = star_plan(
        algorithm,
        10**8,
        workers=8,
        rate="400 Gbps",
        delay="10 ns",
        packet="{elements: 15625, overhead: 0 B}",
        message="{payload: 62500 B, overhead: 0 B, window: 256}",
    )
    return max(finish_times(plan)) / 1e9


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_no_point_to_point_algorithm_beats_twice_seven_eighths_of_the_vector(algorithm):
    assert hundred_megabytes_ms(algorithm) > 3.5


def test_a_ring_takes_twice_seven_eighths_of_the_vector():
    # 14 steps, each with one packet of 62.5 KB more for the switch's store and forward.
    assert hundred_megabytes_ms("ring") == pytest.approx(3.5 + 14 * 0.00125, rel=1e-4)


def test_in_the_network_the_vector_passes_once():
    assert hundred_megabytes_ms("in_network") == pytest.approx(2.0, rel=1e-3)
