"""A worker's packets as the protocol's machine has them, and as they are on the wire."""

from innet.protocol.endpoint import HELP, RESULT, AggregationPacket
from innet.wire.frames import Message, payload_of
from innet.wire.headers import ELEMENT_BYTES, MessageType


def message_of(packet: AggregationPacket, elements: int) -> Message:
    """An update as it is sent; one that carries only an exponent is filled with zeros."""
    payload = (
        bytes(ELEMENT_BYTES * elements)
        if packet.values is None
        else payload_of(packet.values, elements)
    )
    return Message(
        MessageType.UPDATE,
        packet.asks_help,
        elements,
        packet.job,
        packet.number,
        packet.slot,
        packet.set,
        packet.exponent,
        0,
        payload,
    )


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
