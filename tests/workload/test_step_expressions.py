"""Expressions of a step: exact values, dimensions, and what is refused."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from innet.workload.expression import parse_expression
from innet.workload.values import ExpressionError, Value

NAMES = {
    "b": Value(Fraction(32)),
    "f": Value(Fraction(10**10), "time"),
    "act": Value(Fraction(2**20), "bytes"),
    "layer.grad": Value(Fraction(4000), "bytes"),
}


def number(text):
    return parse_expression(text).evaluate(NAMES).number


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 + 2*3", 7),
        ("(1 + 2)*3", 9),
        ("2**3**2", 512),
        ("-2**2", -4),
        ("10 - 3 - 2", 5),
        ("7/2", Fraction(7, 2)),
        ("7//2", 3),
        ("-7//2", -4),
        ("-7 % 3", 2),
        ("min(3, 1+1, 9)", 2),
        ("max(3, b)", 32),
        ("ceil(7/2)", 4),
        ("log2(8)", 3),
        ("log2(9)", 4),
        ("log2(1)", 0),
        ("1 < 2 and 2 <= 2", 1),
        ("not 1 == 1 or 3 != 3", 0),
        ("25 MiB", 25 * 2**20),
        ("1.5KB", 1500),
        ("4 ms", 4 * 10**9),
        ("act//3 + layer.grad", 2**20 // 3 + 4000),
        (12, 12),
        (0.05, Fraction(1, 20)),
        (1e-07, Fraction(1, 10**7)),
        ("2.5e3 B + 1E+2", 2600),
    ],
)
def test_values_are_exact(text, expected):
    assert number(text) == expected


@given(
    st.integers(0, 999), st.integers(1, 99), st.integers(0, 99), st.sampled_from(["//", "%", "*"])
)
def test_arithmetic_is_pythons(one, other, third, sign):
    text = f"{one} {sign} {other} - {third} * {one}"
    assert number(text) == eval(text)


def test_sizes_are_whole_and_durations_are_rounded_to_even():
    assert parse_expression("act*2").size(NAMES) == 2**21
    assert parse_expression("b*4").size(NAMES) == 128
    assert parse_expression("f/3").duration(NAMES) == 3333333333
    assert parse_expression("1 ps/2").duration(NAMES) == 0
    assert parse_expression("3 ps/2").duration(NAMES) == 2
    assert parse_expression("4 ms/2 ms").whole(NAMES, "count") == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("10 B/3", "size '10 B/3' is 10/3, not whole; use // or ceil"),
        ("b - 33", "size 'b - 33' is negative: -1"),
        ("4 ms", "is 4000000000 ps, not bytes"),
        ("f + act", "of different dimensions"),
        ("f*f", "is no quantity"),
        ("b/0", "division by 0"),
        ("c", "unknown name 'c'; known here are b, f, act, layer.grad"),
        ("2**300", "exponent is a whole number"),
        ("2**200*2**200", "too large"),
    ],
)
def test_a_wrong_value_says_what_is_wrong(text, message):
    with pytest.raises(ExpressionError) as failed:
        parse_expression(text).size(NAMES)
    assert message in str(failed.value)


def test_a_time_needs_a_unit_and_a_count_has_none():
    with pytest.raises(ExpressionError, match="write for example 4 ms"):
        parse_expression("4").duration(NAMES)
    with pytest.raises(ExpressionError, match="not a plain number"):
        parse_expression("4 B").whole(NAMES, "count")


def test_a_share_lies_between_none_and_all():
    assert parse_expression("b/64").share(NAMES, "density") == Fraction(1, 2)
    assert parse_expression(1).share(NAMES, "density") == 1
    for text in ("0", "1.01", "0 - 0.5", "1 B"):
        with pytest.raises(ExpressionError, match=r"density '.*' is .*, not above 0 and at most 1"):
            parse_expression(text).share(NAMES, "density")


@pytest.mark.parametrize(
    "text",
    [
        *("", "1 +", "(1", "1)", "2 3", "a b", "3 parsecs", "f()", "open(1)", "a.__class__()"),
        *("x = 1", "'a'", "[1]", "1; 2", "lambda: 1", "min()", "a if b else c", "a.", "and"),
        *("(" * 60 + "1" + ")" * 60, "1" * 501, True, None, float("nan"), float("inf"), [1]),
        *("1e100", "1e", "1.e3"),
    ],
)
def test_what_is_no_expression_is_refused(text):
    with pytest.raises(ExpressionError):
        parse_expression(text)
