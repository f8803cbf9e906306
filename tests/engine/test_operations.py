"""Many operations on one network: what shares links and slots, what waits for what, and when.

t is a packet's medium time, R the round trip of a lone one, N the chunks; windows cover tensors
unless told otherwise, so an operation alone takes R + (N - 1) t.
"""

import numpy as np
import pytest

from innet.engine.network import Completion
from innet.engine.reference.network import ReferenceNetwork
from innet.errors import ConfigurationError, UnfinishedError
from innet.plan.plan import Host, NodeFault, PacketFault
from innet.tensors.generate import generate
from innet.topology.graph import Graph, Node
from innet.topology.routes import shortest_routes
from tests.engine.made_networks import (
    SHORT_RTO,
    US,
    Tiers,
    begun_at_once,
    completions,
    ring,
    run,
    star_tree,
)

PACKET_PS = 163_200
STAR = Tiers((4,))
RACKS = Tiers((2, 4), rates=(10**10, 4 * 10**10))


def alone_ps(tiers, chunks):
    return tiers.round_trip_ps() + (chunks - 1) * PACKET_PS


# --- one job ------------------------------------------------------------------------------


def test_operations_of_a_job_run_one_after_another():
    """Begun together, the second enters when the first has its result: the times add up."""
    _, times = run(STAR.fabric(), STAR.aggregated(10), STAR.aggregated(25), STAR.aggregated(1))
    first, second = alone_ps(STAR, 10), alone_ps(STAR, 25)
    assert times == [[first] * 4, [first + second] * 4, [first + second + alone_ps(STAR, 1)] * 4]


def test_a_rank_may_enter_the_next_operation_at_the_instant_of_its_completion():
    network = ReferenceNetwork(STAR.fabric())
    numbers = [network.add(STAR.aggregated(10)) for _ in range(3)]
    begun_at_once(network, numbers[:1])
    ends = []
    while batch := network.advance(1 << 62):
        ends += batch
        for at_ps, operation, place in batch:
            if operation < 2:
                network.begin(operation + 1, place, at_ps)
    alone = alone_ps(STAR, 10)
    assert ends == [Completion((n + 1) * alone, n, p) for n in numbers for p in range(4)]


def test_a_rank_that_enters_late_holds_up_its_group():
    network = ReferenceNetwork(STAR.fabric())
    operation = network.add(STAR.aggregated(10))
    for place, start in enumerate((0, 3 * US, 50 * US, 7 * US)):
        network.begin(operation, place, start)
    assert completions(network) == [
        Completion(50 * US + alone_ps(STAR, 10), 0, place) for place in range(4)
    ]


@pytest.mark.parametrize("dtype", ["int32", "float32"])
@pytest.mark.parametrize("fans", [(3,), (2, 2)])
def test_every_operation_of_a_job_has_its_own_sum(fans, dtype):
    """Numbers and sets count on; short operations leave some slots a set behind others."""
    tiers = Tiers(fans, loss=0.05)
    sizes = (100, 33, 0, 700, 1, 64)
    tensors = [
        [generate(worker, size, dtype, size + 1) for worker in range(tiers.workers)]
        for size in sizes
    ]
    operations = [
        tiers.aggregated(elements=size, dtype=dtype, slots=5, rto=SHORT_RTO) for size in sizes
    ]
    network, _ = run(tiers.fabric(), *operations, tensors=tensors)
    for number, vectors in enumerate(tensors):
        exact = np.sum(np.array(vectors, np.float64), axis=0)
        for result in network.results(number):
            np.testing.assert_allclose(result, exact, rtol=0, atol=1e-5 * tiers.workers)


