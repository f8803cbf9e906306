"""In-network sums over several tiers of switches, against closed forms to the picosecond.

Loss-free, a window that covers the tensor: the chunks leave a worker one packet time apart, and
each tier delays the first by its packet time t, its delay d and its switch's latency g, upwards
and downwards alike (the root's latency counts once). All children's packets reach a switch at one
instant, so a chunk waits for nobody, and only behind other chunks where the link is slower: the
spacing becomes the largest packet time. So the last of N chunks is there after

    T = sum over tiers of (2 t + 2 d) + latencies (root once, others twice) + (N - 1) max t.

With a window of s < N chunks that does not fill the round trip R, a slot's next chunk leaves when
its result is there, R after the last; spacing stays: T = m R + (N - (m - 1) s - 1) max t, with
m = ceil(N / s) rounds.
"""

import pytest

from innet.errors import UnfinishedError
from innet.plan.plan import NodeFault, PacketFault
from innet.tensors.generate import generate
from tests.engine.made_networks import (
    GBPS,
    PACKET_BYTES,
    SHORT_RTO,
    US,
    Tiers,
    run,
    star_tree,
)

TIERS = {
    "two racks": Tiers((2, 2)),
    "a slower uplink": Tiers((3, 2), rates=(10 * GBPS, 4 * GBPS)),
    "a faster uplink": Tiers((2, 4), rates=(10 * GBPS, 40 * GBPS)),
    "three tiers": Tiers((2, 3, 2), rates=(10 * GBPS, 25 * GBPS, 8 * GBPS)),
    "one rack below a root": Tiers((1, 3)),
}


@pytest.mark.parametrize("name", TIERS)
@pytest.mark.parametrize("chunks", [1, 7, 300])
def test_the_last_chunk_comes_a_round_trip_and_the_slowest_links_time_later(name, chunks):
    tiers = TIERS[name]
    slowest = max(tiers.packet_ps(tier) for tier in range(len(tiers.fans)))
    _, (times,) = run(tiers.fabric(), tiers.aggregated(chunks))
    assert times == [tiers.round_trip_ps() + (chunks - 1) * slowest] * tiers.workers


def test_a_two_tier_round_trip_by_hand():
    """163.2 ns on each of four links, 1 us and 2 us of delay twice, 1, 0.7 and 1 us in switches."""
    _, (times,) = run(Tiers((2, 2)).fabric(), Tiers((2, 2)).aggregated(1))
    assert times == [4 * 163_200 + 2 * (US + 2 * US) + 2 * US + 700_000] * 4


