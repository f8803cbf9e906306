"""Frames byte for byte, round trips, and every reason to drop."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from innet.wire.frames import (
    Address,
    DropReason,
    Frame,
    FrameError,
    FrameWriter,
    Message,
    pack,
    pack_message,
    parse,
    parse_message,
    payload_of,
)
from innet.wire.headers import BASE_PORT, MessageType, RawFrame, internet_checksum

WORKER = Address(bytes.fromhex("020000000001"), bytes((10, 0, 0, 1)), 0x8001)
SWITCH = Address(bytes.fromhex("0200000000ff"), bytes((10, 0, 0, 254)), BASE_PORT + 2)
UPDATE = Message(
    type=MessageType.UPDATE,
    asks_help=True,
    elements=64,
    job=7,
    number=0x01020304,
    slot=0x123,
    pool_set=1,
    exponent=-3,
    second_exponent=5,
    payload=payload_of(np.arange(-2, 62, dtype=np.int32), 64),
)
HELP = UPDATE._replace(type=MessageType.HELP, asks_help=False, payload=b"")


def frame_of(message):
    return Frame(WORKER, SWITCH, message)


def reason_of(data, **options):
    with pytest.raises(FrameError) as caught:
        parse(data, **options)
    assert str(caught.value) == caught.value.reason.value
    return caught.value.reason


OUTCOMES = {Frame, Message, *DropReason}


def outcome(read, data):
    """What reading gives: a type, or the reason of the only exception allowed."""
    try:
        return type(read(data))
    except FrameError as error:
        return error.reason


def with_fields(data, *, fix_checksum=True, **fields):
    """`data` with header fields replaced and, unless told, the IPv4 checksum set right."""
    raw = RawFrame.view(data)._replace(**fields)
    if fix_checksum:
        raw = raw._replace(ip_checksum=0)
        raw = raw._replace(ip_checksum=internet_checksum(raw.pack()[14:34]))
    return raw.pack() + data[52:]


messages = st.builds(
    lambda kind, asks, elements, job, number, slot, pool_set, exponents, data: Message(
        kind,
        asks,
        elements,
        job,
        number,
        slot,
        pool_set,
        *exponents,
        data.draw(st.binary(min_size=4 * elements, max_size=4 * elements))
        if kind is MessageType.UPDATE
        else b"",
    ),
    st.sampled_from(MessageType),
    st.booleans(),
    st.sampled_from([32, 64, 128, 256]),
    st.integers(0, 255),
    st.integers(0, 2**32 - 1),
    st.integers(0, 2**14 - 1),
    st.integers(0, 1),
    st.tuples(st.integers(-128, 127), st.integers(-128, 127)),
    st.data(),
)
addresses = st.builds(
    Address,
    st.binary(min_size=6, max_size=6),
    st.binary(min_size=4, max_size=4),
    st.integers(BASE_PORT, BASE_PORT + 15),
)


def test_a_frame_byte_for_byte():
    data = pack(frame_of(UPDATE))
    assert data[:14].hex() == "0200000000ff" + "020000000001" + "0800"
    assert data[14:34].hex() == "4500012600004000401124c9" + "0a000001" + "0a0000fe"
    assert data[34:42].hex() == "8001" + "bee2" + "0112" + "0000"
    assert data[42:52].hex() == "19" + "07" + "01020304" + "8123" + "fd" + "05"
    assert data[52:68].hex() == "fffffffe" + "ffffffff" + "00000000" + "00000001"
    assert len(data) + 4 + 8 + 12 == 332


def test_a_help_frame_is_padded_to_the_shortest_frame():
    data = pack(frame_of(HELP))
    assert len(data) == 60
    assert data[42:52].hex() == "21" + "07" + "01020304" + "8123" + "fd" + "05"
    assert data[52:] == bytes(8)
    assert parse(data) == frame_of(HELP)


@pytest.mark.parametrize(("elements", "code"), [(32, 0), (64, 1), (128, 2), (256, 3)])
def test_size_codes(elements, code):
    message = UPDATE._replace(elements=elements, payload=bytes(4 * elements))
    assert pack_message(message)[0] & 7 == code
    data = pack(frame_of(message))
    assert parse(data, sizes={code}).message == message
    assert reason_of(data, sizes={0, 1, 2, 3} - {code}) is DropReason.SIZE_NOT_BUILT


@settings(max_examples=60)
@given(addresses, addresses, messages, st.booleans(), st.booleans())
def test_what_is_packed_is_parsed(source, target, message, checksum, to_switch):
    frame = Frame(source, target, message)
    data = pack(frame, with_udp_checksum=checksum)
    for buffer in (data, bytearray(data), memoryview(data)):
        assert parse(buffer, to_switch=to_switch) == frame
    assert parse_message(pack_message(message)) == message


@settings(max_examples=300)
@given(st.binary(max_size=80))
def test_any_bytes_give_a_frame_or_a_reason(data):
    for read in (parse, parse_message):
        assert outcome(read, data) in OUTCOMES


@settings(max_examples=300)
@given(
    st.sampled_from([pack(frame_of(UPDATE)), pack(frame_of(HELP), with_udp_checksum=True)]),
    st.lists(st.tuples(st.integers(0, 59), st.integers(0, 255)), max_size=3),
    st.integers(0, 310),
)
def test_damaged_frames_give_a_frame_or_a_reason(data, changes, length):
    damaged = bytearray(data)
    for index, value in changes:
        damaged[index] = value
    assert outcome(parse, bytes(damaged[:length])) in OUTCOMES


@given(st.integers(14 * 8, 34 * 8 - 1))
def test_one_flipped_bit_of_the_ip_header_is_dropped(bit):
    damaged = bytearray(pack(frame_of(UPDATE)))
    damaged[bit // 8] ^= 1 << bit % 8
    assert reason_of(bytes(damaged)) in {
        DropReason.BAD_IP_CHECKSUM,
        DropReason.IP_OPTIONS,
        DropReason.NOT_IPV4,
    }


@given(st.integers(38 * 8, 308 * 8 - 1))
def test_one_flipped_bit_under_a_udp_checksum_is_dropped(bit):
    damaged = bytearray(pack(frame_of(UPDATE), with_udp_checksum=True))
    damaged[bit // 8] ^= 1 << bit % 8
    assert reason_of(bytes(damaged)) in {DropReason.LENGTH_MISMATCH, DropReason.BAD_UDP_CHECKSUM}


FIELD_CASES = [
    ({"ethertype": 0x0806}, DropReason.NOT_IPV4),
    ({"version_and_length": 0x65}, DropReason.NOT_IPV4),
    ({"version_and_length": 0x46}, DropReason.IP_OPTIONS),
    ({"version_and_length": 0x44}, DropReason.IP_OPTIONS),
    ({"fragment": 0x2000}, DropReason.FRAGMENT),
    ({"fragment": 0x0001}, DropReason.FRAGMENT),
    ({"protocol": 6}, DropReason.NOT_UDP),
    ({"target_port": BASE_PORT - 1}, DropReason.WRONG_PORT),
    ({"target_port": BASE_PORT + 16}, DropReason.WRONG_PORT),
    ({"total_length": 295}, DropReason.LENGTH_MISMATCH),
    ({"total_length": 293}, DropReason.LENGTH_MISMATCH),
    ({"total_length": 27, "udp_length": 7}, DropReason.LENGTH_MISMATCH),
    ({"total_length": 0, "udp_length": 0xFFEC}, DropReason.LENGTH_MISMATCH),
    ({"udp_length": 273}, DropReason.LENGTH_MISMATCH),
    ({"udp_length": 0}, DropReason.LENGTH_MISMATCH),
    ({"total_length": 290, "udp_length": 270}, DropReason.LENGTH_MISMATCH),
    ({"total_length": 37, "udp_length": 17}, DropReason.TOO_SHORT),
    ({"udp_checksum": 1}, DropReason.BAD_UDP_CHECKSUM),
    ({"type_and_size": 0x01}, DropReason.BAD_MESSAGE_TYPE),
    ({"type_and_size": 0x31}, DropReason.BAD_MESSAGE_TYPE),
    ({"type_and_size": 0x14}, DropReason.SIZE_NOT_BUILT),
    ({"type_and_size": 0x17}, DropReason.SIZE_NOT_BUILT),
    ({"type_and_size": 0x12}, DropReason.LENGTH_MISMATCH),
    ({"type_and_size": 0x21}, DropReason.LENGTH_MISMATCH),
    ({"pool_index": 0xFFFF}, DropReason.BAD_POOL_INDEX),
    ({"pool_index": 0x4000}, DropReason.BAD_POOL_INDEX),
]


@pytest.mark.parametrize(("fields", "reason"), FIELD_CASES)
def test_a_field_that_is_wrong_is_the_reason(fields, reason):
    assert reason_of(with_fields(pack(frame_of(UPDATE)), **fields)) is reason


def test_a_bad_ip_checksum_is_the_reason():
    data = with_fields(pack(frame_of(UPDATE)), fix_checksum=False, time_to_live=63)
    assert reason_of(data) is DropReason.BAD_IP_CHECKSUM


def test_every_reason_but_one_that_has_its_own_test_is_met():
    met = {reason for _, reason in FIELD_CASES} | {DropReason.BAD_IP_CHECKSUM}
    assert met == set(DropReason)


def test_other_sizes_are_refused_even_when_asked_for():
    body = bytearray(pack_message(UPDATE))
    body[0] = 0x14
    with pytest.raises(FrameError, match="size_not_built"):
        parse_message(bytes(body), sizes=range(8))


@pytest.mark.parametrize("length", range(52))
def test_a_frame_cut_short(length):
    reason = reason_of(pack(frame_of(UPDATE))[:length])
    assert reason is (DropReason.LENGTH_MISMATCH if length >= 42 else DropReason.TOO_SHORT)


def test_short_frames_of_other_traffic_are_told_by_what_they_are():
    arp = bytes(12) + bytes.fromhex("0806") + bytes(28)
    assert reason_of(arp) is DropReason.NOT_IPV4
    dns = with_fields(pack(frame_of(HELP)), target_port=53, total_length=29, udp_length=9)
    assert reason_of(dns[:43]) is DropReason.WRONG_PORT


def test_a_reply_is_known_by_its_source_port():
    reply = pack(Frame(SWITCH, WORKER, UPDATE))
    assert parse(reply, to_switch=False).source == SWITCH
    assert reason_of(reply) is DropReason.WRONG_PORT


def test_a_udp_checksum_that_comes_out_as_zero_is_sent_as_all_ones():
    message = UPDATE._replace(payload=bytes(256))
    writer = FrameWriter(WORKER, SWITCH, with_udp_checksum=True)
    checksum = RawFrame.view(writer.pack(message)).udp_checksum
    number = (message.number & 0xFFFF0000) | (((message.number & 0xFFFF) + checksum) % 0xFFFF)
    data = writer.pack(message._replace(number=number))
    assert RawFrame.view(data).udp_checksum == 0xFFFF
    assert parse(data).message.number == number


def test_a_writer_keeps_headers_of_several_lengths_apart():
    writer = FrameWriter(WORKER, SWITCH)
    for message in (UPDATE, HELP, UPDATE, HELP):
        assert writer.pack(message) == pack(frame_of(message))


def test_values_of_a_payload():
    values = UPDATE.values
    assert values.dtype == np.dtype(np.int32)
    assert values.tolist() == list(range(-2, 62))
    values[0] = 9  # a copy of its own
    assert UPDATE.values[0] == -2
    assert HELP.values.size == 0


def test_a_short_payload_is_filled_up_with_zeros():
    payload = payload_of(np.array([-1, 2], dtype=np.int32), 32)
    assert payload == b"\xff\xff\xff\xff\x00\x00\x00\x02" + bytes(120)
    with pytest.raises(ValueError, match="33 values do not fit into a packet of 32"):
        payload_of(np.zeros(33, dtype=np.int32), 32)


@pytest.mark.parametrize(
    "fields",
    [
        {"elements": 48},
        {"job": 256},
        {"number": 2**32},
        {"slot": 2**14},
        {"slot": -1},
        {"pool_set": 2},
        {"exponent": 128},
        {"second_exponent": -129},
        {"payload": b""},
        {"type": MessageType.HELP},
    ],
)
def test_fields_that_do_not_fit_are_named(fields):
    name = next(iter(fields)).replace("type", "payload")
    with pytest.raises(ValueError, match=f"^{name}.*: out of range"):
        pack_message(UPDATE._replace(**fields))


@pytest.mark.parametrize(
    "bad",
    [WORKER._replace(mac=b"12345"), WORKER._replace(ip=b"123"), WORKER._replace(port=65536)],
)
def test_addresses_that_do_not_fit_are_refused(bad):
    for ends in ((bad, SWITCH), (SWITCH, bad)):
        with pytest.raises(ValueError, match="an address has"):
            FrameWriter(*ends)
