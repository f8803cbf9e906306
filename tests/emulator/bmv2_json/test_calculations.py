"""Hashes and checksums, against the check values of their definitions."""

import pytest

from innet.emulator.bmv2_json.calculations import ALGORITHMS, checksum, csum16
from innet.wire.headers import internet_checksum

CHECK = b"123456789"


@pytest.mark.parametrize(
    ("algorithm", "data", "value"),
    [
        ("crc16", CHECK, 0xBB3D),
        ("crc16_custom", CHECK, 0xBB3D),
        ("crc32", CHECK, 0xCBF43926),
        ("crc32_custom", CHECK, 0xCBF43926),
        ("crcCCITT", CHECK, 0x29B1),
        ("csum16", bytes.fromhex("0001f203f4f5f6f7"), 0xFFFF - 0xDDF2),  # RFC 1071, section 3
        ("csum16", b"", 0xFFFF),
        ("csum16", bytes(4), 0xFFFF),
        ("csum16", b"\xff\xff", 0),
        ("csum16", b"\x01", 0xFEFF),
        ("xor16", bytes.fromhex("1234567899"), 0x1234 ^ 0x5678 ^ 0x9900),
        ("xor32", bytes.fromhex("1234567899"), 0x12345678 ^ 0x99000000),
        ("identity", bytes.fromhex("0102030405060708090a"), 0x0102030405060708),
        ("identity", bytes.fromhex("0102"), 0x0102),
    ],
)
def test_check_values(algorithm, data, value):
    assert ALGORITHMS[algorithm](data) == value


def test_the_checksum_of_a_number_is_that_of_its_bytes():
    for data in (b"", bytes(2), bytes(range(20)), b"\xff" * 6, bytes.fromhex("00010000fffe")):
        assert checksum(int.from_bytes(data)) == csum16(data)
        if any(data):
            assert csum16(data) == internet_checksum(data)
