"""Sizes on the medium, ports and checksums."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from innet.wire.headers import (
    HEAD_BYTES,
    MEDIUM_OVERHEAD_BYTES,
    RawFrame,
    core_port,
    help_medium_bytes,
    internet_checksum,
    medium_bytes,
)


@pytest.mark.parametrize(
    ("elements", "size"), [(32, 204), (64, 332), (128, 588), (256, 1100), (0, 84)]
)
def test_medium_bytes(elements, size):
    assert medium_bytes(elements) == size


def test_overhead_and_help():
    assert MEDIUM_OVERHEAD_BYTES == 76
    assert help_medium_bytes() == 84  # the shortest Ethernet frame, preamble and gap


def test_one_port_a_core():
    assert [core_port(core) for core in (0, 15)] == [0xBEE0, 0xBEEF]
    for core in (-1, 16):
        with pytest.raises(ValueError, match="0 to 15"):
            core_port(core)


def summed_by_words(data):
    """RFC 1071 as it is written."""
    padded = data + b"\0" * (len(data) % 2)
    total = 0
    for index in range(0, len(padded), 2):
        total += padded[index] << 8 | padded[index + 1]
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def test_a_known_checksum():
    header = bytes.fromhex("4500003c1c4640004006 0000 ac100a63ac100a0c")
    assert internet_checksum(header) == 0xB1E6


@given(st.binary(min_size=1, max_size=80).filter(any))
def test_the_checksum_is_the_sum_of_words(data):
    assert internet_checksum(data) == summed_by_words(data)


@given(st.binary(min_size=HEAD_BYTES, max_size=HEAD_BYTES))
def test_the_raw_view_shows_every_bit(data):
    assert RawFrame.view(data).pack() == data
