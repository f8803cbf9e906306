"""Every kind of collective point to point on a network: its values, and its time on a star.

Packets carry 1000 bytes without headers, acknowledgements cost nothing. t is a packet's time on a
link, and a message of P packets is whole at its target after hop(P) = (P + 1) t + 2 d + latency.
"""

import numpy as np
import pytest

from innet.collectives.exchange import exchanged_elements
from innet.collectives.operations import FORMS, build_operation_schedule
from innet.plan.operation import Operation
from innet.plan.plan import Stream
from innet.wire.dtypes import ITEMSIZE, narrow, widen
from tests.collectives.made_vectors import given_and_wanted
from tests.engine.made_networks import RTO, SHORT_RTO, Tiers, run

T = 800_000
STAR = Tiers((4,))
ALL_FORMS = [(kind, name) for kind, forms in FORMS.items() for name in forms]


def operation(kind, name, places, elements, root=0, dtype="int32", rto=RTO):
    schedule = build_operation_schedule(kind, name, places, elements, ITEMSIZE[dtype], root)
    stream = Stream(1000, 0, 0, 1 << 10, "selective_repeat")
    group = tuple(range(places))
    return Operation(kind, group, elements, dtype, rto, stream=stream, schedule=schedule, root=root)


def hop(packets, star=STAR):
    return (packets + 1) * T + 2 * star.delays[0] + star.latencies[0]


# --- values -------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "name"), ALL_FORMS)
@pytest.mark.parametrize(("fans", "loss"), [((5,), 0.0), ((2, 3), 0.03)])
@pytest.mark.parametrize("elements", [3, 9000])
def test_every_place_gets_what_the_kind_gives_it(kind, name, fans, loss, elements):
    tiers = Tiers(fans, loss=loss)
    places = 2 if kind == "send" else tiers.workers
    root = 1 if kind in ("broadcast", "reduce", "gather") else 0
    vectors, wanted = given_and_wanted(kind, places, elements, root)
    asked = operation(kind, name, places, elements, root, rto=SHORT_RTO)
    tensors = [vector.astype(np.int32) for vector in vectors]
    network, _ = run(tiers.fabric(), asked, tensors=[tensors])
    for result, (part, right) in zip(network.results(0), wanted, strict=True):
        assert np.array_equal(result[part], right)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("kind", ["reduce_scatter", "all_gather", "all_to_all", "reduce"])
def test_small_whole_floats_are_summed_and_moved_exactly(kind, dtype):
    """Sums up to 256 fit even bfloat16's 8 bits."""
    vectors, wanted = given_and_wanted(kind, 4, 12, 0)
    tensors = [narrow((vector % 1000).astype(np.float32), dtype) for vector in vectors]
    name = next(iter(FORMS[kind]))
    network, _ = run(STAR.fabric(), operation(kind, name, 4, 12, dtype=dtype), tensors=[tensors])
    for result, (part, right) in zip(network.results(0), wanted, strict=True):
        assert np.array_equal(widen(result[part], dtype), right % 1000)


@pytest.mark.parametrize(("dtype", "itemsize"), [("float16", 2), ("bfloat16", 2), ("int32", 4)])
def test_a_link_carries_the_bytes_of_its_elements(dtype, itemsize):
    share = 1234
    sent = {"reduce_scatter": 3 * share, "all_gather": 3 * share, "broadcast": 4 * share}
    for kind, elements in sent.items():
        asked = operation(kind, next(iter(FORMS[kind])), 4, 4 * share, 3, dtype)
        network, _ = run(STAR.fabric(), asked)
        assert network.links()[STAR.link(4, 0)].bytes == elements * itemsize
    whole = exchanged_elements(4, 4 * share)
    network, _ = run(STAR.fabric(), operation("all_to_all", "pairwise", 4, whole, 0, dtype))
    assert network.links()[STAR.link(0, 4)].bytes == 3 * share * itemsize


# --- times on a star, by blocks of P packets ------------------------------------------------

P = 7


def finish(kind, name, places, packets, root=0):
    """The last place's end, for a vector of `packets` packets."""
    star = Tiers((places,))
    _, (times,) = run(star.fabric(), operation(kind, name, places, packets * 250, root))
    return max(times)


