"""What a rank of a star brings with it, and the round trips of lone packets between ranks.

Plans take their timeouts from these round trips, and a diagnosis what a burden costs. A lone
packet meets no queue: it is sent by a core, crosses two links and the switch between them, whole
at each, and is received by a core.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from innet.plan.plan import Host
from innet.topology.graph import Graph
from innet.units import serialisation_ps


@dataclass(frozen=True, slots=True)
class Member:
    """A rank with its two link directions and the cost of a packet on one of its cores."""

    start_ps: int
    up_bps: int
    down_bps: int
    up_delay_ps: int
    down_delay_ps: int
    send_ps: int
    receive_ps: int
    cores: int

    @property
    def host_ps(self) -> int:
        """A core's time for a packet sent and one received."""
        return self.send_ps + self.receive_ps

    @property
    def shared_host_ps(self) -> Fraction:
        """The host's time for a packet sent and one received, when all its cores work."""
        return Fraction(self.host_ps, self.cores)

    def packet_ps(self, medium_bytes: int) -> int:
        """Return the longer medium time of a packet on the member's two link directions."""
        return serialisation_ps(medium_bytes, min(self.up_bps, self.down_bps))

    def crossing_ps(self, medium_bytes: int) -> int:
        """Return the time of a lone packet up and down the member's links, without the switch."""
        up = serialisation_ps(medium_bytes, self.up_bps) + self.up_delay_ps
        down = serialisation_ps(medium_bytes, self.down_bps) + self.down_delay_ps
        return up + down


def members_of(graph: Graph, hosts: Sequence[Host]) -> list[Member]:
    """Return every rank's member; a host of a star has one link up and one down."""
    return [_member(graph, host) for host in hosts]


def _member(graph: Graph, host: Host) -> Member:
    up = graph.links[graph.links_out[host.node][0]]
    down = graph.links[graph.links_into[host.node][0]]
    return Member(
        start_ps=host.start_ps,
        up_bps=up.rate_bps,
        down_bps=down.rate_bps,
        up_delay_ps=up.delay_ps,
        down_delay_ps=down.delay_ps,
        send_ps=host.send_ps,
        receive_ps=host.receive_ps,
        cores=host.cores,
    )


def switch_latency_ps(graph: Graph) -> int:
    """Return the largest latency of a switch."""
    return max((node.latency_ps for node in graph.nodes if node.kind == "switch"), default=0)


def lone_packet_ps(members: Sequence[Member], switch_ps: int, medium_bytes: int) -> int:
    """Return the time from one host to another, or to the switch and back, for the slowest."""
    return switch_ps + max(m.crossing_ps(medium_bytes) + m.host_ps for m in members)


def stream_round_trip_ps(
    members: Sequence[Member], switch_ps: int, packet_bytes: int, ack_bytes: int
) -> int:
    """Return the time of a data packet and its acknowledgement between the slowest ranks."""
    there = lone_packet_ps(members, switch_ps, packet_bytes)
    return there + lone_packet_ps(members, switch_ps, ack_bytes)


def slowest_packet_ps(members: Sequence[Member], medium_bytes: int) -> int:
    """Return the longest medium time of a packet on any member's links."""
    return max(member.packet_ps(medium_bytes) for member in members)


def filling_window(round_trip_ps: int, packet_ps: int) -> int:
    """Return the fewest packets in flight that keep a link busy: round trip over packet time."""
    return -(-round_trip_ps // packet_ps)
