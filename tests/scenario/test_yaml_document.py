"""YAML is read as it looks, and every key keeps its line."""

import math

import pytest

from innet.errors import ConfigurationError
from innet.scenario.document import read_document


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("-5", -5),
        ("0", 0),
        ("1e-4", 1e-4),
        ("1E3", 1000.0),
        ("1.5", 1.5),
        (".5", 0.5),
        ("5.", 5.0),
        ("-.inf", -math.inf),
        ("true", True),
        ("false", False),
        ("null", None),
        ("~", None),
        ("yes", "yes"),
        ("no", "no"),
        ("on", "on"),
        ("off", "off"),
        ("Y", "Y"),
        ("12:30", "12:30"),
        ("010", "010"),
        ("0o10", "0o10"),
        ("0x1F", "0x1F"),
        ("1_000", "1_000"),
        ("2024-01-01", "2024-01-01"),
        ("1e", "1e"),
        ("e5", "e5"),
        ("nan", "nan"),
        ("10 Gbps", "10 Gbps"),
        ("'1'", "1"),
        ('"true"', "true"),
        ("''", ""),
        ("=", "="),
    ],
)
def test_scalars_are_what_they_look_like(text, value):
    read = read_document(text, "f").value
    assert read == value
    assert type(read) is type(value)


def test_not_a_number_is_read_as_one():
    assert math.isnan(read_document(".nan", "f").value)


def test_every_key_and_item_has_its_line():
    document = read_document("a: 1\nb:\n  c: 2\n  d: [x,\n    y]\n", "f")
    assert document.value == {"a": 1, "b": {"c": 2, "d": ["x", "y"]}}
    assert document.lines == {
        (): 1,
        ("a",): 1,
        ("b",): 2,
        ("b", "c"): 3,
        ("b", "d"): 4,
        ("b", "d", 0): 4,
        ("b", "d", 1): 5,
    }


def test_keys_of_digits_are_numbers_quoted_or_not():
    assert read_document("{3: a, '4': b, x: c}", "f").value == {3: "a", 4: "b", "x": "c"}


@pytest.mark.parametrize("key", ["1.5", "null", "true", "~"])
def test_other_keys_are_refused(key):
    with pytest.raises(ConfigurationError, match=r"^f:1: .* cannot be a key"):
        read_document(f"{key}: 1", "f")


def test_json_is_read_too():
    text = '{"a": [1, 2.5e-3, true, null], "b": {"3": "x"}}'
    assert read_document(text, "f").value == {"a": [1, 0.0025, True, None], "b": {3: "x"}}


def test_a_byte_order_mark_and_a_document_marker_are_fine():
    assert read_document("\ufeff---\na: 1\n...\n", "f").value == {"a": 1}
