"""Expressions as Python source, against a plain evaluation of what the format says."""

from hypothesis import given, settings
from hypothesis import strategies as st

from innet.emulator.bmv2_json.expressions import ExpressionSource, field_range, fit
from innet.emulator.bmv2_json.runtime import look_ahead, shift_left
from innet.emulator.bmv2_json.terms import (
    OPERATORS,
    Constant,
    Field,
    Operation,
    Parameter,
    Truth,
    Valid,
)

A = Field("h", "a", 8)
B = Field("h", "b", 32)
S = Field("h", "s", 8, signed=True)
NAMES = {A: "a", B: "b", S: "s"}
SOURCE = ExpressionSource({}, NAMES.__getitem__, lambda _: "valid", {})

NUMBER_OPERATORS = ("+", "-", "*", "&", "|", "^", "<<", ">>")
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")

leaves = st.one_of(
    st.sampled_from([A, B, S, Parameter(0, 16), Valid("h")]),
    st.integers(-300, 300).map(Constant),
    st.sampled_from([0xFF, 0xFFFF, 0xFFFFFFFF, 1 << 40]).map(Constant),
)


def grow(numbers):
    shift = st.integers(0, 40).map(Constant)
    width = st.integers(1, 40).map(Constant)
    signed_width = st.integers(2, 40).map(Constant)
    truths = st.one_of(
        st.booleans().map(Truth),
        st.builds(
            lambda op, a, b: Operation(op, (a, b)), st.sampled_from(COMPARISONS), numbers, numbers
        ),
        st.builds(lambda a: Operation("d2b", (a,)), numbers),
    )
    truths = st.one_of(
        truths,
        st.builds(
            lambda op, a, b: Operation(op, (a, b)), st.sampled_from(("and", "or")), truths, truths
        ),
        st.builds(lambda a: Operation("not", (a,)), truths),
    )
    return st.one_of(
        st.builds(
            lambda op, a, b: Operation(op, (a, b)),
            st.sampled_from(NUMBER_OPERATORS[:6]),
            numbers,
            numbers,
        ),
        st.builds(
            lambda op, a, b: Operation(op, (a, b)), st.sampled_from(("<<", ">>")), numbers, shift
        ),
        st.builds(lambda a: Operation("~", (a,)), numbers),
        st.builds(lambda a: Operation("b2d", (a,)), truths),
        st.builds(lambda c, a, b: Operation("?", (c, a, b)), truths, numbers, numbers),
        st.builds(lambda a, w: Operation("usat_cast", (a, w)), numbers, width),
        st.builds(
            lambda op, a, w: Operation(op, (a, w)),
            st.sampled_from(("two_comp_mod", "sat_cast")),
            numbers,
            signed_width,
        ),
    )


numbers = st.recursive(leaves, grow, max_leaves=12)


def evaluate(expression, values):
    """What BMv2 computes: integers of any size, and two's complement where a cast says so."""
    match expression:
        case Field():
            return values[NAMES[expression]]
        case Constant(value) | Truth(value):
            return value
        case Parameter():
            return values["p0"]
        case Valid():
            return values["valid"]
    operands = [evaluate(each, values) for each in expression.operands]
    if expression.op == "?":
        return operands[1] if operands[0] else operands[2]
    return PLAIN[expression.op](*operands)


def two_comp_mod(value, width):
    low = value % (1 << width)
    return low - (1 << width) if low >= 1 << (width - 1) else low


PLAIN = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "<<": lambda a, b: a * 2**b,
    ">>": lambda a, b: a // 2**b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "and": lambda a, b: a and b,
    "or": lambda a, b: a or b,
    "not": lambda a: not a,
    "~": lambda a: -a - 1,
    "d2b": lambda a: a != 0,
    "b2d": int,
    "two_comp_mod": two_comp_mod,
    "sat_cast": lambda a, w: sorted((-(2 ** (w - 1)), a, 2 ** (w - 1) - 1))[1],
    "usat_cast": lambda a, w: sorted((0, a, 2**w - 1))[1],
}


@settings(max_examples=400, deadline=None)
@given(
    numbers,
    st.integers(0, 255),
    st.integers(0, 2**32 - 1),
    st.integers(-128, 127),
    st.integers(0, 65535),
    st.integers(0, 1),
)
def test_source_computes_what_the_format_says(expression, a, b, s, p0, valid):
    values = {"a": a, "b": b, "s": s, "p0": p0, "valid": valid}
    wanted = evaluate(expression, values)
    code = SOURCE.value(expression)
    names = {**values, "shift_left": shift_left}
    found = eval(code.text, names)
    assert found == wanted
    assert type(found) is int
    if code.range is not None:
        assert code.range[0] <= wanted <= code.range[1]
    for width, signed in ((8, False), (16, True), (1, False)):
        low = wanted % (1 << width)
        wrapped = two_comp_mod(wanted, width) if signed else low
        assert eval(fit(code, width, signed), names) == wrapped


def test_every_operator_of_the_format_is_tested_or_divides():
    assert set(OPERATORS) - set(PLAIN) == {"/", "%", "?", "valid"}


def test_division_and_remainder():
    names = {"b": 17}
    for op, wanted in (("/", 3), ("%", 2)):
        code = SOURCE.value(Operation(op, (B, Constant(5))))
        assert eval(code.text, names) == wanted


def test_far_shifts_leave_nothing_of_a_field():
    code = SOURCE.value(Operation("<<", (A, B)))
    names = {"a": 1, "b": 2**32 - 1, "shift_left": shift_left}
    assert eval(fit(code, 2048), names) == 0
    names["b"] = 7
    assert eval(fit(code, 8), names) == 128


def test_field_ranges():
    assert field_range(8, signed=False) == (0, 255)
    assert field_range(8, signed=True) == (-128, 127)


def test_looking_ahead_reads_bits_from_any_place():
    frame = bytes([0b10110011, 0b01010101, 0b11110000])
    assert look_ahead(frame, 0, 0, 8) == 0b10110011
    assert look_ahead(frame, 0, 3, 7) == 0b1001101
    assert look_ahead(frame, 1, 4, 12) == 0b010111110000
