"""Quantities are exact, and what is not a quantity is refused with what would be right."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from innet.units import (
    DURATION_UNITS,
    MAXIMUM_DURATION_PS,
    MAXIMUM_RATE_BPS,
    MAXIMUM_SIZE_BYTES,
    RATE_UNITS,
    SIZE_UNITS,
    format_duration,
    format_rate,
    format_size,
    parse_duration,
    parse_probability,
    parse_rate,
    parse_size,
    serialisation_ps,
)


@pytest.mark.parametrize(
    ("text", "bps"),
    [
        ("10 Gbps", 10**10),
        ("10Gbps", 10**10),
        ("  2.5 Gbps ", 25 * 10**8),
        ("1 bps", 1),
        ("64 Kbps", 64_000),
        ("0.1 Mbps", 100_000),
        ("1e3 Mbps", 10**9),
        ("10 Tbps", MAXIMUM_RATE_BPS),
        ("0 bps", 0),
    ],
)
def test_rates_are_bits_a_second(text, bps):
    assert parse_rate(text) == bps


@pytest.mark.parametrize(
    ("text", "ps"),
    [
        ("1 ps", 1),
        ("400 ns", 400_000),
        ("1us", 10**6),
        ("1.5 us", 1_500_000),
        ("0.001 ns", 1),
        ("50 ms", 5 * 10**10),
        ("86400 s", MAXIMUM_DURATION_PS),
    ],
)
def test_durations_are_picoseconds(text, ps):
    assert parse_duration(text) == ps


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("76 B", 76),
        ("1 KB", 1000),
        ("1 KiB", 1024),
        ("25 MiB", 26_214_400),
        ("100 MB", 10**8),
        ("0.5 KiB", 512),
        ("1 GiB", 2**30),
        ("1 GB", 10**9),
        ("1000 TB", MAXIMUM_SIZE_BYTES),
    ],
)
def test_sizes_are_bytes_in_decimal_and_binary_units(text, size):
    assert parse_size(text) == size


REFUSED = [
    (parse_rate, "64 Kb", "unknown unit 'Kb' for a rate"),
    (parse_rate, "10 gbps", "did you mean 'Gbps'?"),
    (parse_rate, "10 GB", "unknown unit 'GB' for a rate"),
    (parse_rate, 10, "10 has no unit"),
    (parse_rate, "10", "'10' has no unit"),
    (parse_rate, "-1 Gbps", "is not a rate"),
    (parse_rate, "nan Gbps", "is not a rate"),
    (parse_rate, "nan", "'nan' has no unit"),
    (parse_rate, float("nan"), "nan has no unit"),
    (parse_rate, float("inf"), "inf has no unit"),
    (parse_rate, "inf bps", "is not a rate"),
    (parse_rate, "11 Tbps", "is too large"),
    (parse_rate, "1e99 bps", "is too large"),
    (parse_rate, "0.5 bps", "is not a whole number of bps"),
    (parse_rate, "10 Gbps 5", "is not a rate"),
    (parse_rate, "1_000 bps", "is not a rate"),
    (parse_rate, "\uff11\uff10 Gbps", "is not a rate"),
    (parse_rate, "", "is not a rate"),
    (parse_rate, None, "is not a rate"),
    (parse_rate, True, "is not a rate"),
    (parse_rate, ["10 Gbps"], "is not a rate"),
    (parse_rate, "9" * 100 + " bps", "is not a rate"),
    (parse_duration, "0.5 ps", "is not a whole number of ps, the finest step of a duration"),
    (parse_duration, "1e-13 s", "is not a whole number of ps"),
    (parse_duration, 1e-6, "1e-06 has no unit"),
    (parse_duration, "1 min", "unknown unit 'min' for a duration"),
    (parse_duration, "1 US", "did you mean 'us'?"),
    (parse_duration, "12:30", "is not a duration"),
    (parse_duration, "86401 s", "is too large"),
    (parse_size, "64 Kb", "did you mean 'KB'?"),
    (parse_size, "1 kB", "did you mean 'KB'?"),
    (parse_size, "0.1 B", "is not a whole number of B"),
    (parse_size, "1001 TB", "is too large"),
    (parse_size, 25, "25 has no unit"),
]


@pytest.mark.parametrize(("parse", "value", "message"), REFUSED)
def test_what_is_no_quantity_is_refused_with_a_reason(parse, value, message):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the text is compared below
        parse(value)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 300


def test_a_refusal_says_what_is_allowed():
    with pytest.raises(ValueError, match=r"one of bps, Kbps, Mbps, Gbps, Tbps, for example '10 G"):
        parse_rate("fast")
    with pytest.raises(ValueError, match="one of ps, ns, us, ms, s, for example '1 us'"):
        parse_duration("soon")
    with pytest.raises(ValueError, match="one of B, KB, MB, GB, TB, KiB, MiB, GiB, TiB, for ex"):
        parse_size("big")


@pytest.mark.parametrize(("value", "probability"), [(0, 0.0), (1e-4, 1e-4), (1, 1.0)])
def test_probabilities_are_plain_numbers(value, probability):
    assert parse_probability(value) == probability


@pytest.mark.parametrize(
    "value", [-0.1, 1.1, float("nan"), float("inf"), "0.1", "10 %", True, None]
)
def test_probabilities_outside_0_to_1_are_refused(value):
    with pytest.raises(ValueError, match="is not a probability; write a number from 0 to 1"):
        parse_probability(value)


@given(st.integers(0, MAXIMUM_RATE_BPS))
def test_a_written_rate_reads_back(rate):
    assert parse_rate(format_rate(rate)) == rate


@given(st.integers(0, MAXIMUM_DURATION_PS))
def test_a_written_duration_reads_back(duration):
    assert parse_duration(format_duration(duration)) == duration


@given(st.integers(0, MAXIMUM_SIZE_BYTES) | st.integers(0, 10**6).map(lambda n: n * 2**20))
def test_a_written_size_reads_back(size):
    assert parse_size(format_size(size)) == size


@given(st.integers(0, 10**9), st.sampled_from([RATE_UNITS, DURATION_UNITS, SIZE_UNITS]), st.data())
def test_every_unit_scales_exactly(thousandths, known, data):
    unit = data.draw(st.sampled_from(list(known)))
    parse = {"bps": parse_rate, "ps": parse_duration, "B": parse_size}[next(iter(known))]
    maximum = {"bps": MAXIMUM_RATE_BPS, "ps": MAXIMUM_DURATION_PS, "B": MAXIMUM_SIZE_BYTES}
    exact = Fraction(thousandths, 1000) * known[unit]
    text = f"{thousandths // 1000}.{thousandths % 1000:03d} {unit}"
    if exact.denominator == 1 and exact <= maximum[next(iter(known))]:
        assert parse(text) == exact
    else:
        with pytest.raises(ValueError, match=r"is too large|is not a whole number"):
            parse(text)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (format_rate(10**11), "100 Gbps"),
        (format_rate(25 * 10**8), "2.5 Gbps"),
        (format_rate(0), "0 bps"),
        (format_duration(157_482_113), "157.482113 us"),
        (format_duration(157_482_113, 4), "157.5 us"),
        (format_duration(999_999, 2), "1 us"),
        (format_duration(400_000), "400 ns"),
        (format_duration(-1_500), "-1.5 ns"),
        (format_duration(0), "0 ps"),
        (format_size(26_214_400), "25 MiB"),
        (format_size(10**8), "100 MB"),
        (format_size(1460), "1460 B"),
        (format_size(0), "0 B"),
    ],
)
def test_quantities_are_written_in_a_readable_unit(text, written):
    assert text == written


@pytest.mark.parametrize(
    ("medium_bytes", "rate", "ps"),
    [
        (204, 10**10, 163_200),
        (1100, 10**11, 88_000),
        (1, 10**11, 80),
        (1, 16 * 10**12, 0),  # half a picosecond goes to the even neighbour
        (3, 16 * 10**12, 2),
        (1, 3, 2_666_666_666_667),
        (0, 1, 0),
    ],
)
def test_serialisation_is_exact_and_rounds_half_to_even(medium_bytes, rate, ps):
    assert serialisation_ps(medium_bytes, rate) == ps


@given(st.integers(0, 10**7), st.integers(1, MAXIMUM_RATE_BPS))
def test_serialisation_is_within_half_a_picosecond(medium_bytes, rate):
    exact = Fraction(medium_bytes * 8 * 10**12, rate)
    assert abs(serialisation_ps(medium_bytes, rate) - exact) <= Fraction(1, 2)