@pytest.mark.parametrize("places", [2, 3, 5, 8])
@pytest.mark.parametrize("kind", ["reduce_scatter", "all_gather"])
def test_a_rings_half_takes_n_minus_one_hops(kind, places):
    assert finish(kind, "ring", places, places * P) == (places - 1) * hop(P)


@pytest.mark.parametrize("places", [2, 4, 8])
@pytest.mark.parametrize(
    ("kind", "name"),
    [("reduce_scatter", "recursive_halving"), ("all_gather", "recursive_doubling")],
)
def test_halving_and_doubling_take_messages_of_one_two_four_blocks(kind, name, places):
    steps = places.bit_length() - 1
    assert finish(kind, name, places, places * P) == sum(hop(P << step) for step in range(steps))


def test_halving_among_five_folds_first_and_sends_the_folded_block_last():
    """The whole vector, then among four halves of it (blocks 0, 1, 2 or 3, 4), then quarters."""
    times = hop(5 * P) + hop(3 * P) + hop(2 * P) + hop(P)
    assert finish("reduce_scatter", "recursive_halving", 5, 5 * P) == times


@pytest.mark.parametrize(("places", "blocks"), [(3, (1, 1)), (5, (1, 2, 1)), (7, (1, 2, 3))])
@pytest.mark.parametrize("name", ["bruck", "recursive_doubling"])
def test_brucks_last_step_has_what_is_left(name, places, blocks):
    assert finish("all_gather", name, places, places * P) == sum(hop(P * n) for n in blocks)


@pytest.mark.parametrize("kind", ["reduce_scatter", "all_gather"])
@pytest.mark.parametrize("places", [2, 3, 8])
def test_pairwise_blocks_follow_each_other_without_a_gap(kind, places):
    assert finish(kind, "pairwise", places, places * P) == hop((places - 1) * P)


@pytest.mark.parametrize("places", [2, 3, 4, 7])
def test_a_pairwise_exchange_takes_a_hop_for_each_other_place(places):
    time = finish("all_to_all", "pairwise", places, places**2 * P)
    assert time == (places - 1) * hop(P)


@pytest.mark.parametrize("places", [2, 3, 4, 7])
def test_a_linear_exchange_keeps_all_links_busy(places):
    """Everyone begins with another place, so that no two messages meet in the switch."""
    assert finish("all_to_all", "linear", places, places**2 * P) == hop((places - 1) * P)


@pytest.mark.parametrize("root", [0, 2])
@pytest.mark.parametrize(("places", "steps"), [(2, 1), (4, 2), (8, 3)])
@pytest.mark.parametrize("kind", ["broadcast", "reduce"])
def test_a_binomial_tree_takes_a_hop_a_level(kind, places, steps, root):
    assert finish(kind, "binomial_tree", places, P, root % places) == steps * hop(P)


@pytest.mark.parametrize("places", [2, 3, 4])
@pytest.mark.parametrize("kind", ["broadcast", "reduce"])
def test_a_chain_is_filled_by_one_chunk_a_hop(kind, places):
    """8 chunks a hop of 10 packets."""
    chunks = 8 * (places - 1)
    time = finish(kind, "chain", places, 10 * chunks, places - 1)
    assert time == (chunks - 1) * 10 * T + (places - 1) * hop(10)


@pytest.mark.parametrize("kind", ["broadcast", "reduce"])
@pytest.mark.parametrize("places", [2, 5])
def test_linear_forms_pass_the_roots_link_n_minus_one_times(kind, places):
    assert finish(kind, "linear", places, P) == hop((places - 1) * P)


def test_gathers_pass_the_roots_link_once_a_share():
    assert finish("gather", "linear", 5, 5 * P, 3) == hop(4 * P)
    assert finish("gather", "binomial_tree", 8, 8 * P, 3) == hop(P) + hop(2 * P) + hop(4 * P)


def test_a_scatter_and_a_ring_add_up():
    """Half of the vector, a quarter, then three blocks on the ring, from who got its own last."""
    time = finish("broadcast", "scatter_all_gather", 4, 4 * P)
    assert time == hop(2 * P) + hop(P) + 3 * hop(P)


def test_a_reduce_scatter_and_a_gather_add_up():
    time = finish("reduce", "reduce_scatter_gather", 4, 4 * P, 1)
    assert time == 2 * (hop(2 * P) + hop(P))


def test_a_message_takes_a_hop():
    assert finish("send", "send", 2, P) == hop(P)
