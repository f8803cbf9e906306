"""Every algorithm's schedule is an all-reduce, with the messages and bytes it should have."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from innet.collectives.algorithms import ALGORITHMS, build_schedule
from innet.collectives.check import check_schedule
from innet.collectives.schedule import Schedule, block_bounds
from innet.collectives.trees import binary_tree, complementary_tree
from innet.errors import ConfigurationError

MIB = 2**20


def message_bytes(schedule: Schedule, elements: int, itemsize: int) -> list[int]:
    bounds = block_bounds(elements, schedule.blocks)
    return [
        (bounds[message.first + message.count] - bounds[message.first]) * itemsize
        for message in schedule.messages
    ]


def bytes_of_ranks(schedule: Schedule, elements: int, itemsize: int) -> tuple[Counter, Counter]:
    sent, received = Counter(), Counter()
    sizes = message_bytes(schedule, elements, itemsize)
    for message, size in zip(schedule.messages, sizes, strict=True):
        sent[message.source] += size
        received[message.target] += size
    return sent, received


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("workers", range(1, 41))
def test_every_worker_gets_every_part_exactly_once(algorithm, workers):
    for elements in {1, 2, workers - 1, workers, workers + 1, 5000, 100_000}:
        check_schedule(build_schedule(algorithm, workers, elements, 4))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("workers", [64, 100, 127])
def test_many_workers_get_every_part_exactly_once(algorithm, workers):
    check_schedule(build_schedule(algorithm, workers, 10**6, 4))


@given(
    algorithm=st.sampled_from(list(ALGORITHMS)),
    workers=st.integers(1, 24),
    elements=st.integers(0, 200_000),
    itemsize=st.sampled_from([2, 4]),
)
def test_any_size_gives_a_right_schedule_without_empty_messages(
    algorithm, workers, elements, itemsize
):
    schedule = build_schedule(algorithm, workers, elements, itemsize)
    check_schedule(schedule)
    assert all(size > 0 for size in message_bytes(schedule, elements, itemsize))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(("workers", "elements"), [(1, 100), (1, 0), (5, 0)])
def test_one_worker_or_no_elements_need_no_message(algorithm, workers, elements):
    assert build_schedule(algorithm, workers, elements, 4).messages == ()


# Counted by Open MPI's own monitoring for its algorithms 4, 3 and 6.
@pytest.mark.parametrize(
    ("algorithm", "workers", "messages", "vectors"),
    [
        ("ring", 4, 24, 6),
        ("ring", 8, 112, 14),
        ("recursive_doubling", 4, 8, 8),
        ("recursive_doubling", 8, 24, 24),
        ("halving_doubling", 4, 16, 6),
        ("halving_doubling", 8, 48, 14),
        ("binomial_tree", 4, 6, 6),
        ("sharded_parameter_server", 4, 24, 6),
    ],
)
def test_messages_and_bytes_are_those_of_the_published_algorithm(
    algorithm, workers, messages, vectors
):
    elements = 8 * 1000
    schedule = build_schedule(algorithm, workers, elements, 4)
    assert len(schedule.messages) == messages
    assert sum(message_bytes(schedule, elements, 4)) == vectors * elements * 4


@pytest.mark.parametrize("algorithm", ["ring", "halving_doubling", "sharded_parameter_server"])
def test_bandwidth_optimal_algorithms_send_two_times_n_minus_one_over_n(algorithm):
    sent, received = bytes_of_ranks(build_schedule(algorithm, 8, 8000, 4), 8000, 4)
    assert set(sent.values()) == set(received.values()) == {2 * 7 * 1000 * 4}


@pytest.mark.parametrize("workers", range(2, 40))
def test_no_rank_of_a_double_tree_moves_more_than_two_vectors(workers):
    elements = 3840 * 300  # every number of chunks divides it
    sent, received = bytes_of_ranks(
        build_schedule("double_tree", workers, elements, 4), elements, 4
    )
    assert max(sent.values()) <= 2 * elements * 4
    assert max(received.values()) <= 2 * elements * 4


@pytest.mark.parametrize("workers", range(2, 70))
def test_the_two_trees_are_binary_and_share_no_inner_rank_but_one(workers):
    first = binary_tree(workers)
    second = complementary_tree(first)
    inner = []
    for parents in (first, second):
        children = Counter(parent for parent in parents if parent >= 0)
        assert parents.count(-1) == 1
        assert max(children.values()) <= 2
        inner.append(set(children))
    assert inner[0] & inner[1] <= ({0} if workers % 2 else set())


def test_the_tree_of_eight_ranks_is_the_one_that_nccl_draws():
    assert binary_tree(8) == [-1, 2, 4, 2, 0, 6, 4, 6]
    assert complementary_tree(binary_tree(8)) == [1, 3, 1, 7, 5, 3, 5, -1]


@pytest.mark.parametrize(
    ("size_bytes", "workers", "blocks"),
    [(1000, 8, 2), (64 * 2**10, 8, 8), (25 * MIB, 8, 2 * 96), (25 * MIB, 2, 2 * 32)],
)
def test_a_double_tree_cuts_chunks_by_depth_but_none_below_8_kib(size_bytes, workers, blocks):
    assert build_schedule("double_tree", workers, size_bytes // 4, 4).blocks == blocks


@pytest.mark.parametrize(("size_bytes", "blocks"), [(4, 1), (64 * 2**10, 8), (25 * MIB, 64)])
def test_a_parameter_server_gets_chunks_of_8_kib_or_a_64th(size_bytes, blocks):
    schedule = build_schedule("parameter_server", 4, size_bytes // 4, 4)
    assert (schedule.blocks, schedule.ranks, schedule.workers) == (blocks, 5, 4)


def test_no_server_of_a_shard_has_two_senders_in_one_step():
    schedule = build_schedule("sharded_parameter_server", 7, 100, 4)
    assert max(Counter((m.step, m.target) for m in schedule.messages).values()) == 1


@pytest.mark.parametrize("algorithm", ["in_network", "rings", ""])
def test_an_unknown_algorithm_is_answered_with_the_known_ones(algorithm):
    with pytest.raises(ConfigurationError, match="use ring, double_tree, binomial_tree, halving"):
        build_schedule(algorithm, 4, 100, 4)


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ((0, 1, 4), "workers must be at least 1, not 0"),
        ((2, -1, 4), "elements must be at least 0, not -1"),
        ((2, 1, 0), "itemsize must be at least 1, not 0"),
    ],
)
def test_numbers_out_of_range_are_refused(numbers, message):
    with pytest.raises(ConfigurationError, match=message):
        build_schedule("ring", *numbers)


@pytest.mark.parametrize(
    ("elements", "blocks", "bounds"),
    [(10, 4, (0, 3, 6, 8, 10)), (2, 3, (0, 1, 2, 2)), (0, 2, (0, 0, 0)), (0, 0, (0,))],
)
def test_the_first_blocks_of_a_vector_are_longer_by_one(elements, blocks, bounds):
    assert block_bounds(elements, blocks) == bounds
