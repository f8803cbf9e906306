"""The Scapy layer says of every packet what the wire module says, both ways."""

import sys
from pathlib import Path

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from wire_messages import frame_of, messages

from innet.wire.frames import parse
from innet.wire.headers import SIZE_CODES

sys.path.insert(0, str(Path(__file__).parents[3] / "p4"))

from innet_scapy import Innet

MESSAGES = list(messages(24))


def layer_of(message):
    return Innet(
        type=int(message.type),
        asks_help=int(message.asks_help),
        size=SIZE_CODES[message.elements],
        job=message.job,
        number=message.number,
        set=message.pool_set,
        slot=message.slot,
        exponent=message.exponent,
        second_exponent=message.second_exponent,
        values=message.values.tolist(),
    )


@pytest.mark.parametrize("message", MESSAGES, ids=range(len(MESSAGES)))
def test_scapy_makes_the_frames_that_wire_makes(message):
    made = (
        Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:fe", type=0x0800)
        / IP(src="10.0.0.1", dst="10.0.0.254", id=0, flags="DF", ttl=64)
        / UDP(sport=0xBED0, dport=0xBEE0)
        / layer_of(message)
    )
    frame = frame_of(message)
    assert bytes(made).ljust(60, b"\0") == frame
    assert parse(bytes(made)).message == message


@pytest.mark.parametrize("up", [True, False])
@pytest.mark.parametrize("core", [0, 15])
def test_scapy_reads_what_wire_writes(up, core):
    for message in MESSAGES:
        read = Ether(frame_of(message, up=up, core=core))
        assert isinstance(read[UDP].payload, Innet)
        wanted = layer_of(message)
        for name in (field.name for field in Innet.fields_desc):
            assert getattr(read[Innet], name) == getattr(wanted, name), name
