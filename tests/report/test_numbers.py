"""How numbers are written."""

import pytest

from innet.report.numbers import (
    elements_per_second,
    gigabytes_per_second,
    over_bound,
    short_bytes,
    short_duration,
    short_parameter,
)


@pytest.mark.parametrize(
    ("duration_ps", "text"),
    [
        (0, "0 s"),
        (999, "999 ps"),
        (163_200, "163.20 ns"),
        (166_363_200, "166.36 us"),
        (999_999_600, "1.0000 ms"),
        (8_439_051_200, "8.4391 ms"),
        (84_377_912_000, "84.378 ms"),
        (12_345_678 * 10**12, "12346000 s"),
    ],
)
def test_durations_have_five_digits(duration_ps, text):
    assert short_duration(duration_ps) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (999, "999 B"), (1_126_400, "1.126 MB"), (28_160_000_000, "28.16 GB")],
)
def test_bytes_have_four_digits(count, text):
    assert short_bytes(count) == text


@pytest.mark.parametrize(
    ("rate_bps", "text"), [(0, "0"), (859_000_000_000, "107.38"), (418_000_000, "0.0522")]
)
def test_bandwidths_are_gigabytes_per_second(rate_bps, text):
    assert gigabytes_per_second(rate_bps) == text


@pytest.mark.parametrize(
    ("time", "bound", "text"),
    [(102, 100, "+2.0%"), (100, 100, "+0.0%"), (1200, 100, "x12"), (100, 0, "-")],
)
def test_distance_to_the_bound(time, bound, text):
    assert over_bound(time, bound) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "on"),
        (False, "off"),
        (1e-4, "1e-4"),
        (2.5e-5, "2.5e-5"),
        (0.0, "0"),
        (0.25, "0.25"),
        (16, "16"),
        ("25 MiB", "25 MiB"),
        (["spine", "leaf0"], "[spine, leaf0]"),
    ],
)
def test_swept_values_are_written_as_in_a_scenario(value, text):
    assert short_parameter(value) == text


def test_elements_a_second():
    assert elements_per_second(1000, 10**9) == 1_000_000
    assert elements_per_second(0, 0) == 0
