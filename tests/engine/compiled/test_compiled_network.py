"""Many point-to-point operations on one network: as the reference engine's network has them."""

from dataclasses import replace

import pytest

from innet.engine.compiled.messages.network import CompiledNetwork
from innet.engine.network import Completion
from innet.engine.reference.network import ReferenceNetwork
from innet.engine.refused import RefusedError
from innet.errors import ConfigurationError, UnfinishedError
from innet.plan.plan import Host, NodeFault, PacketFault
from innet.protocol.machine import NEVER
from innet.topology.graph import Graph, Node
from innet.topology.routes import shortest_routes
from tests.engine.compiled.made_mixes import made_mix, outcome
from tests.engine.made_networks import (
    GBPS,
    SHORT_RTO,
    US,
    Tiers,
    begun_at_once,
    completions,
    ring,
)

RACKS = Tiers((2, 4), rates=(10 * GBPS, 40 * GBPS))


@pytest.mark.parametrize("batch", range(3))
def test_random_mixes_are_the_same_packet_for_packet(batch):
    kinds = set()
    for seed in range(60 * batch, 60 * (batch + 1)):
        mix = made_mix(seed)
        reference, compiled = outcome(mix, ReferenceNetwork), outcome(mix, CompiledNetwork)
        assert compiled == reference, seed
        kinds.add(type(compiled))
    assert len(kinds) == 2  # some mixes end, some cannot


def pair_ps(payload_bytes, packets=1):
    """A message of full packets from one worker of a rack to another, at 10 Gbps."""
    return (packets + 1) * payload_bytes * 800 + 2 * RACKS.delays[0] + RACKS.latencies[0]


def test_rings_on_one_link_take_turns():
    """Two rings of the same two ranks: each block is one packet, and waits for the other's."""
    network = CompiledNetwork(RACKS.fabric())
    begun_at_once(network, [network.add(ring((0, 1), 500)) for _ in range(2)])
    ends = {at_ps for at_ps, operation, _ in completions(network) if operation == 1}
    assert ends == {2 * pair_ps(1000) + 800_000}


def test_a_long_run_needs_room_for_what_goes_on_at_once():
    """Operations one after another, each as long as alone, leave their places to each other, but
    for the one before, of which acknowledgements are on their way.
    """
    network = CompiledNetwork(RACKS.fabric())
    operation, rows, end = ring((0, 1, 5), 3000), [], 0
    alone = completions(begun(ReferenceNetwork(RACKS.fabric()), operation, 0))[-1].at_ps
    for turn in range(6):
        begun(network, operation, end)
        ends = []
        while len(ends) < 3:
            ends += network.advance(NEVER)
        end = max(ends).at_ps
        rows.append(len(network.state.streams.rows))
        assert end == (turn + 1) * alone
    assert rows == [3] + 5 * [2 * 3]  # streams


def begun(network, operation, now):
    begun_at_once(network, [network.add(operation)], now)
    return network


def test_a_window_that_grows_keeps_what_is_under_way():
    """The second operation's window is four times as large, and comes amid the first's packets."""
    found = []
    for kind in (ReferenceNetwork, CompiledNetwork):
        network = kind(replace(RACKS, loss=0.1).fabric())
        streams = [replace(ring((0, 1), 1).stream, window=window) for window in (5, 20)]
        slow, wide = (ring((0, 5, 2), 40_000, stream=each, rto=SHORT_RTO) for each in streams)
        begun_at_once(network, [network.add(slow)])
        assert network.advance(40 * US) == ()
        begun_at_once(network, [network.add(wide)], 40 * US)
        found.append((sorted(completions(network)), network.links()))
    assert found[0] == found[1]


# --- what a driver may do -----------------------------------------------------------------


def test_a_rank_begins_the_next_operation_at_the_instant_of_its_completion():
    network, ends = CompiledNetwork(RACKS.fabric()), []
    begun_at_once(network, [network.add(ring((0, 1), 500))])
    while batch := network.advance(NEVER):
        ends += batch
        following = {operation + 1 for _, operation, _ in batch if operation < 2}
        numbers = {n for n in following if n == len(network.ledger.operations)}
        assert all(network.add(ring((0, 1), 500)) == number for number in numbers)
        for at_ps, operation, place in batch:
            if operation < 2:
                network.begin(operation + 1, place, at_ps)
    alone = 2 * pair_ps(1000)
    assert ends == [Completion((n + 1) * alone, n, p) for n in range(3) for p in range(2)]


def test_advance_stops_before_its_limit():
    network = CompiledNetwork(RACKS.fabric())
    begun_at_once(network, [network.add(ring((0, 1), 500))])
    end = 2 * pair_ps(1000)
    assert network.advance(end) == ()
    assert network.advance(end + 1) == tuple(Completion(end, 0, place) for place in range(2))
    assert network.advance(NEVER) == ()


def test_a_rank_enters_once_and_not_in_the_past():
    network = CompiledNetwork(RACKS.fabric())
    operations = [network.add(ring((0, 1), 500)) for _ in range(2)]
    begun_at_once(network, operations[:1])
    with pytest.raises(ValueError, match="place 1 has begun operation 0 before"):
        network.begin(0, 1, 5 * US)
    network.advance(NEVER)
    with pytest.raises(ValueError, match="is over"):
        network.begin(1, 0, US)


# --- what waits for ever, and what is refused ---------------------------------------------


def test_a_network_waits_for_ranks_that_may_still_enter():
    network = CompiledNetwork(RACKS.fabric(patience_ps=100 * US))
    operation = network.add(ring((0, 1), 500))
    network.begin(operation, 0, 0)
    assert network.advance(5000 * US) == ()
    network.begin(operation, 1, 5000 * US)
    # What rank 0 sent is there: rank 1 applies it, answers, and both send what is left.
    assert max(at_ps for at_ps, _, _ in completions(network)) == 5000 * US + 2 * pair_ps(1000)


def test_a_rank_that_can_never_enter_is_not_waited_for():
    network = CompiledNetwork(RACKS.fabric(patience_ps=3000 * US))
    network.begin(network.add(ring((2, 3), 500)), 0, 0)
    with pytest.raises(UnfinishedError, match=r"nothing has moved for 3 ms .*\n.*from rank 3"):
        network.advance(NEVER)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"node_faults": (NodeFault("pause", 1, US, US),)}, "a node meets the fault pause"),
        ({"packet_faults": (PacketFault("drop", 0),)}, "packets meet the fault drop"),
        ({"hosts": (Host(0, send_ps=1), Host(1))}, "packets cost time on the hosts"),
        ({"patience_ps": 1 << 60}, "64 bits"),
    ],
)
def test_networks_that_are_not_simulated_are_named(changes, why):
    with pytest.raises(RefusedError, match=why):
        CompiledNetwork(RACKS.fabric(**changes))


def test_operations_that_are_not_simulated_are_named():
    network = CompiledNetwork(RACKS.fabric())
    with pytest.raises(RefusedError, match="timeout of 0"):
        network.add(ring((0, 1), 500, rto=replace(SHORT_RTO, initial_ps=0)))


def test_nodes_that_no_path_joins_are_named():
    graph = RACKS.graph()
    far = len(graph.nodes)
    graph = Graph((*graph.nodes, Node("far", "host")), graph.links)
    fabric = RACKS.fabric(
        graph=graph, hosts=(Host(0), Host(far)), routes=shortest_routes(graph, (0, far))
    )
    with pytest.raises(ConfigurationError, match="no path leads from worker0 to far"):
        CompiledNetwork(fabric).add(ring((0, 1), 500))
