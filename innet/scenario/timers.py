"""How long a participant waits before it sends again, computed exactly from the scenario.

The unloaded round trip is that of a lone packet over the slowest links (`plan/members.py`). The
loaded one is how long a full window takes on the slowest link that all its packets share; a
timeout below it would resend what is only waiting its turn. An adaptive timeout starts at three
loaded round trips (at least 1 ms) and follows measured ones from there (RFC 6298).
"""

from innet.plan.plan import Rto

_LEAST_INITIAL_PS = 10**9
_LEAST_MINIMUM_PS = 10**6
_BACK_OFF = 64


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
