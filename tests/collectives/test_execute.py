"""Schedules run on real vectors, and in any order that their dependencies allow."""

import random
from collections.abc import Sequence
from itertools import permutations

import numpy as np
import pytest

from innet.collectives.algorithms import ALGORITHMS, build_schedule
from innet.collectives.dependencies import dependencies
from innet.collectives.execute import execute
from innet.collectives.schedule import Schedule, block_bounds
from innet.errors import ConfigurationError


def all_reduce(algorithm: str, vectors: Sequence[np.ndarray]) -> list[np.ndarray]:
    schedule = build_schedule(algorithm, len(vectors), len(vectors[0]), vectors[0].itemsize)
    return execute(schedule, vectors, np.add)


def random_vectors(workers: int, elements: int) -> list[np.ndarray]:
    source = np.random.default_rng(workers * 1000 + elements)
    return [source.standard_normal(elements).astype(np.float32) for _ in range(workers)]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_in_place_sums_of_ranks_and_their_reciprocals(algorithm):
    vectors = [np.array([rank, 1 / rank if rank else 0.0]) for rank in range(4)]
    for result in all_reduce(algorithm, vectors):
        assert result == pytest.approx([6, 1 + 1 / 2 + 1 / 3], rel=1e-15)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("workers", [1, 2, 3, 6, 8, 13])
@pytest.mark.parametrize("elements", [0, 1, 5, 10_000])
def test_integer_sums_are_exact_and_inputs_stay(algorithm, workers, elements):
    vectors = [
        np.arange(elements, dtype=np.int64) * (rank + 1) ** 5 % 1_000_003 for rank in range(workers)
    ]
    kept = [vector.copy() for vector in vectors]
    for result in all_reduce(algorithm, vectors):
        assert np.array_equal(result, sum(vectors))
    assert all(np.array_equal(a, b) for a, b in zip(vectors, kept, strict=True))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_all_workers_end_with_the_same_bits(algorithm):
    results = all_reduce(algorithm, random_vectors(7, 1001))
    assert len({result.tobytes() for result in results}) == 1


def test_a_float_sum_of_a_ring_depends_on_who_holds_what():
    sums = {
        float(all_reduce("ring", [np.array([value], np.float32) for value in order])[0][0])
        for order in permutations([1e8, 1.0, -1e8, 1.0])
    }
    assert len(sums) > 1
    assert sums <= {0.0, 1.0, 2.0}


def test_fused_tensors_may_differ_from_tensors_apart_within_the_bound_of_floats():
    first, second = random_vectors(4, 1000), random_vectors(4, 1500)
    fused = [np.concatenate(pair) for pair in zip(first, second, strict=True)]
    apart = np.concatenate([all_reduce("ring", first)[0], all_reduce("ring", second)[0]])
    together = all_reduce("ring", fused)[0]
    exact = np.sum(np.array(fused, np.float64), axis=0)
    magnitudes = np.sum(np.abs(np.array(fused, np.float64)), axis=0)
    # Three additions, each off by at most half a unit in the last place of a partial sum.
    bound = 3 * 2.0**-24 * magnitudes * (1 + 2.0**-20)
    assert np.all(np.abs(apart - exact) <= bound)
    assert np.all(np.abs(together - exact) <= bound)
    assert not np.array_equal(apart, together)


def test_vectors_that_do_not_fit_are_refused():
    schedule = build_schedule("ring", 2, 4, 4)
    good = np.zeros(4, np.float32)
    with pytest.raises(ConfigurationError, match="1 vectors for 2 workers"):
        execute(schedule, [good], np.add)
    for bad in (np.zeros(5, np.float32), np.zeros(4), np.zeros((2, 2), np.float32)):
        with pytest.raises(ConfigurationError, match="worker 1's vector has shape"):
            execute(schedule, [good, bad], np.add)


def run_in_random_order(
    schedule: Schedule, vectors: Sequence[np.ndarray], seed: int
) -> list[np.ndarray]:
    """Start and apply messages at random moments, held back by their dependencies only."""
    waits = dependencies(schedule)
    bounds = block_bounds(len(vectors[0]), schedule.blocks)
    held = [vector.copy() for vector in vectors]
    held += [np.zeros_like(vectors[0]) for _ in range(schedule.workers, schedule.ranks)]
    draw = random.Random(seed)
    started: dict[int, np.ndarray] = {}
    applied: set[int] = set()
    waiting = list(range(len(schedule.messages)))
    while waiting:
        draw.shuffle(waiting)
        for index in waiting:
            message = schedule.messages[index]
            part = slice(bounds[message.first], bounds[message.first + message.count])
            if index not in started:
                if applied.issuperset(waits.send_waits[index]):
                    started[index] = held[message.source][part].copy()
            elif applied.issuperset(waits.apply_waits[index]) and started.keys() >= set(
                waits.apply_after_sends[index]
            ):
                own = held[message.target]
                own[part] = own[part] + started[index] if message.reduce else started[index]
                applied.add(index)
        waiting = [index for index in waiting if index not in applied]
    return held[: schedule.workers]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("workers", [2, 3, 4, 7, 8])
def test_any_order_that_the_dependencies_allow_gives_the_same_bits(algorithm, workers):
    vectors = random_vectors(workers, 20_000)
    schedule = build_schedule(algorithm, workers, 20_000, 4)
    right = [result.tobytes() for result in execute(schedule, vectors, np.add)]
    for seed in range(3):
        results = run_in_random_order(schedule, vectors, seed)
        assert [result.tobytes() for result in results] == right


def test_dependencies_name_the_nearest_messages_only():
    # Messages by index: 0: 0->1, 1: 1->0, 2: 0->2 and 3: 2->0 of the fold and swap of three.
    schedule = build_schedule("recursive_doubling", 3, 10, 4)
    order = [(m.step, m.source, m.target) for m in schedule.messages]
    assert order == [(0, 0, 1), (1, 1, 2), (1, 2, 1), (2, 1, 0)]
    waits = dependencies(schedule)
    assert waits.send_waits == ((), (0,), (), (2,))
    assert waits.apply_waits == ((), (), (), ())
    assert waits.apply_after_sends == ((), (2,), (1,), (0,))
    assert waits.sends == ((0,), (1, 3), (2,))
    assert waits.receipts == ((3,), (0, 2), (1,))


def test_receipts_of_one_step_are_applied_in_order_of_source():
    waits = dependencies(build_schedule("parameter_server", 3, 10, 4))
    assert waits.receipts[3] == (0, 1, 2)
    assert waits.apply_waits[:3] == ((), (0,), (1,))
