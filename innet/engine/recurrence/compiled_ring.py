"""A ring's messages by compiled code, for runs that are long enough to wait for it."""

import numpy as np

from innet.engine.recurrence.ring import Ring, RingRun
from innet.engine.recurrence.ring_kernel import send_packets
from innet.engine.recurrence.tree import Times

# Between calls, of some tens of milliseconds, Ctrl-C is noticed.
_HOPS_A_CALL = 20_000_000


class CompiledRingRun(RingRun):
    """The steps of a ring, as `RingRun` has them, to the picosecond."""

    def __init__(self, ring: Ring) -> None:
        super().__init__(ring)
        # For each row the place in `_answered` that its next packet's answer takes.
        self._answers = np.zeros(len(ring.rows), np.int64)
        window = self._answered.shape[1]
        self._room = (np.zeros(window, np.int64), np.zeros(window, np.int64))
        self._most = max(1, _HOPS_A_CALL // (len(ring.rows) * ring.hops))

    def _send(self, sizes: Times, handed: Times) -> Times:
        """Send a message of every row; return when their last packets arrive."""
        ring, payload = self.ring, self.ring.stream.payload_bytes
        packets = -(-sizes // payload)
        last_ps = self._of_sizes(np.arange(len(sizes)), sizes - (packets - 1) * payload)
        arrived = np.empty_like(handed)
        for first in range(0, int(packets.max()), self._most):
            longest = send_packets(
                first,
                self._most,
                packets,
                self._of_size(payload),
                last_ps,
                ring.onward_ps,
                ring.ack_ps,
                handed,
                self._answered,
                self._answers,
                self.free_ps,
                self.queued_ps,
                self.stalled_ps,
                arrived,
                *self._room,
            )
            self.longest_wait_ps = max(self.longest_wait_ps, longest)
        return arrived
