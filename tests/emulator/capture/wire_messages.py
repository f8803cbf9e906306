"""Random messages and their frames, made by the wire module."""

import random

from innet.wire.frames import Address, FrameWriter, Message
from innet.wire.headers import MessageType

WORKER = Address(bytes.fromhex("020000000001"), bytes((10, 0, 0, 1)), 0xBED0)
SWITCH = Address(bytes.fromhex("0200000000fe"), bytes((10, 0, 0, 254)), 0xBEE0)


def messages(count):
    """The same messages every time: every size, updates and calls for help."""
    chance = random.Random(5)
    for place in range(count):
        elements = (32, 64, 128, 256)[place % 4]
        is_help = place % 3 == 2
        yield Message(
            MessageType.HELP if is_help else MessageType.UPDATE,
            chance.random() < 0.5,
            elements,
            chance.randrange(256),
            chance.randrange(2**32),
            chance.randrange(2**14),
            chance.randrange(2),
            chance.randrange(-128, 128),
            chance.randrange(-128, 128),
            b"" if is_help else chance.randbytes(4 * elements),
        )


def frame_of(message, *, up=True, core=0):
    """A frame from the worker to the switch, or the other way."""
    ends = [WORKER, SWITCH._replace(port=SWITCH.port + core)]
    source, target = ends if up else reversed(ends)
    return FrameWriter(source, target, with_udp_checksum=up).pack(message)
