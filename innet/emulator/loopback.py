"""A star of UDP sockets on this machine's loopback: no root, no network, any system.

Every worker has a cable of its own: for each of its cores a pair of sockets, one for the
worker and one for the switch's port. The frames that the switch sees have addresses of
innet's scheme (`places`), whatever the sockets' are.
"""

import socket
from collections.abc import Sequence

from innet.emulator.closing import Closing
from innet.emulator.settings import End, SocketEnd
from innet.emulator.sockets import enlarge_buffer
from innet.wire.headers import ELEMENT_BYTES, MESSAGE_HEAD_BYTES

NOT_ENFORCED = (
    "the links' rate, delay and queue are not enforced: the loopback is as fast as this machine",
)
_LOOPBACK = "127.0.0.1"
_WANTED_BYTES = 8 * 2**20
# What Linux counts against a receive buffer for a datagram, beyond its rounded-up bytes.
_BOOKKEEPING_BYTES = 256
_HEADROOM_BYTES = 400


class Cable:
    """The sockets between one worker and the switch, one a core on each side."""

    def __init__(self, cores: int) -> None:
        self.worker = [_open() for _ in range(cores)]
        self.switch = [_open() for _ in range(cores)]

    def close(self) -> None:
        """Close all sockets of this process; those of other processes stay open."""
        for each in (*self.worker, *self.switch):
            each.close()


class LoopbackNetwork(Closing):
    """The cables of `workers` workers; `with` closes them in the end."""

    not_enforced = NOT_ENFORCED

    def __init__(self, workers: int, cores: int) -> None:
        self.cables = [Cable(cores) for _ in range(workers)]

    def window(self, elements: int) -> int:
        """How many packets of `elements` values surely fit into a socket's buffer.

        A worker that has more of them on their way loses some, as it would at a full queue.
        """
        granted = min(
            enlarge_buffer(each, _WANTED_BYTES)
            for cable in self.cables
            for each in (*cable.worker, *cable.switch)
        )
        return max(1, granted * 3 // 4 // _charged_bytes(elements))

    def worker_end(self, worker: int) -> End:
        """The worker's sockets."""
        cable = self.cables[worker]
        return _end(cable.worker, cable.switch)

    def switch_end(self, worker: int) -> End:
        """The sockets of the switch's port to a worker."""
        cable = self.cables[worker]
        return _end(cable.switch, cable.worker)

    def worker_prefix(self, worker: int) -> Sequence[str]:
        """Nothing: everything runs right here."""
        return ()

    def switch_prefix(self) -> Sequence[str]:
        """Nothing."""
        return ()

    def close(self) -> None:
        """Close all sockets; any number of times."""
        for cable in self.cables:
            cable.close()


def _end(own: Sequence[socket.socket], other: Sequence[socket.socket]) -> End:
    pairs = zip(own, addresses(other), strict=True)
    return End(sockets=tuple(SocketEnd(each.fileno(), *peer) for each, peer in pairs))


def addresses(sockets: Sequence[socket.socket]) -> list[tuple[str, int]]:
    """Where sockets are bound: IP address and UDP port."""
    return [each.getsockname()[:2] for each in sockets]


def _open() -> socket.socket:
    opened = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    opened.bind((_LOOPBACK, 0))
    return opened


def _charged_bytes(elements: int) -> int:
    """What a packet takes of a receive buffer: the kernel rounds up to powers of two."""
    datagram = MESSAGE_HEAD_BYTES + ELEMENT_BYTES * elements + _HEADROOM_BYTES
    return (1 << (datagram - 1).bit_length()) + _BOOKKEEPING_BYTES