@pytest.mark.parametrize("at", range(20, 120, 9))
def test_a_worker_that_restarts_never_makes_a_sum_wrong(at):
    """It begins the operation again that it was in; if that is over, the job stops in time."""
    tiers = Tiers((2, 2))
    tensors = [[generate(w, 3 * 32, "float32", n) for w in range(4)] for n in range(8)]
    fabric = tiers.fabric(node_faults=(NodeFault("restart", 1, at * US, 2 * US),))
    network = ReferenceNetwork(fabric)
    operation = tiers.aggregated(3, slots=4, dtype="float32", rto=SHORT_RTO)
    begun_at_once(network, [network.add(operation, vectors) for vectors in tensors])
    try:
        done = {operation for _, operation, _ in completions(network)}
    except UnfinishedError as found:
        done, why = set(), str(found)
    if not done:
        assert "worker 1 waits" in why
        return
    assert len(done) == 8
    for number, vectors in enumerate(tensors):
        for result in network.results(number):
            np.testing.assert_allclose(result, sum(vectors), rtol=0, atol=1e-5)


# --- several jobs -------------------------------------------------------------------------


def test_two_jobs_that_share_every_link_follow_each_other_on_it():
    """The first job's N packets leave before the second's, which so ends N t later."""
    _, times = run(STAR.fabric(), STAR.aggregated(10, job=0), STAR.aggregated(10, job=1))
    assert times == [[alone_ps(STAR, 10)] * 4, [alone_ps(STAR, 20)] * 4]


@pytest.mark.parametrize("slots", [16, 32])
def test_two_jobs_with_small_windows_keep_the_link_busy_together(slots):
    """Windows of 2 s fill the round trip of 3.3264 us / 163.2 ns = 20.4 packets, to the end since
    s divides N: 2 N packets pass without a gap."""
    operations = [STAR.aggregated(96, job=job, slots=slots) for job in range(2)]
    _, times = run(STAR.fabric(), *operations)
    assert max(max(each) for each in times) == alone_ps(STAR, 192)


def test_jobs_of_different_racks_do_not_meet():
    """Each has its leaf as the only switch, and nothing on the uplinks."""
    groups = [tuple(range(4)), tuple(range(4, 8))]
    operations = [
        RACKS.aggregated(10, group=group, tree=star_tree(9 + rack, 4), job=rack)
        for rack, group in enumerate(groups)
    ]
    _, times = run(RACKS.fabric(), *operations)
    assert times == [[alone_ps(STAR, 10)] * 4] * 2


@pytest.mark.parametrize("loss", [0.0, 0.03])
def test_groups_across_racks_share_switches_with_their_own_slots(loss):
    """Tensor-parallel pairs inside a rack, data-parallel groups across, as on a mesh of 2 x 4."""
    tiers = Tiers((2, 4), loss=loss)
    columns = [(c, c + 4) for c in range(4)]
    operations, tensors = [], []
    for job, group in enumerate([*columns, tuple(range(8))]):
        operation = tiers.aggregated(
            20, workers=None if len(group) == 8 else group, job=job, slots=4, rto=SHORT_RTO
        )
        operations.append(operation)
        tensors.append([generate(rank, 20 * 32, "int32", job) for rank in group])
    network, _ = run(tiers.fabric(), *operations, tensors=tensors)
    for number, vectors in enumerate(tensors):
        for result in network.results(number):
            assert (result == sum(vectors)).all()


# --- point to point -----------------------------------------------------------------------


def ring_hop_ps(tiers, packets, packet_ps, crosses):
    """A message of P packets over a rack's switch, or over both leaves and the root."""
    up = packet_ps * tiers.rates[0] // tiers.rates[1]
    inside = (packets + 1) * packet_ps + 2 * tiers.delays[0] + tiers.latencies[0]
    across = 2 * up + 2 * tiers.delays[1] + tiers.latencies[0] + tiers.latencies[1]
    return inside + (across if crosses else 0)


