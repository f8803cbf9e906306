"""Valid SwitchML messages and frames, and their way to and from bytes.

A `Message` is what UDP carries: SwitchML header, exponents, payload. A `Frame` is a message
with its Ethernet, IPv4 and UDP addresses, without the FCS, which hardware adds. Parsing
either gives a valid object or raises FrameError with one DropReason, by which receivers
count; no other exception comes out, whatever the bytes.

A sender that repeats the same addresses should keep a `FrameWriter`: it has the bytes of the
headers ready. Tables (who is worker 3, which job is ours) are not this module's business.
"""

from collections.abc import Collection
from enum import Enum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from innet.wire.headers import (
    ALL_SIZES,
    ASKS_HELP_BIT,
    BASE_PORT,
    DONT_FRAGMENT,
    ELEMENT_BYTES,
    ETHERNET_BYTES,
    ETHERTYPE_IPV4,
    FCS_BYTES,
    FRAGMENT_MASK,
    HEAD_BYTES,
    IP_VERSION,
    IPV4_BYTES,
    MESSAGE_HEAD,
    MESSAGE_HEAD_BYTES,
    MESSAGE_START,
    MINIMUM_FRAME_BYTES,
    PORT_MASK,
    PROTOCOL_UDP,
    SIZE_CODES,
    SLOT_MASK,
    TIME_TO_LIVE,
    UDP_BYTES,
    UNUSED_POOL_BIT,
    VERSION_AND_LENGTH,
    MessageType,
    RawFrame,
    internet_checksum,
    type_and_size,
)

I32 = npt.NDArray[np.int32]
Buffer = bytes | bytearray | memoryview

WIRE_INTEGER = np.dtype(">i4")
"""A value of the payload."""

_TYPES = {int(kind): kind for kind in MessageType}
_IP_START = ETHERNET_BYTES
_UDP_START = ETHERNET_BYTES + IPV4_BYTES
_SIZE_MASK = 0x07


class DropReason(Enum):
    """Why a receiver drops a frame; the value is the counter's name."""

    TOO_SHORT = "too_short"
    NOT_IPV4 = "not_ipv4"
    IP_OPTIONS = "ip_options"
    BAD_IP_CHECKSUM = "bad_ip_checksum"
    FRAGMENT = "fragment"
    NOT_UDP = "not_udp"
    WRONG_PORT = "wrong_port"
    LENGTH_MISMATCH = "length_mismatch"
    BAD_UDP_CHECKSUM = "bad_udp_checksum"
    BAD_MESSAGE_TYPE = "bad_message_type"
    SIZE_NOT_BUILT = "size_not_built"
    BAD_POOL_INDEX = "bad_pool_index"


class FrameError(ValueError):
    """Bytes that are no valid frame or message; `reason` names the drop counter."""

    def __init__(self, reason: DropReason) -> None:
        super().__init__(reason.value)
        self.reason = reason


class Message(NamedTuple):
    """One SwitchML message.

    `number` is the chunk's sequence number (the header's tsi), `pool_set` 0 or 1, `exponent`
    the block exponent (-128 .. 127) of the next block on the slot. `payload` is the
    4 * `elements` big-endian bytes of an UPDATE, empty in HELP.
    """

    type: MessageType
    asks_help: bool
    elements: int
    job: int
    number: int
    slot: int
    pool_set: int
    exponent: int
    second_exponent: int
    payload: bytes

    @property
    def values(self) -> I32:
        """The payload as a new native int32 array of shape (elements,), or (0,) in HELP."""
        return np.frombuffer(self.payload, dtype=WIRE_INTEGER).astype(np.int32)


class Address(NamedTuple):
    """One end of a frame: 6 bytes of MAC, 4 of IPv4, and a UDP port."""

    mac: bytes
    ip: bytes
    port: int


class Frame(NamedTuple):
    """A message on its way from `source` to `target`."""

    source: Address
    target: Address
    message: Message


def payload_of(values: I32, elements: int) -> bytes:
    """`values` as big-endian bytes, filled up with zeros to `elements`.

    ValueError when there are more values than that.
    """
    if values.size > elements:
        raise ValueError(f"{values.size} values do not fit into a packet of {elements}")
    packed = values.astype(WIRE_INTEGER, copy=False).tobytes()
    return packed + bytes((elements - values.size) * ELEMENT_BYTES)


