"""The packets of in-network aggregation as a Scapy layer, to look at them and to make them.

    from scapy.all import *
    from innet_scapy import Innet

    sendp(Ether() / IP(dst="10.0.0.254") / UDP(sport=0xBED0, dport=0xBEE0)
          / Innet(job=1, slot=3, number=17, values=[1] * 32), iface="eth0")

Needs Scapy (pip install 'innet[pcap]'), which is under the GPL; innet itself does without it.
"""

from scapy.fields import (
    BitEnumField,
    BitField,
    ByteField,
    FieldListField,
    IntField,
    SignedByteField,
    SignedIntField,
)
from scapy.layers.inet import UDP
from scapy.packet import Packet, bind_bottom_up, bind_layers

BASE_PORT = 0xBEE0
PORTS = 16
UPDATE, HELP = 1, 2
SIZES = {0: 32, 1: 64, 2: 128, 3: 256}


def _count(packet: Packet) -> int:
    """How many values a packet has: none in a call for help."""
    return SIZES.get(packet.size, 0) if packet.type == UPDATE else 0


class Innet(Packet):
    """What UDP carries: the header, two exponents, and the values of an update or a sum."""

    name = "In-network aggregation"
    fields_desc = [  # noqa: RUF012 - Scapy's own way
        BitEnumField("type", UPDATE, 4, {UPDATE: "update", HELP: "help"}),
        BitField("asks_help", 0, 1),
        BitEnumField("size", 0, 3, {code: f"{count} values" for code, count in SIZES.items()}),
        ByteField("job", 0),
        IntField("number", 0),
        BitField("set", 0, 1),
        BitField("unused", 0, 1),
        BitField("slot", 0, 14),
        SignedByteField("exponent", 0),
        SignedByteField("second_exponent", 0),
        FieldListField("values", [], SignedIntField("", 0), count_from=_count, max_count=256),
    ]


for _port in range(BASE_PORT, BASE_PORT + PORTS):
    bind_bottom_up(UDP, Innet, dport=_port)
    bind_bottom_up(UDP, Innet, sport=_port)
bind_layers(UDP, Innet, dport=BASE_PORT)