@pytest.mark.parametrize("fans", [(2, 3), (2, 4), (3, 3)])
def test_a_ring_over_racks_takes_every_edge_twice_but_two(fans):
    """A block makes 2 (n - 1) hops from its first rank on, so it misses the two edges before that
    rank once. Hops inside a rack take L, those to the next rack L' > L: the last block to end is
    one that misses two short edges, T = 2 ((n - r) L + r L') - 2 L for r racks of m >= 3. Blocks
    reach a rank further apart than they take to send, so none waits for another.
    """
    tiers = Tiers(fans, rates=(10**10, 4 * 10**10))
    racks, workers, packets = fans[0], tiers.workers, 5
    _, (times,) = run(tiers.fabric(), ring(range(workers), workers * packets * 250))
    inside, across = (ring_hop_ps(tiers, packets, 800_000, c) for c in (False, True))
    assert max(times) == 2 * ((workers - racks) * inside + racks * across) - 2 * inside


def test_two_racks_of_two_miss_a_long_edge():
    """T = 2 (2 L + 2 L') - L - L'."""
    tiers = Tiers((2, 2), rates=(10**10, 4 * 10**10))
    _, (times,) = run(tiers.fabric(), ring(range(4), 4 * 5 * 250))
    inside, across = (ring_hop_ps(tiers, 5, 800_000, c) for c in (False, True))
    assert max(times) == 3 * inside + 3 * across


def test_rings_of_both_racks_and_across_have_their_own_sums():
    tiers = Tiers((2, 3), loss=0.02)
    groups = [(0, 1, 2), (3, 4, 5), (0, 3), (1, 4), (5, 2, 0, 4)]
    tensors = [[generate(rank, 2000, "int32", rank) for rank in group] for group in groups]
    operations = [ring(group, 2000, rto=SHORT_RTO) for group in groups]
    network, _ = run(tiers.fabric(), *operations, tensors=tensors)
    for number, vectors in enumerate(tensors):
        for result in network.results(number):
            assert (result == sum(vectors)).all()


def test_a_job_and_a_ring_share_links_and_both_are_right():
    tiers = Tiers((2, 2), loss=0.02)
    tensors = [generate(worker, 3200, "int32", 1) for worker in range(4)]
    operations = [tiers.aggregated(100, slots=8, rto=SHORT_RTO), ring(range(4), 3200)]
    network, _ = run(tiers.fabric(), *operations, tensors=[tensors, tensors])
    for number in range(2):
        for result in network.results(number):
            assert (result == sum(tensors)).all()


def test_a_hosts_core_works_for_all_its_operations():
    """Two pairs with rank 0 in both: its core takes 1 us for every packet it receives."""
    fabric = STAR.fabric(hosts=(Host(0, receive_ps=US), *(Host(node) for node in range(1, 4))))
    groups = [(0, 1), (0, 2)]
    operations = [
        STAR.aggregated(50, group=group, tree=star_tree(4, 2), job=job)
        for job, group in enumerate(groups)
    ]
    _, times = run(fabric, *operations)
    assert times[1][0] == alone_ps(STAR, 1) + 100 * US


# --- what a driver may do -----------------------------------------------------------------


def test_advance_stops_before_its_limit():
    network = ReferenceNetwork(STAR.fabric())
    begun_at_once(network, [network.add(STAR.aggregated(10))])
    end = alone_ps(STAR, 10)
    assert network.advance(end) == ()
    assert network.advance(end + 1) == tuple(Completion(end, 0, place) for place in range(4))
    assert network.advance(end + US) == ()
    assert network.advance(1 << 62) == ()


def test_completions_of_later_instants_come_later():
    """Worker 3 is 10 us further away, so it has its result 10 us after the others."""
    graph = STAR.graph()
    far = [link for link in range(8) if 3 in (graph.links[link].source, graph.links[link].target)]
    delayed = STAR.fabric(packet_faults=(PacketFault("delay", far[1], by_ps=10 * US),))
    network = ReferenceNetwork(delayed)
    begun_at_once(network, [network.add(STAR.aggregated(10))])
    end = alone_ps(STAR, 10)
    assert network.advance(1 << 62) == tuple(Completion(end, 0, place) for place in range(3))
    assert network.advance(1 << 62) == (Completion(end + 10 * US, 0, 3),)


