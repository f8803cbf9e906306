"""A worker's messages over UDP sockets: what comes through, and what is dropped for what."""

import socket

import numpy as np
import pytest

from innet.emulator.agent.paths import UdpPath
from innet.emulator.sockets import BATCH
from innet.protocol.endpoint import HELP, RESULT, UPDATE, AggregationPacket
from innet.wire.frames import Address, Message, pack_message, parse, parse_message, payload_of
from innet.wire.headers import MessageType

OWN = Address(bytes.fromhex("020000000001"), bytes((10, 0, 0, 1)), 0xBED0)
SWITCH = Address(bytes.fromhex("0200000000fe"), bytes((10, 0, 0, 254)), 0xBEE0)


def message(number=0, elements=32, kind=MessageType.UPDATE):
    values = np.arange(elements, dtype=np.int32) - 5
    payload = payload_of(values, elements) if kind is MessageType.UPDATE else b""
    return Message(kind, False, elements, 1, number, 3, 1, -7, 0, payload)


def update(number=0, values=None, asks_help=False):
    """What a worker sends; `message(number)` on the wire, if values and all are given."""
    return AggregationPacket(UPDATE, 1, 0, 3, 1, number, asks_help, -7, values)


def plain(packet):
    """A packet with values that compare."""
    return packet._replace(values=None if packet.values is None else packet.values.tolist())


def result(number):
    """What `message(number)` is to a worker, plain."""
    values = list(range(-5, 27))
    return AggregationPacket(RESULT, 1, 0, 3, 1, number, False, -7, values)


def opened():
    each = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    each.bind(("127.0.0.1", 0))
    each.settimeout(10)
    return each


@pytest.fixture
def switch():
    """The switch's sockets for two cores."""
    sockets = [opened(), opened()]
    yield sockets
    for each in sockets:
        each.close()


@pytest.fixture
def stranger():
    with opened() as each:
        yield each


@pytest.fixture
def own():
    return [opened(), opened()]


@pytest.fixture
def path(switch, own):
    made = UdpPath(own, [each.getsockname() for each in switch], 32)
    yield made
    made.close()


def test_a_message_goes_out_by_its_core(path, switch, own):
    path.send(1, update(7, message().values))
    body, source = switch[1].recvfrom(4096)
    assert parse_message(body) == message(7)
    assert source == own[1].getsockname()


@pytest.mark.parametrize("order", ["<i4", ">i4"])
def test_values_may_lie_in_either_order_of_bytes(path, switch, order):
    path.send(0, update(7, message().values.astype(order)))
    assert parse_message(switch[0].recv(4096)) == message(7)


def test_a_message_that_brings_only_an_exponent_is_filled_with_zeros(path, switch):
    path.send(0, update(7, asks_help=True))
    taken = parse_message(switch[0].recv(4096))
    assert taken == message(7)._replace(asks_help=True, payload=bytes(128))


def test_messages_of_the_switch_come_in(path, switch, own):
    switch[0].sendto(pack_message(message(1)), own[0].getsockname())
    switch[1].sendto(pack_message(message(2, kind=MessageType.HELP)), own[1].getsockname())
    sum_, call = map(plain, path.receive())
    assert sum_ == result(1)
    assert call == update(2)._replace(kind=HELP)
    assert path.receive() == []
    assert not path.dropped


def test_a_batch_is_limited_and_the_rest_comes_next(path, switch, own):
    for number in range(BATCH + 3):
        switch[0].sendto(pack_message(message(number)), own[0].getsockname())
    first, second = path.receive(), path.receive()
    assert [each.number for each in first] == list(range(BATCH))
    assert [each.number for each in second] == list(range(BATCH, BATCH + 3))


def test_what_is_not_from_the_switch_is_foreign(path, switch, own, stranger):
    stranger.sendto(pack_message(message()), own[0].getsockname())
    switch[1].sendto(pack_message(message()), own[0].getsockname())  # the other core's port
    assert path.receive() == []
    assert path.dropped == {"foreign": 2}


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "too_short"),
        (b"\x10" * 9, "too_short"),
        (pack_message(message())[:-1], "length_mismatch"),
        (pack_message(message()) + b"\0", "length_mismatch"),
        (b"\x30" + pack_message(message())[1:], "bad_message_type"),
        (pack_message(message(elements=64)), "size_not_built"),
        (pack_message(message())[:6] + b"\x40\x00" + pack_message(message())[8:], "bad_pool_index"),
    ],
)
def test_a_malformed_message_is_dropped_and_counted(path, switch, own, body, reason):
    switch[0].sendto(body, own[0].getsockname())
    switch[0].sendto(pack_message(message(9)), own[0].getsockname())
    assert [plain(each) for each in path.receive()] == [result(9)]
    assert path.dropped == {reason: 1}


def test_a_tap_sees_frames_between_the_two(switch, own, stranger):
    frames = []
    peers = [each.getsockname() for each in switch]
    path = UdpPath(own, peers, 32, own=OWN, peer=SWITCH, tap=frames.append)
    path.send(1, update(1))
    switch[1].sendto(pack_message(message(2)), own[1].getsockname())
    stranger.sendto(pack_message(message(3)), own[1].getsockname())
    path.receive()
    up, down = parse(frames[0]), parse(frames[1], to_switch=False)
    second_core = OWN._replace(port=0xBED1), SWITCH._replace(port=0xBEE1)
    assert len(frames) == 2
    assert (up.source, up.target) == second_core
    assert (down.target, down.source) == second_core
    assert (up.message.number, down.message.number) == (1, 2)
    path.close()
