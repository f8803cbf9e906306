"""A calculator (samples/calculator.p4): arithmetic, registers, and ways through the switch."""

import logging
import struct
import zlib
from pathlib import Path

import pytest

from innet.emulator.bmv2_json.load import load_program
from innet.emulator.bmv2_json.pipeline import Pipeline
from innet.emulator.bmv2_json.refuse import PipelineError

SAMPLE = Path(__file__).parent / "samples" / "calculator.json"
TASK = struct.Struct(">BIIIhhhH4H")
MOST = 2**32 - 1


@pytest.fixture(scope="module")
def program():
    return load_program(SAMPLE)


@pytest.fixture
def pipeline(program):
    return Pipeline(program)


class Answer:
    """The fields of a task that came back."""

    def __init__(self, data):
        fields = TASK.unpack_from(data)
        self.op, self.a, self.b, self.result, self.s, self.t, self.signed_result = fields[:7]
        self.passes, self.unused = fields[7] >> 12, fields[7] & 0xFFF
        self.left, self.right = fields[8:10], fields[10:12]


def task(op, a=0, b=0, s=0, t=0, left=(1, 2), right=(3, 4), payload=b""):
    return TASK.pack(op, a, b, 0, s, t, 0, 0, *left, *right) + payload


def ask(pipeline, *fields, **named):
    [(port, data)] = pipeline.process(1, task(*fields, **named))
    assert port == 2
    return Answer(data)


@pytest.mark.parametrize(
    ("op", "a", "b", "result"),
    [
        (1, MOST, 2, 1),
        (2, 1, 2, MOST),
        (3, 0x10001, 0x10001, 0x20001),
        (4, 0x81234567, 0, 0x91A2B380),
        (5, 29, 30, 3),
        (5, 29, 29, 5),
        (6, MOST, 1, MOST),
        (6, 5, 6, 11),
        (7, 5, 6, 0),
        (7, 6, 5, 1),
        (8, 0x80000001, 4, 0x10),
        (8, 1, 40, 0),
        (9, 0x80000001, 4, 0x08000000),
        (9, MOST, 40, 0),
        (10, 1, 0, MOST),
        (10, 0, 0, 0),
        (11, 0x0F0F, 0, 0xFFFFF0F0),
        (12, 0xF0F0, 0x3333, (0xF0F0 & 0x3333) ^ (0xF0F0 | 0xFF)),
        (13, 0x1111AAAA, 0xBBBB2222, 0xAAAABBBB),
        (14, 0x11111111, 0xFFFF2222, 0x11222211),
        (15, 7, 8, 8),
        (15, MOST, 1, MOST),
        (16, 1, 0, 1),
        (16, 0, 1, 1),
        (16, 1, 1, 0),
        (16, 0, 0, 0),
        (25, 4, 0, 10),
        (25, 100, 50, 5000),
        (25, 0, 1, 0),
        (42, 0, 0, 0),
        (99, 5, 6, 0),
    ],
)
def test_unsigned_arithmetic(pipeline, op, a, b, result):
    assert ask(pipeline, op, a, b).result == result


@pytest.mark.parametrize(
    ("op", "s", "t", "result"),
    [
        (17, 32767, 1, -32768),
        (17, -5, 3, -2),
        (18, 32767, 1, 32767),
        (18, -32768, -1, -32768),
        (18, -5, 3, -2),
        (19, -3, 7, -21),
        (19, 300, 300, 300 * 300 - 65536),
        (20, -17, 0, -3),
        (20, 17, 0, 2),
    ],
)
def test_signed_arithmetic(pipeline, op, s, t, result):
    assert ask(pipeline, op, s=s, t=t).signed_result == result


@pytest.mark.parametrize(("s", "t", "less"), [(-1, 0, 1), (0, -1, 0), (5, 5, 0)])
def test_signed_comparison(pipeline, s, t, less):
    assert ask(pipeline, 21, s=s, t=t).result == less


def test_a_signed_number_is_widened_with_its_sign(pipeline):
    assert ask(pipeline, 22, s=-2).result == MOST - 1
    assert ask(pipeline, 22, s=2).result == 2


def test_registers_keep_and_cut(pipeline):
    assert [ask(pipeline, 23, 2, b).result for b in (5, 6, MOST)] == [5, 11, 10]
    assert pipeline.read_register("memory") == [0, 0, 10, 0]
    ask(pipeline, 24, 0x12345678)
    assert ask(pipeline, 24, 0).result == 0x5678


def test_an_index_past_the_end_is_an_error(pipeline):
    with pytest.raises(PipelineError, match=r"memory' has 4 cells, the program used index 4"):
        ask(pipeline, 23, 4)


def test_random_numbers_are_those_of_the_seed(program):
    first, second = (
        [ask(pipeline, 26, 10, 1000).result for _ in range(20)]
        for pipeline in (Pipeline(program, seed=5), Pipeline(program, seed=5))
    )
    assert first == second
    assert all(10 <= each <= 1000 for each in first)
    assert len(set(first)) > 10
    other = Pipeline(program, seed=6)
    assert [ask(other, 26, 10, 1000).result for _ in range(20)] != first
    assert ask(other, 26, 10, 5).result == 0


def test_hashes(pipeline):
    answer = ask(pipeline, 27, left=(0x1234, 5), right=(6, 0xFFFF))
    assert answer.result == zlib.crc32(struct.pack(">4H", 0x1234, 5, 6, 0xFFFF))
    assert ask(pipeline, 28, 0x12345678).result == 100 + (0x1234 ^ 0x5678 ^ 0x5000) % 50


def test_headers_are_compared_and_copied(pipeline):
    assert ask(pipeline, 42, left=(7, 8), right=(7, 8)).result == 1
    assert ask(pipeline, 42, left=(7, 8), right=(7, 9)).result == 0
    swapped = ask(pipeline, 29, left=(1, 2), right=(3, 4))
    assert (swapped.left, swapped.right) == ((3, 4), (1, 2))
    [(_, data)] = pipeline.process(1, task(30, payload=b"end"))
    assert data[21:] == b"end"


def test_a_packet_is_cut_short(pipeline):
    [(_, data)] = pipeline.process(1, task(31, 28, payload=b"payload"))
    assert data == task(31, 28, payload=b"payload")[:28]
    [(_, data)] = pipeline.process(1, task(31, 1000))
    assert data == task(31, 1000)


def test_messages_are_logged_and_assertions_hold(pipeline, caplog):
    with caplog.at_level(logging.INFO, logger="innet.p4"):
        ask(pipeline, 32, 12, 34)
    assert caplog.messages == ["a is 12, b is 34"]
    with pytest.raises(PipelineError, match=r"calculator.p4:\d+.*'assert' does not hold"):
        ask(pipeline, 32, 100)


@pytest.mark.parametrize("times", [1, 2, 7])
def test_a_resubmitted_packet_keeps_what_is_listed_and_nothing_else(pipeline, times):
    answer = ask(pipeline, 40, times, 5)
    assert (answer.passes, answer.result, answer.unused) == (times, 5 * times, 1)


@pytest.mark.parametrize("times", [1, 2, 7])
def test_a_recirculated_packet_keeps_what_was_sent_and_what_is_listed(pipeline, times):
    answer = ask(pipeline, 41, times, payload=b"12345")
    assert (answer.passes, answer.result) == (times, 2 * times)
    assert answer.unused == TASK.size + 5


def test_a_packet_that_never_leaves_is_an_error(pipeline):
    for op in (40, 41):
        with pytest.raises(PipelineError, match="256 times"):
            pipeline.process(1, task(op, 1000))
