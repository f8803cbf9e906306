"""How long a participant waits before it sends again, computed exactly from the scenario.

The unloaded round trip is that of a lone packet over the slowest links. The loaded one is how
long a full window takes on the slowest link that all its packets share; a timeout below it
would resend what is only waiting its turn. An adaptive timeout starts at three loaded round
trips (at least 1 ms) and follows measured ones from there (RFC 6298).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from innet.plan.plan import Rto
from innet.topology.star import Cable
from innet.units import serialisation_ps

_LEAST_INITIAL_PS = 10**9
_LEAST_MINIMUM_PS = 10**6
_BACK_OFF = 64


@dataclass(frozen=True, slots=True)
class SlowestPath:
    """What a packet and its answer meet: cables, the switch, and the hosts' cost of both."""

    cables: Sequence[Cable]
    switch_ps: int
    host_ps: int

    def slowest_ps(self, medium_bytes: int) -> int:
        """Return the longest medium time of a packet on any cable."""
        return max(serialisation_ps(medium_bytes, cable.rate_bps) for cable in self.cables)

    def crossing_ps(self, medium_bytes: int) -> int:
        """Return the longest time over one cable, from first bit sent to last bit received."""
        return max(
            serialisation_ps(medium_bytes, cable.rate_bps) + cable.delay_ps for cable in self.cables
        )


def aggregation_round_trip_ps(path: SlowestPath, packet_bytes: int) -> int:
    """Return the unloaded round trip of an update and its result: up, switch, down."""
    return 2 * path.crossing_ps(packet_bytes) + path.switch_ps + path.host_ps


def stream_round_trip_ps(path: SlowestPath, packet_bytes: int, ack_bytes: int) -> int:
    """Return the unloaded round trip of a data packet and its acknowledgement."""
    crossings = 2 * path.crossing_ps(packet_bytes) + 2 * path.crossing_ps(ack_bytes)
    return crossings + 2 * path.switch_ps + path.host_ps


def filling_window(path: SlowestPath, packet_bytes: int) -> int:
    """Return the fewest slots that keep the slowest link busy: round trip over packet time."""
    return -(-aggregation_round_trip_ps(path, packet_bytes) // path.slowest_ps(packet_bytes))


def retransmission_timeout(
    configured_ps: int | None, unloaded_ps: int, shared_packets: int, packet_ps: int
) -> Rto:
    """Return the timeout: adaptive where `configured_ps` is None, else fixed at it.

    `shared_packets` of `packet_ps` each may stand before a packet on the slowest link or core.
    """
    if configured_ps is not None:
        return Rto(False, configured_ps, configured_ps, _BACK_OFF * configured_ps)
    loaded_ps = max(unloaded_ps, shared_packets * packet_ps)
    initial_ps = max(_LEAST_INITIAL_PS, 3 * loaded_ps)
    # A full window waits behind itself: the first samples, taken before it has built up,
    # must not make the timeout shorter than that.
    minimum_ps = max(_LEAST_MINIMUM_PS, 2 * loaded_ps)
    return Rto(True, initial_ps, minimum_ps, _BACK_OFF * initial_ps)