def test_a_rank_enters_once_and_not_in_the_past():
    network = ReferenceNetwork(STAR.fabric())
    operations = [network.add(STAR.aggregated(10, job=job)) for job in range(2)]
    begun_at_once(network, operations[:1])
    with pytest.raises(ValueError, match="place 2 has begun operation 0 before"):
        network.begin(0, 2, 5 * US)
    network.advance(1 << 62)
    with pytest.raises(ValueError, match="is over"):
        network.begin(1, 0, US)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"group": (0, 1, 2)}, "another group or aggregation"),
        ({"slots": 3}, "another group or aggregation"),
        ({"kind": "all_to_all"}, "no switch can carry out all_to_all"),
        ({"aggregation": None}, "an aggregation, or a stream and a schedule"),
    ],
)
def test_operations_that_do_not_fit_are_refused(change, why):
    network = ReferenceNetwork(STAR.fabric())
    network.add(STAR.aggregated(10))
    with pytest.raises(ValueError, match=why):
        network.add(STAR.aggregated(10, **change))


def test_operations_of_a_job_keep_their_order():
    network = ReferenceNetwork(STAR.fabric())
    for _ in range(2):
        network.add(STAR.aggregated(10))
    network.begin(1, 0, 0)
    with pytest.raises(ValueError, match="operation 1 is not the next of job 0"):
        network.advance(1 << 62)


def test_nodes_that_no_path_joins_are_named():
    graph = STAR.graph()
    graph = Graph((*graph.nodes, Node("far", "host")), graph.links)
    fabric = STAR.fabric(
        graph=graph, hosts=(Host(0), Host(5)), routes=shortest_routes(graph, (0, 5))
    )
    with pytest.raises(ConfigurationError, match="no path leads from far to switch4"):
        ReferenceNetwork(fabric).add(STAR.aggregated(1, group=(0, 1), tree=star_tree(4, 2)))


# --- what waits for ever ------------------------------------------------------------------


def test_a_network_waits_for_ranks_that_may_still_enter():
    """Worker 3 enters after more than the patience; nobody gives up, since it may come."""
    network = ReferenceNetwork(STAR.fabric(patience_ps=100 * US))
    operation = network.add(STAR.aggregated(1, rto=SHORT_RTO))
    for place in range(3):
        network.begin(operation, place, 0)
    assert network.advance(5000 * US) == ()
    network.begin(operation, 3, 5000 * US)
    assert {at_ps for at_ps, _, _ in completions(network)} == {5000 * US + alone_ps(STAR, 1)}


def test_a_network_that_waits_for_nobody_gives_up():
    fabric = STAR.fabric(
        patience_ps=3000 * US, packet_faults=(PacketFault("drop", STAR.link(2, 4)),)
    )
    network = ReferenceNetwork(fabric)
    begun_at_once(network, [network.add(STAR.aggregated(1, rto=SHORT_RTO))])
    with pytest.raises(UnfinishedError, match=r"nothing has moved for 3 ms .*\n.*worker 2"):
        network.advance(50_000 * US)


def test_a_rank_that_can_never_enter_is_not_waited_for():
    network = ReferenceNetwork(STAR.fabric(patience_ps=3000 * US))
    operation = network.add(STAR.aggregated(1, rto=SHORT_RTO))
    network.begin(operation, 0, 0)
    with pytest.raises(UnfinishedError, match="contribution of worker 1, worker 2, worker 3"):
        network.advance(1 << 62)


def test_what_is_sent_again_in_vain_does_not_keep_a_network_from_ending():
    """The acknowledgements of rank 1 are lost for ever, its message came through."""
    drop = PacketFault("drop", STAR.link(1, 4), kind="ack")
    network = ReferenceNetwork(STAR.fabric(patience_ps=3000 * US, packet_faults=(drop,)))
    begun_at_once(network, [network.add(ring((0, 1), 250, rto=SHORT_RTO))])
    assert len(completions(network)) == 2
    assert network.advance(10_000 * US) == ()
    assert network.advance(1 << 62) == ()
