"""A worker's packets as the protocol's machine has them, and as UDP carries them.

A packet is packed and read without a `Message` in between, since an emulation's switch is only
as busy as its workers keep it. The values are a view of the packet's bytes, in their order.
"""

import numpy as np

from innet.protocol.endpoint import HELP, RESULT, AggregationPacket
from innet.protocol.machine import new_packet
from innet.wire.frames import WIRE_INTEGER, Message, parse_message
from innet.wire.headers import (
    ELEMENT_BYTES,
    MESSAGE_HEAD,
    MESSAGE_HEAD_BYTES,
    SIZE_CODES,
    SLOT_MASK,
    UNUSED_POOL_BIT,
    MessageType,
    type_and_size,
)


class PacketFormat:
    """UDP payloads of `elements` values: what a worker sends to its switch and gets from it."""

    def __init__(self, elements: int) -> None:
        self._elements = elements
        self.sizes = frozenset((SIZE_CODES[elements],))
        """The size codes that the wire module is to let pass."""
        self._zeros = bytes(ELEMENT_BYTES * elements)
        self._plain = type_and_size(MessageType.UPDATE, elements)
        self._asking = type_and_size(MessageType.UPDATE, elements, asks_help=True)
        self._bytes = MESSAGE_HEAD_BYTES + ELEMENT_BYTES * elements

    def pack(self, update: AggregationPacket) -> bytes:
        """An update as it is sent; one that carries only an exponent is filled with zeros."""
        _, job, _, slot, in_set, number, asks_help, exponent, values = update
        first = self._asking if asks_help else self._plain
        head = MESSAGE_HEAD.pack(first, job, number, in_set << 15 | slot, exponent, 0)
        if values is None:
            return head + self._zeros
        return head + values.astype(WIRE_INTEGER, copy=False).tobytes()

    def parse(self, data: bytes, start: int = 0) -> AggregationPacket:
        """What the switch sent, a sum or a call for help, from byte `start` of `data` to its end.

        FrameError as `parse_message` raises it, which looks at whatever is no plain sum.
        """
        if len(data) - start == self._bytes and data[start] == self._plain:
            _, job, number, pool_index, exponent, _ = MESSAGE_HEAD.unpack_from(data, start)
            if not pool_index & UNUSED_POOL_BIT:
                slot, in_set = pool_index & SLOT_MASK, pool_index >> 15
                at = start + MESSAGE_HEAD_BYTES
                values = np.frombuffer(data, WIRE_INTEGER, self._elements, at)
                fields = (RESULT, job, 0, slot, in_set, number, False, exponent, values)
                return new_packet(AggregationPacket, fields)
        return packet_of(parse_message(data[start:], self.sizes))


def packet_of(message: Message) -> AggregationPacket:
    """What the switch sent: a sum, or a call for help."""
    is_help = message.type is MessageType.HELP
    return AggregationPacket(
        HELP if is_help else RESULT,
        message.job,
        0,
        message.slot,
        message.pool_set,
        message.number,
        False,
        message.exponent,
        None if is_help else message.values,
    )