def pack_message(message: Message) -> bytes:
    """The UDP payload. ValueError for a field that does not fit, named."""
    _require_fields(message)
    head = MESSAGE_HEAD.pack(
        type_and_size(message.type, message.elements, message.asks_help),
        message.job,
        message.number,
        message.pool_set << 15 | message.slot,
        message.exponent,
        message.second_exponent,
    )
    return head + message.payload


def parse_message(data: Buffer, sizes: Collection[int] = ALL_SIZES) -> Message:
    """Read a UDP payload. `sizes`: the size codes that this receiver was built for.

    FrameError: TOO_SHORT, BAD_MESSAGE_TYPE, SIZE_NOT_BUILT, LENGTH_MISMATCH, BAD_POOL_INDEX.
    """
    if len(data) < MESSAGE_HEAD_BYTES:
        raise FrameError(DropReason.TOO_SHORT)
    head, job, number, pool_index, exponent, second = MESSAGE_HEAD.unpack_from(data)
    kind = _TYPES.get(head >> 4)
    if kind is None:
        raise FrameError(DropReason.BAD_MESSAGE_TYPE)
    size = head & _SIZE_MASK
    if size not in sizes or size not in ALL_SIZES:
        raise FrameError(DropReason.SIZE_NOT_BUILT)
    elements = 32 << size
    payload = bytes(data[MESSAGE_HEAD_BYTES:])
    if len(payload) != (elements * ELEMENT_BYTES if kind is MessageType.UPDATE else 0):
        raise FrameError(DropReason.LENGTH_MISMATCH)
    if pool_index & UNUSED_POOL_BIT:
        raise FrameError(DropReason.BAD_POOL_INDEX)
    return Message(
        kind,
        bool(head & ASKS_HELP_BIT),
        elements,
        job,
        number,
        pool_index & SLOT_MASK,
        pool_index >> 15,
        exponent,
        second,
        payload,
    )


class FrameWriter:
    """Packs messages between two fixed addresses; header bytes are made once a length.

    `with_udp_checksum`: compute UDP's checksum; without, it is 0, which says "absent", as in
    the switch's replies. ValueError for a MAC, IP or port of the wrong length or range.
    """

    def __init__(
        self, source: Address, target: Address, *, with_udp_checksum: bool = False
    ) -> None:
        for end in (source, target):
            if len(end.mac) != 6 or len(end.ip) != 4 or not 0 <= end.port <= 0xFFFF:
                raise ValueError(f"an address has 6 bytes, 4 bytes and a port, not {end}")
        self._source = source
        self._target = target
        self._with_udp_checksum = with_udp_checksum
        self._heads: dict[int, tuple[bytes, int]] = {}

    def pack(self, message: Message) -> bytes:
        """The frame without FCS, padded to the shortest Ethernet frame."""
        return self.wrap(pack_message(message)).ljust(MINIMUM_FRAME_BYTES - FCS_BYTES, b"\0")

    def wrap(self, body: bytes) -> bytes:
        """The frame around any UDP payload, neither checked nor padded."""
        found = self._heads.get(len(body))
        if found is None:
            head = self._head(len(body))
            covered = int.from_bytes(_pseudo_header(head) + head[_UDP_START:], "big")
            found = self._heads[len(body)] = head, covered % 0xFFFF
        head, covered = found
        if self._with_udp_checksum:
            checksum = internet_checksum(body, covered)
            return head[:-2] + (checksum or 0xFFFF).to_bytes(2, "big") + body
        return head + body

    def _head(self, length: int) -> bytes:
        """Ethernet, IPv4 and UDP before `length` bytes, UDP's checksum 0."""
        raw = RawFrame(
            target_mac=self._target.mac,
            source_mac=self._source.mac,
            ethertype=ETHERTYPE_IPV4,
            version_and_length=VERSION_AND_LENGTH,
            traffic_class=0,
            total_length=IPV4_BYTES + UDP_BYTES + length,
            identification=0,
            fragment=DONT_FRAGMENT,
            time_to_live=TIME_TO_LIVE,
            protocol=PROTOCOL_UDP,
            ip_checksum=0,
            source_ip=self._source.ip,
            target_ip=self._target.ip,
            source_port=self._source.port,
            target_port=self._target.port,
            udp_length=UDP_BYTES + length,
            udp_checksum=0,
            type_and_size=0,
            job=0,
            number=0,
            pool_index=0,
            exponent=0,
            second_exponent=0,
        )
        checksum = internet_checksum(raw.pack()[_IP_START:_UDP_START])
        return raw._replace(ip_checksum=checksum).pack()[:MESSAGE_START]