@pytest.mark.parametrize("name", TIERS)
@pytest.mark.parametrize(("slots", "chunks"), [(1, 5), (3, 9), (4, 10)])
def test_small_windows_wait_for_the_whole_tree(name, slots, chunks):
    tiers = TIERS[name]
    slowest = max(tiers.packet_ps(tier) for tier in range(len(tiers.fans)))
    rounds = -(-chunks // slots)
    last = (chunks - (rounds - 1) * slots - 1) * slowest
    _, (times,) = run(tiers.fabric(), tiers.aggregated(chunks, slots=slots))
    assert times == [rounds * tiers.round_trip_ps() + last] * tiers.workers


@pytest.mark.parametrize("fans", [(2, 4), (4, 2), (2, 3, 2)])
def test_every_link_carries_the_tensor_once(fans):
    """Case 50: an uplink carries S, not m S, and so does the link down."""
    tiers = Tiers(fans)
    network, _ = run(tiers.fabric(), tiers.aggregated(100))
    assert {link.packets for link in network.links()} == {100}
    assert {link.bytes for link in network.links()} == {100 * PACKET_BYTES}
    assert [switch.completed for switch in network.switches()] == [100] * len(tiers.tree())


def test_switches_that_do_not_aggregate_forward():
    """Only the root sums, so each uplink carries the packets of its m workers, N m of them.

    They leave a leaf one behind the other: the last worker's last chunk waits for the m - 1
    others that reach the leaf with it, and for no more, since the uplink is m times as fast.
    Downwards the root sends each worker a copy, m of them one behind the other as well.
    """
    tiers = Tiers((2, 4), rates=(10 * GBPS, 40 * GBPS))
    operation = tiers.aggregated(50, tree=star_tree(tiers.workers, tiers.workers))
    network, (times,) = run(tiers.fabric(), operation)
    links = network.links()
    assert links[tiers.link(tiers.workers + 1, tiers.workers)].packets == 4 * 50
    assert links[tiers.link(tiers.workers, tiers.workers + 1)].packets == 4 * 50
    assert links[tiers.link(0, tiers.workers + 1)].packets == 50
    first = tiers.round_trip_ps() + 49 * tiers.packet_ps(0)
    up = 3 * tiers.packet_ps(1)
    assert times == [first + up + place % 4 * tiers.packet_ps(1) for place in range(8)]


def test_only_leaves_below_a_plain_root_need_a_tree_that_says_so():
    """A leaf is the root of its own rack's group, beside which the other rack does the same."""
    tiers = Tiers((2, 3))
    racks = [
        tiers.aggregated(20, group=tuple(range(3 * r, 3 * r + 3)), tree=star_tree(7 + r, 3), job=r)
        for r in range(2)
    ]
    network, times = run(tiers.fabric(), *racks)
    star_ps = 2 * 163_200 + 2 * US + US + 19 * 163_200
    assert times == [[star_ps] * 3] * 2
    assert network.links()[tiers.link(7, 6)].packets == 0


def vectors(tiers, elements, dtype="int32"):
    return [generate(worker, elements, dtype, 5) for worker in range(tiers.workers)]


@pytest.mark.parametrize("fans", [(2, 2), (3, 1), (2, 2, 2)])
@pytest.mark.parametrize("slots", [1, 8])
@pytest.mark.parametrize("seed", range(3))
def test_sums_are_right_under_loss(fans, slots, seed):
    tiers = Tiers(fans, loss=0.04, seed=seed)
    tensors = vectors(tiers, 60 * 32)
    operation = tiers.aggregated(60, slots=slots, rto=SHORT_RTO)
    network, _ = run(tiers.fabric(), operation, tensors=[tensors])
    for result in network.results(0):
        assert (result == sum(tensors)).all()
    assert sum(link.lost for link in network.links()) > 0


def test_a_repeat_is_answered_at_the_lowest_level_that_has_the_result():
    """Worker 0 loses one result: its leaf has it, so the root hears nothing of the repeat."""
    tiers = Tiers((2, 2))
    down = tiers.link(tiers.workers + 1, 0)
    fabric = tiers.fabric(packet_faults=(PacketFault("drop", down, packets=(1,)),))
    network, _ = run(fabric, tiers.aggregated(10, rto=SHORT_RTO))
    root, leaf, other = network.switches()
    assert (root.unicasts, leaf.unicasts, other.unicasts) == (0, 1, 0)
    assert network.links()[tiers.link(tiers.workers + 1, tiers.workers)].packets == 10


@pytest.mark.parametrize("node", [4, 5])
@pytest.mark.parametrize("at", range(3, 60, 7))
def test_a_switch_that_loses_its_registers_costs_no_sum(node, at):
    tiers = Tiers((2, 2), loss=0.02)
    tensors = vectors(tiers, 100 * 32)
    fabric = tiers.fabric(node_faults=(NodeFault("restart", node, at * US, 3 * US),))
    operation = tiers.aggregated(100, slots=4, rto=SHORT_RTO)
    network, _ = run(fabric, operation, tensors=[tensors])
    for result in network.results(0):
        assert (result == sum(tensors)).all()


def test_a_worker_that_is_cut_off_is_named_through_the_levels():
    tiers = Tiers((2, 2))
    up = tiers.link(3, tiers.workers + 2)
    fabric = tiers.fabric(packet_faults=(PacketFault("drop", up),))
    with pytest.raises(UnfinishedError, match=r"contribution of worker 3$"):
        run(fabric, tiers.aggregated(1, rto=SHORT_RTO))


def test_a_switch_that_is_not_heard_is_named():
    tiers = Tiers((2, 2))
    up = tiers.link(tiers.workers + 2, tiers.workers)
    fabric = tiers.fabric(packet_faults=(PacketFault("drop", up),))
    with pytest.raises(UnfinishedError, match="lacks the contribution of switch switch6"):
        run(fabric, tiers.aggregated(1, rto=SHORT_RTO))
