"""The soft switch's answers: the packet that caused one, changed where the P4 program changes it.

What is not changed stays, also what nobody uses: an answer has its cause's IPv4
identification, flags and type of service, and its second exponent.
"""

from innet.emulator.jobs import Member
from innet.protocol.endpoint import HELP, AggregationPacket
from innet.wire.frames import WIRE_INTEGER, Address
from innet.wire.headers import (
    ASKS_HELP_BIT,
    ETHERNET_BYTES,
    HEAD_BYTES,
    IPV4_BYTES,
    MESSAGE_HEAD_BYTES,
    SWITCHML_BYTES,
    TIME_TO_LIVE,
    UDP_BYTES,
    MessageType,
)

# Where fields lie in a frame.
_UDP_START = ETHERNET_BYTES + IPV4_BYTES
_TOTAL_LENGTH = slice(ETHERNET_BYTES + 2, ETHERNET_BYTES + 4)
_TTL = ETHERNET_BYTES + 8
_IP_CHECKSUM = slice(ETHERNET_BYTES + 10, ETHERNET_BYTES + 12)
_AFTER_MACS = slice(12, _IP_CHECKSUM.start)
_UDP_LENGTH = slice(_UDP_START + 4, _UDP_START + 6)
_TYPE = _UDP_END = _UDP_START + UDP_BYTES
_EXPONENT = _UDP_END + SWITCHML_BYTES

_HELP_TOTAL_LENGTH = IPV4_BYTES + UDP_BYTES + MESSAGE_HEAD_BYTES


class Receiver:
    """The parts of an answer that depend on who gets it: one core of a worker."""

    def __init__(self, member: Member, own: Address, core: int) -> None:
        self.port = member.port
        self.macs = member.address.mac + own.mac
        self.ips = own.ip + member.address.ip
        self.ips_sum = int.from_bytes(self.ips)
        source, target = own.port + core, member.address.port + core
        self.ports = source.to_bytes(2) + target.to_bytes(2)


class Answer:
    """The packet that caused an answer, turned into it except for the addresses."""

    def __init__(self, frame: bytes, answer: AggregationPacket) -> None:
        head = bytearray(frame[:HEAD_BYTES])
        head[_TTL] = TIME_TO_LIVE
        head[_TYPE] &= ~ASKS_HELP_BIT
        payload = b""
        if answer.kind == HELP:
            head[_TYPE] = head[_TYPE] & 0x0F | MessageType.HELP << 4
            head[_TOTAL_LENGTH] = _HELP_TOTAL_LENGTH.to_bytes(2)
            head[_UDP_LENGTH] = (_HELP_TOTAL_LENGTH - IPV4_BYTES).to_bytes(2)
        elif answer.values is not None:
            head[_EXPONENT] = answer.exponent & 0xFF
            payload = answer.values.astype(WIRE_INTEGER).tobytes()
        self._ethertype_to_protocol = bytes(head[_AFTER_MACS])
        self._sum = int.from_bytes(head[ETHERNET_BYTES : _IP_CHECKSUM.start] + b"\0\0") << 64
        self._udp_length = bytes(head[_UDP_LENGTH])
        self._rest = bytes(2) + bytes(head[_UDP_END:]) + payload

    def to(self, receiver: Receiver) -> tuple[int, bytes]:
        """The port and the frame for one receiver."""
        # A sum of 16-bit words with end-around carry is the number that they make, modulo 65535.
        checksum = -(self._sum + receiver.ips_sum) % 0xFFFF
        return receiver.port, b"".join(
            (
                receiver.macs,
                self._ethertype_to_protocol,
                checksum.to_bytes(2),
                receiver.ips,
                receiver.ports,
                self._udp_length,
                self._rest,
            )
        )