def pack(frame: Frame, *, with_udp_checksum: bool = False) -> bytes:
    """One frame's bytes without FCS (see FrameWriter). ValueError for fields that do not fit."""
    writer = FrameWriter(frame.source, frame.target, with_udp_checksum=with_udp_checksum)
    return writer.pack(frame.message)


def parse(data: Buffer, *, to_switch: bool = True, sizes: Collection[int] = ALL_SIZES) -> Frame:
    """Read a frame without FCS; bytes after the IPv4 packet are Ethernet padding.

    The checks go from the outer header to the inner, so that other traffic, however short, is
    told by what it is. `to_switch`: the target port must be one of the switch's, otherwise
    the source port. FrameError with the first DropReason that applies, in that order.
    """
    length = len(data)
    raw = RawFrame.view(data if length >= HEAD_BYTES else bytes(data).ljust(HEAD_BYTES, b"\0"))
    view = memoryview(data)
    if length < ETHERNET_BYTES:
        raise FrameError(DropReason.TOO_SHORT)
    _check_ip(view, raw)
    if length < MESSAGE_START:
        raise FrameError(DropReason.TOO_SHORT)
    if (raw.target_port if to_switch else raw.source_port) & PORT_MASK != BASE_PORT:
        raise FrameError(DropReason.WRONG_PORT)
    end = _IP_START + raw.total_length
    if not MESSAGE_START <= end <= length or raw.udp_length != raw.total_length - IPV4_BYTES:
        raise FrameError(DropReason.LENGTH_MISMATCH)
    if raw.udp_checksum and internet_checksum(_pseudo_header(view) + bytes(view[_UDP_START:end])):
        raise FrameError(DropReason.BAD_UDP_CHECKSUM)
    return Frame(
        Address(raw.source_mac, raw.source_ip, raw.source_port),
        Address(raw.target_mac, raw.target_ip, raw.target_port),
        parse_message(view[MESSAGE_START:end], sizes),
    )


def _check_ip(data: memoryview, raw: RawFrame) -> None:
    if raw.ethertype != ETHERTYPE_IPV4:
        raise FrameError(DropReason.NOT_IPV4)
    if len(data) < _UDP_START:
        raise FrameError(DropReason.TOO_SHORT)
    if raw.version_and_length != VERSION_AND_LENGTH:
        other = raw.version_and_length >> 4 != IP_VERSION
        raise FrameError(DropReason.NOT_IPV4 if other else DropReason.IP_OPTIONS)
    if internet_checksum(data[_IP_START:_UDP_START]):
        raise FrameError(DropReason.BAD_IP_CHECKSUM)
    if raw.fragment & FRAGMENT_MASK:
        raise FrameError(DropReason.FRAGMENT)
    if raw.protocol != PROTOCOL_UDP:
        raise FrameError(DropReason.NOT_UDP)


def _pseudo_header(data: bytes | memoryview) -> bytes:
    """What UDP's checksum covers of IPv4: both addresses, the protocol and UDP's length."""
    length = bytes(data[_UDP_START + 4 : _UDP_START + 6])
    return bytes(data[_IP_START + 12 : _UDP_START]) + bytes((0, PROTOCOL_UDP)) + length


_CHECKED = (
    "elements",
    "job",
    "number",
    "slot",
    "pool_set",
    "exponent",
    "second_exponent",
    "payload",
)


def _require_fields(message: Message) -> None:
    size = ELEMENT_BYTES * message.elements if message.type is MessageType.UPDATE else 0
    fits = (
        message.elements in SIZE_CODES,
        0 <= message.job <= 0xFF,
        0 <= message.number <= 0xFFFFFFFF,
        0 <= message.slot <= SLOT_MASK,
        message.pool_set in (0, 1),
        -128 <= message.exponent <= 127,
        -128 <= message.second_exponent <= 127,
        len(message.payload) == size,
    )
    if not all(fits):
        wrong = [name for name, fit in zip(_CHECKED, fits, strict=True) if not fit]
        raise ValueError(f"{', '.join(wrong)}: out of range in {message._replace(payload=b'')}")
