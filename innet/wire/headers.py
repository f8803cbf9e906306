"""Field layout and sizes of the frames on the medium: Ethernet, IPv4, UDP and SwitchML.

    Ethernet 14 | IPv4 20 | UDP 8 | SwitchML 8 | exponents 2 | payload 4 k | FCS 4

in big-endian, as the public SwitchML UDP client sends them (p4lang/p4app-switchML). The
SwitchML part is

    message type 4 bits, asks-help 1, size 3 | job 8 | number 32 | set 1, unused 1, slot 14

and two signed bytes follow, the exponents, of which the first is used. The asks-help bit and
message type 2 are innet's.

`RawFrame` shows the fields as they stand, whatever their values; `innet.wire.frames` has the
form in which only valid frames can exist.
"""

import struct
from collections.abc import Mapping
from enum import IntEnum
from typing import NamedTuple

ETHERNET_BYTES = 14
IPV4_BYTES = 20
UDP_BYTES = 8
SWITCHML_BYTES = 8
EXPONENT_BYTES = 2
FCS_BYTES = 4
PREAMBLE_BYTES = 8
GAP_BYTES = 12
ELEMENT_BYTES = 4

HEAD_BYTES = ETHERNET_BYTES + IPV4_BYTES + UDP_BYTES + SWITCHML_BYTES + EXPONENT_BYTES
"""From the destination MAC to the exponents: all before the payload."""

MESSAGE_START = ETHERNET_BYTES + IPV4_BYTES + UDP_BYTES
"""Where the UDP payload begins in a frame."""

MESSAGE_HEAD_BYTES = SWITCHML_BYTES + EXPONENT_BYTES

MEDIUM_OVERHEAD_BYTES = HEAD_BYTES + FCS_BYTES + PREAMBLE_BYTES + GAP_BYTES
"""Medium bytes of a packet beyond its payload."""

MINIMUM_FRAME_BYTES = 64
"""The shortest Ethernet frame, FCS included; shorter ones are padded."""

SIZE_CODES: Mapping[int, int] = {32: 0, 64: 1, 128: 2, 256: 3}
"""Elements a packet -> the three bits that say so."""

ALL_SIZES = frozenset(SIZE_CODES.values())

ETHERTYPE_IPV4 = 0x0800
VERSION_AND_LENGTH = 0x45
"""IPv4 without options."""

IP_VERSION = 4
DONT_FRAGMENT = 0x4000
FRAGMENT_MASK = 0x3FFF
"""More-fragments and the offset: not zero in every fragment."""

PROTOCOL_UDP = 17
TIME_TO_LIVE = 64

BASE_PORT = 0xBEE0
PORT_MASK = 0xFFF0
PORTS = 16
"""The switch listens on BASE_PORT .. BASE_PORT + 15: one port a core of the host."""

SLOT_MASK = 0x3FFF
MAXIMUM_SLOTS = SLOT_MASK + 1
UNUSED_POOL_BIT = 0x4000
ASKS_HELP_BIT = 0x08
"""Beside type and size in a message's first byte."""

HEAD = struct.Struct("!6s6sH BBHHHBBH4s4s HHHH BBIHbb")
MESSAGE_HEAD = struct.Struct("!BBIHbb")


class MessageType(IntEnum):
    """UPDATE carries a worker's values up and the sum down; HELP calls for an old chunk."""

    UPDATE = 1
    HELP = 2


def medium_bytes(elements: int) -> int:
    """Medium bytes of a packet of `elements` int32 values, with preamble, FCS and gap."""
    frame = HEAD_BYTES + elements * ELEMENT_BYTES + FCS_BYTES
    return max(frame, MINIMUM_FRAME_BYTES) + PREAMBLE_BYTES + GAP_BYTES


def help_medium_bytes() -> int:
    """Medium bytes of a help packet, which has no payload."""
    return medium_bytes(0)


def core_port(core: int) -> int:
    """The switch's UDP port for `core`. ValueError beyond the 16 ports."""
    if not 0 <= core < PORTS:
        raise ValueError(f"a core's port is one of {PORTS}: core must be 0 to 15, not {core}")
    return BASE_PORT + core


def type_and_size(kind: MessageType, elements: int, asks_help: bool = False) -> int:
    """The first byte of a message. KeyError for a number of elements with no size code."""
    return kind << 4 | (ASKS_HELP_BIT if asks_help else 0) | SIZE_CODES[elements]


def internet_checksum(data: bytes | memoryview, before: int = 0) -> int:
    """RFC 1071's checksum of `data`; 0 over data that holds its own right checksum.

    `before` is the number that an even count of bytes before `data` makes, or its remainder:
    a sum of 16-bit words with end-around carry is the number they make, modulo 2^16 - 1.
    """
    number = int.from_bytes(data, "big")
    return -(before + (number << 8 if len(data) % 2 else number)) % 0xFFFF


class RawFrame(NamedTuple):
    """The fields of the first HEAD_BYTES of a frame as they stand, not checked."""

    target_mac: bytes
    source_mac: bytes
    ethertype: int
    version_and_length: int
    traffic_class: int
    total_length: int
    identification: int
    fragment: int
    time_to_live: int
    protocol: int
    ip_checksum: int
    source_ip: bytes
    target_ip: bytes
    source_port: int
    target_port: int
    udp_length: int
    udp_checksum: int
    type_and_size: int
    job: int
    number: int
    pool_index: int
    exponent: int
    second_exponent: int

    @classmethod
    def view(cls, data: bytes | bytearray | memoryview) -> "RawFrame":
        """Read the fields of `data`. struct.error when it is shorter than HEAD_BYTES."""
        return cls._make(HEAD.unpack_from(data))

    def pack(self) -> bytes:
        """The HEAD_BYTES bytes with these fields, right or not."""
        return HEAD.pack(*self)
