"""Header stacks and fixed entries (samples/stacks.p4)."""

from pathlib import Path

import pytest

from innet.emulator.bmv2_json.pipeline import Pipeline
from innet.emulator.bmv2_json.refuse import PipelineError
from innet.wire.headers import internet_checksum

SAMPLE = Path(__file__).parent / "samples" / "stacks.json"


def order(op, index=0, items=(), payload=b"rest", checksum=0):
    """Items are (kind, value); the last must have kind 0 to be followed by the payload."""
    head = bytes((op, index, 0, 0)) + checksum.to_bytes(2)
    return head + bytes(byte for item in items for byte in item) + payload


@pytest.fixture(scope="module")
def pipeline():
    return Pipeline.load(SAMPLE)


def ask(pipeline, *fields, **named):
    """(the result, the checksum, what follows them) of an order."""
    [(port, data)] = pipeline.process(1, order(*fields, **named))
    assert port == 2
    return int.from_bytes(data[2:4]), int.from_bytes(data[4:6]), data[6:]


THREE = ((1, 10), (2, 20), (0, 30))
BYTES = bytes((1, 10, 2, 20, 0, 30)) + b"rest"


def test_an_element_is_read_by_a_computed_index(pipeline):
    assert [ask(pipeline, 1, index, THREE)[0] for index in range(3)] == [10, 20, 30]


def test_an_element_is_written_by_a_computed_index(pipeline):
    assert ask(pipeline, 2, 1, THREE)[2] == bytes((1, 10, 2, 0xAA, 0, 30)) + b"rest"


def test_an_index_past_the_stack_is_an_error(pipeline):
    for op in (1, 2):
        with pytest.raises(PipelineError, match="header stack 'items' has no element"):
            pipeline.process(1, order(op, 4, THREE))


def test_a_stack_is_copied_with_what_is_valid(pipeline):
    assert ask(pipeline, 3, 0, THREE)[2] == BYTES[:6] + BYTES


def test_pushing_makes_room_and_drops_the_last(pipeline):
    assert ask(pipeline, 4, 0, THREE)[2] == b"\xee\x00" + BYTES
    four = ((1, 1), (1, 2), (1, 3), (0, 4))
    assert ask(pipeline, 4, 0, four)[2][2:] == bytes((1, 1, 1, 2, 1, 3)) + b"rest"
    assert ask(pipeline, 6, 0, THREE)[2] == bytes((1, 10)) + b"rest"


def test_popping_moves_the_others_up(pipeline):
    assert ask(pipeline, 5, 0, THREE)[2] == bytes((0, 30)) + b"rest"
    assert ask(pipeline, 5, 0, ((0, 1),))[2] == b"rest"


def test_elements_are_copied_valid_or_not(pipeline):
    assert ask(pipeline, 11, 0, THREE)[2] == bytes((1, 10, 1, 10)) + b"rest"


def test_the_length_follows_headers_that_come_and_go(pipeline):
    """Two bytes come and two go; the second time nothing changes."""
    result, length, rest = ask(pipeline, 12, 0, THREE)
    assert (result, length) == (1, 6 + 6 + 4)
    assert rest[:4] == bytes((2, 20, 0, 30))
    assert rest[5:] == bytes((5,)) + b"rest"
    assert ask(pipeline, 12, 0, ((0, 1),))[0] == 2


def test_more_elements_than_the_stack_has_stop_the_parser(pipeline):
    five = ((1, 1), (1, 2), (1, 3), (1, 4), (0, 5))
    assert ask(pipeline, 99, 0, five)[0] == 4
    assert ask(pipeline, 99, 0, five)[2] == order(99, 0, five)[6:]


@pytest.mark.parametrize(
    ("items", "payload", "result"),
    [
        (THREE, b"rest", 10 << 8 | 3),
        (((9, 10), (0, 1)), b"rest", 10 << 8),
        ((), b"", 0),
        ((), b"\x01", 0),
    ],
)
def test_the_parser_looks_ahead_without_taking(pipeline, items, payload, result):
    assert ask(pipeline, 0x80, 0, items, payload=payload) == (
        result,
        0,
        order(0x80, 0, items, payload)[6:],
    )


@pytest.mark.parametrize("payload", [b"", b"x", b"rest", b"odd number"[:9]])
def test_a_checksum_covers_the_payload(pipeline, payload):
    right = internet_checksum(bytes((7, 3, 0xAB, 0xCD)) + payload)
    assert ask(pipeline, 7, 3, ((0, 0),), payload, right)[0] == 0
    assert ask(pipeline, 7, 3, ((0, 0),), payload, right ^ 1)[0] == 1
    items = ((1, 7), (1, 8), (1, 9), (0, 10))
    checksum = ask(pipeline, 3, 0, items, payload)[1]
    assert checksum == internet_checksum(bytes((7, 0, 10)) + payload)


@pytest.mark.parametrize(
    ("op", "index", "items", "result"),
    [
        (8, 0x70, (), 0),
        (8, 0x80, (), 1),
        (8, 0xA7, (), 2),
        (8, 0xA5, (), 3),
        (9, 1, ((1, 0), (0, 0)), 1),
        (9, 3, ((0, 0),), 2),
        (9, 3, ((1, 0), (0, 0)), 1),
        (9, 2, ((1, 0), (0, 0)), 3),
        (9, 2, ((0, 0),), 0),
        (10, 9, ((0, 0),), 1),
        (10, 11, ((0, 0),), 2),
        (10, 21, ((0, 0),), 0),
    ],
)
def test_fixed_entries_match_in_the_order_of_the_program(pipeline, op, index, items, result):
    assert ask(pipeline, op, index, items or ((0, 0),))[0] == result
