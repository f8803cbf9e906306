"""Every form of every kind gives what the kind should, in the messages and bytes of its source."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from innet.collectives.algorithms import ALGORITHMS, build_schedule
from innet.collectives.check import ScheduleError, check_schedule
from innet.collectives.exchange import exchanged_elements
from innet.collectives.execute import execute
from innet.collectives.operations import FORMS, algorithm_for, build_operation_schedule
from innet.collectives.rooted import chain_blocks
from innet.collectives.schedule import Message, Schedule, block_bounds
from innet.errors import ConfigurationError
from tests.collectives.made_vectors import given_and_wanted

ALL_FORMS = [(kind, name) for kind, forms in FORMS.items() for name in forms]
GROUP_FORMS = [(kind, name) for kind, name in ALL_FORMS if kind != "send"]
GROUP_KINDS = [kind for kind in FORMS if kind != "send"]
ROOTED = ("broadcast", "reduce", "gather")


def sizes_of(schedule, elements, itemsize):
    bounds = block_bounds(elements, schedule.blocks)
    return [(bounds[m.first + m.count] - bounds[m.first]) * itemsize for m in schedule.messages]


def bytes_of_places(schedule, elements, itemsize):
    sent, received = Counter(), Counter()
    for move, size in zip(schedule.messages, sizes_of(schedule, elements, itemsize), strict=True):
        sent[move.source] += size
        received[move.target] += size
    return sent, received


@st.composite
def cases(draw):
    kind, name = draw(st.sampled_from(ALL_FORMS))
    places = 2 if kind == "send" else draw(st.integers(1, 20))
    sizes = st.one_of(st.integers(0, 2 * places), st.integers(0, 50_000))
    root = draw(st.integers(0, places - 1)) if kind in ROOTED else 0
    return kind, name, places, draw(sizes), draw(st.sampled_from([2, 4])), root


@given(cases())
def test_any_size_group_and_root_is_right_without_empty_messages(case):
    kind, name, places, elements, itemsize, root = case
    schedule = build_operation_schedule(*case)
    assert (schedule.algorithm, schedule.workers, schedule.ranks) == (name, places, places)
    check_schedule(schedule, kind, root)
    assert all(size > 0 for size in sizes_of(schedule, elements, itemsize))
    vectors, wanted = given_and_wanted(kind, places, elements, root)
    results = execute(schedule, vectors, np.add)
    for result, (part, right) in zip(results, wanted, strict=True):
        assert np.array_equal(result[part], right)


@pytest.mark.parametrize(("kind", "name"), GROUP_FORMS)
@pytest.mark.parametrize("places", [33, 64, 100])
def test_many_places_are_right(kind, name, places):
    for elements in (places - 1, 10**5):
        root = 5 if kind in ROOTED else 0
        schedule = build_operation_schedule(kind, name, places, elements, 4, root)
        check_schedule(schedule, kind, root)


@pytest.mark.parametrize(("kind", "name"), GROUP_FORMS)
@pytest.mark.parametrize(("places", "elements"), [(1, 100), (1, 0), (5, 0)])
def test_one_place_or_no_elements_need_no_message(kind, name, places, elements):
    assert build_operation_schedule(kind, name, places, elements, 4).messages == ()


@pytest.mark.parametrize(("kind", "name"), ALL_FORMS)
@pytest.mark.parametrize("places", [2, 3, 4, 5])
def test_a_schedule_without_a_message_that_brings_something_is_refused(kind, name, places):
    if kind == "send" and places > 2:
        return
    root = places - 1 if kind in ROOTED else 0
    schedule = build_operation_schedule(kind, name, places, 50, 4, root)
    for index in range(len(schedule.messages)):
        rest = schedule.messages[:index] + schedule.messages[index + 1 :]
        if name == "scatter_all_gather" and _brings_nothing(schedule.messages[index], places, root):
            continue
        with pytest.raises(ScheduleError):
            check_schedule(replace(schedule, messages=rest), kind, root)


def _brings_nothing(message, places, root):
    """On the ring after a scatter, to whom the tree has brought that block: all but leaves."""
    below = {0: places}
    distance = 1 << (places - 1).bit_length() - 1
    while distance:
        for child in range(distance, places, 2 * distance):
            below[child] = min(distance, places - child)
        distance //= 2
    target, block = (message.target - root) % places, (message.first - root) % places
    on_ring = message.step >= (places - 1).bit_length()
    return on_ring and target <= block < target + below[target]


@pytest.mark.parametrize(
    ("kind", "name", "others"),
    [
        ("all_reduce", "ring", {"reduce_scatter", "reduce"}),
        ("reduce_scatter", "ring", set()),
        ("all_gather", "ring", {"gather"}),
        ("all_to_all", "pairwise", set()),
        ("reduce", "reduce_scatter_gather", {"reduce_scatter"}),
        ("gather", "linear", set()),
    ],
)
def test_a_schedule_of_one_kind_is_of_another_only_if_that_wants_less(kind, name, others):
    schedule = build_operation_schedule(kind, name, 4, 400, 4)
    check_schedule(schedule, kind)
    for other in {"all_reduce", *GROUP_KINDS} - {kind, *others}:
        with pytest.raises(ScheduleError):
            check_schedule(schedule, other)
    for other in others:
        check_schedule(schedule, other)


# Messages, and how many whole vectors all of them together carry.
@pytest.mark.parametrize(
    ("kind", "name", "places", "messages", "vectors"),
    [
        ("reduce_scatter", "ring", 8, 56, 7),
        ("reduce_scatter", "recursive_halving", 8, 24, 7),
        ("reduce_scatter", "pairwise", 8, 56, 7),
        ("all_gather", "ring", 8, 56, 7),
        ("all_gather", "recursive_doubling", 8, 24, 7),
        ("all_gather", "pairwise", 8, 56, 7),
        ("all_to_all", "pairwise", 8, 56, 56 / 64),
        ("all_to_all", "linear", 8, 56, 56 / 64),
        ("broadcast", "binomial_tree", 8, 7, 7),
        ("broadcast", "linear", 8, 7, 7),
        # A scatter of 4/8 + 2 x 2/8 + 4 x 1/8, and the ring.
        ("broadcast", "scatter_all_gather", 8, 7 + 56, 1.5 + 7),
        ("reduce", "binomial_tree", 8, 7, 7),
        ("reduce", "linear", 8, 7, 7),
        ("reduce", "reduce_scatter_gather", 8, 24 + 7, 7 + 1.5),
        ("gather", "linear", 8, 7, 7 / 8),
        ("gather", "binomial_tree", 8, 7, 1.5),
        ("send", "send", 2, 1, 1),
    ],
)
def test_messages_and_bytes_are_those_of_the_published_algorithm(
    kind, name, places, messages, vectors
):
    elements = 64 * 100
    schedule = build_operation_schedule(kind, name, places, elements, 4)
    assert len(schedule.messages) == messages
    assert sum(sizes_of(schedule, elements, 4)) == vectors * elements * 4


@pytest.mark.parametrize(("elements", "block"), [(0, 0), (1, 1), (3, 1), (4, 2), (3000, 1000)])
def test_everyone_sends_blocks_of_one_length_to_everyone(elements, block):
    whole = exchanged_elements(3, elements)
    schedule = build_operation_schedule("all_to_all", "pairwise", 3, whole, 2)
    sizes = sizes_of(schedule, whole, 2)
    assert sizes == [2 * block] * (6 if block else 0)


@pytest.mark.parametrize("places", [2, 3, 5, 6, 8, 13])
@pytest.mark.parametrize("name", FORMS["all_gather"])
def test_all_gathers_receive_what_they_do_not_have_and_nothing_else(name, places):
    elements = 100 * places
    schedule = build_operation_schedule("all_gather", name, places, elements, 4)
    sent, received = bytes_of_places(schedule, elements, 4)
    assert set(received.values()) == {(places - 1) * 400}
    assert sum(sent.values()) == places * (places - 1) * 400


@pytest.mark.parametrize("places", [3, 5, 6, 7, 9, 100])
def test_brucks_algorithm_takes_as_few_steps_as_can_be(places):
    for name in ("bruck", "recursive_doubling"):
        schedule = build_operation_schedule("all_gather", name, places, 1000, 4)
        assert max(message.step for message in schedule.messages) == (places - 1).bit_length() - 1


@pytest.mark.parametrize("name", ["ring", "pairwise"])
def test_bandwidth_optimal_reduce_scatters_send_n_minus_one_blocks(name):
    for itemsize in (2, 4):
        schedule = build_operation_schedule("reduce_scatter", name, 7, 700, itemsize)
        sent, received = bytes_of_places(schedule, 700, itemsize)
        assert set(sent.values()) == set(received.values()) == {600 * itemsize}


def test_an_all_reduce_is_a_reduce_scatter_and_an_all_gather():
    """A ring's, but for its blocks' names, which tell where a sum ends."""
    whole = build_schedule("ring", 6, 600, 4)
    halves = [
        build_operation_schedule(kind, "ring", 6, 600, 4)
        for kind in ("reduce_scatter", "all_gather")
    ]
    moves = [(m.source, m.target, (m.first - 1) % 6) for m in whole.messages]
    assert [(m.source, m.target, m.first) for half in halves for m in half.messages] == moves


@pytest.mark.parametrize(
    ("size_bytes", "places", "chunks"),
    [
        (100, 8, 1),
        (64 * 2**10, 8, 8),
        (25 * 2**20, 8, 56),
        (25 * 2**20, 2, 8),
        (2**20, 4, 24),
    ],
)
def test_a_chain_cuts_chunks_by_hops_but_none_below_8_kib(size_bytes, places, chunks):
    for kind in ("broadcast", "reduce"):
        schedule = build_operation_schedule(kind, "chain", places, size_bytes // 2, 2, 1)
        assert schedule.blocks == chunks
        assert len(schedule.messages) == chunks * (places - 1)


def test_a_long_chain_has_no_more_than_1024_chunks():
    assert [chain_blocks(places, 2**30) for places in (129, 130, 400)] == [1024] * 3


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_kind_runs_by_some_form_of_every_algorithm(algorithm):
    assert algorithm_for("all_reduce", algorithm) == algorithm
    for kind, forms in FORMS.items():
        assert algorithm_for(kind, algorithm) in forms


@pytest.mark.parametrize(
    ("kind", "algorithm", "form"),
    [
        ("reduce_scatter", "ring", "ring"),
        ("reduce_scatter", "halving_doubling", "recursive_halving"),
        ("all_gather", "halving_doubling", "recursive_doubling"),
        ("all_gather", "recursive_doubling", "recursive_doubling"),
        ("reduce_scatter", "binomial_tree", "ring"),
        ("all_gather", "double_tree", "ring"),
        ("all_to_all", "ring", "pairwise"),
        ("all_to_all", "halving_doubling", "pairwise"),
        ("all_to_all", "linear", "linear"),
        ("broadcast", "recursive_doubling", "binomial_tree"),
        ("broadcast", "ring", "chain"),
        ("reduce", "halving_doubling", "reduce_scatter_gather"),
        ("reduce", "parameter_server", "linear"),
        ("gather", "ring", "linear"),
        ("send", "ring", "send"),
    ],
)
def test_the_form_that_runs_follows_from_the_algorithm(kind, algorithm, form):
    assert algorithm_for(kind, algorithm) == form
    assert build_operation_schedule(kind, algorithm, 2, 10, 4).algorithm == form


def test_an_all_reduces_schedule_is_the_one_of_its_algorithm():
    for algorithm in ALGORITHMS:
        built = build_operation_schedule("all_reduce", algorithm, 5, 1000, 2)
        assert built == build_schedule(algorithm, 5, 1000, 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("scan", "ring", 4, 10, 4), "'scan' is not a collective; use all_reduce, reduce_scatter"),
        (("gather", "rings", 4, 10, 4), "'rings' is no algorithm for gather; use linear, binomial"),
        (("all_reduce", "chain", 4, 10, 4), "'chain' is no algorithm for all_reduce; use ring,"),
        (("send", "send", 3, 10, 4), "a message has 2 places, its source and its target, not 3"),
        (("reduce", "chain", 4, 10, 4, 4), "root must be a place of 0 to 3, not 4"),
        (("gather", "linear", 4, 10, 4, -1), "root must be a place of 0 to 3, not -1"),
        (("all_gather", "ring", 0, 10, 4), "workers must be at least 1, not 0"),
        (("all_gather", "ring", 2, -1, 4), "elements must be at least 0, not -1"),
        (("all_gather", "ring", 2, 1, 0), "itemsize must be at least 1, not 0"),
    ],
)
def test_unknown_names_and_numbers_out_of_range_are_refused(arguments, message):
    with pytest.raises(ConfigurationError, match=message):
        build_operation_schedule(*arguments)


def made(*messages, blocks=2):
    return Schedule("made", 2, 2, blocks, messages)


@pytest.mark.parametrize(
    ("kind", "messages", "text"),
    [
        ("all_gather", (Message(0, 1, 0, 0, 1, False),), "nothing in block 0 to send"),
        ("all_gather", (Message(0, 1, 0, 1, 1, True),), "to block 1, of which rank 0 has nothing"),
        ("reduce_scatter", (Message(0, 1, 0, 0, 1, False),), "rank 0 ends with block 0 without"),
        (
            "all_gather",
            (Message(0, 0, 1, 0, 1, False), Message(0, 1, 0, 1, 1, False)),
            None,
        ),
        ("broadcast", (Message(0, 0, 1, 0, 1, False),), "rank 1 ends with block 1 without"),
    ],
)
def test_what_a_made_schedule_lacks_is_named(kind, messages, text):
    if text is None:
        check_schedule(made(*messages), kind)
        return
    with pytest.raises(ScheduleError, match=text):
        check_schedule(made(*messages), kind)


def test_parts_that_nobody_wants_are_named():
    """Worker 1's own part has been added to what it should hold alone."""
    own = Message(0, 0, 1, 0, 1, True)
    with pytest.raises(ScheduleError, match="has nothing"):
        check_schedule(made(own, blocks=1), "broadcast")
    both = Schedule("made", 2, 2, 4, (Message(0, 0, 1, 1, 1, False),))
    with pytest.raises(ScheduleError, match="rank 0 ends with block 2 without"):
        check_schedule(both, "all_to_all")
