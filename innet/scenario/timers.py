"""How long a participant waits before it sends again, computed exactly from the plan's network.

The unloaded round trip is that of a lone packet on the slowest way (`plan/ways.py`). The loaded
one is how long a full window takes on the slowest link that all its packets share; a timeout
below it would resend what is only waiting its turn. An adaptive timeout starts at three loaded
round trips (at least 1 ms) and follows measured ones from there (RFC 6298).
"""

from collections import Counter
from collections.abc import Sequence

from innet.plan.plan import Aggregation, Host, Rto, Stream
from innet.plan.ways import (
    Pair,
    slowest_packet_ps,
    tree_loads,
    tree_round_trip_ps,
    tree_ways,
)
from innet.topology.graph import Graph
from innet.topology.routes import Routes
from innet.units import serialisation_ps

_LEAST_INITIAL_PS = 10**9
_LEAST_MINIMUM_PS = 10**6
_BACK_OFF = 64


def aggregation_timeout(
    configured_ps: int | None,
    graph: Graph,
    routes: Routes,
    hosts: Sequence[Host],
    aggregation: Aggregation,
) -> Rto:
    """Return the timeout of the workers of an aggregation tree; fixed where it is configured."""
    size, slots = aggregation.packet_bytes, aggregation.slots
    ways = tree_ways(graph, routes, aggregation.tree)
    unloaded_ps = tree_round_trip_ps(ways, hosts, size)
    loads = tree_loads(graph, routes, aggregation.tree)
    waits = [_host_ps(host) for host in hosts]
    waits += [
        edges * serialisation_ps(size, graph.links[link].rate_bps) for link, edges in loads.items()
    ]
    return retransmission_timeout(configured_ps, max(unloaded_ps, slots * max(waits)))


def stream_timeout(
    configured_ps: int | None,
    graph: Graph,
    hosts: Sequence[Host],
    stream: Stream,
    pairs: Sequence[Pair],
) -> Rto:
    """Return the timeout of streams between some pairs of `hosts`."""
    size = stream.payload_bytes + stream.overhead_bytes
    unloaded_ps = max((pair.round_trip_ps(size, stream.ack_bytes) for pair in pairs), default=0)
    packet_ps = max(slowest_packet_ps((pair.there for pair in pairs), size), *map(_host_ps, hosts))
    # All streams of a rank share its cable, and its peers may all send at once.
    shared_ps = max(1, len(hosts) - 1) * packet_ps
    crossing = Counter(hop.link for pair in pairs for hop in pair.there)
    for link, count in crossing.items():
        shared_ps = max(shared_ps, count * serialisation_ps(size, graph.links[link].rate_bps))
    return retransmission_timeout(configured_ps, max(unloaded_ps, stream.window * shared_ps))


def _host_ps(host: Host) -> int:
    return host.send_ps + host.receive_ps


def retransmission_timeout(configured_ps: int | None, loaded_ps: int) -> Rto:
    """Return the timeout: adaptive where `configured_ps` is None, else fixed at it.

    `loaded_ps` is the longest loaded round trip.
    """
    if configured_ps is not None:
        return Rto(False, configured_ps, configured_ps, _BACK_OFF * configured_ps)
    initial_ps = max(_LEAST_INITIAL_PS, 3 * loaded_ps)
    # A full window waits behind itself: the first samples, taken before it has built up,
    # must not make the timeout shorter than that.
    minimum_ps = max(_LEAST_MINIMUM_PS, 2 * loaded_ps)
    return Rto(True, initial_ps, minimum_ps, _BACK_OFF * initial_ps)


class Load:
    """What may be on its way at once: all windows of all operations that can run together.

    Operations of different groups share links, so a packet may wait behind the windows of all of
    them; one timeout that covers them serves every operation.
    """

    def __init__(self, graph: Graph, hosts: Sequence[Host]) -> None:
        self._graph = graph
        self._host_ps = max(map(_host_ps, hosts))
        self._bytes: Counter[int] = Counter()
        self._packets: Counter[int] = Counter()
        self._unloaded_ps = 0
        self.longest_way = 0

    def add_stream(self, stream: Stream, pair: Pair) -> None:
        """A window of packets between a pair of ranks."""
        size = stream.payload_bytes + stream.overhead_bytes
        links = [hop.link for hop in pair.there]
        self._add(links, stream.window, size)
        self._note(pair.round_trip_ps(size, stream.ack_bytes), len(links))

    def add_tree(self, routes: Routes, hosts: Sequence[Host], aggregation: Aggregation) -> None:
        """The slots of a job, whose group has these `routes` and `hosts`."""
        size, tree = aggregation.packet_bytes, aggregation.tree
        for link, edges in tree_loads(self._graph, routes, tree).items():
            self._add([link] * edges, aggregation.slots, size)
        ways = tree_ways(self._graph, routes, tree)
        longest = max(len(way.up + way.down) for way in ways)
        self._note(tree_round_trip_ps(ways, hosts, size), longest)

    def timeout(self, configured_ps: int | None) -> Rto:
        """Return the timeout of every operation; fixed where it is configured."""
        waits = [
            serialisation_ps(size, self._graph.links[link].rate_bps)
            for link, size in self._bytes.items()
        ]
        waits += [count * self._host_ps for count in self._packets.values()]
        return retransmission_timeout(configured_ps, max([self._unloaded_ps, *waits]))

    def _add(self, links: Sequence[int], packets: int, packet_bytes: int) -> None:
        for link in links:
            self._bytes[link] += packets * packet_bytes
            self._packets[link] += packets

    def _note(self, unloaded_ps: int, links: int) -> None:
        self._unloaded_ps = max(self._unloaded_ps, unloaded_ps)
        self.longest_way = max(self.longest_way, links)
