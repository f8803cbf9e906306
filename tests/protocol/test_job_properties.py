"""The protocol's invariants, under whatever the network does.

Every element of every worker is counted exactly once, all workers hold the same bits, floats are
within their bound, everybody finishes. That no set is used again while a worker waits for what it
held is checked by the net at every packet that is sent.
"""

import numpy as np
from aggregation_net import AggregationNet, tensor_of
from hypothesis import given, settings
from hypothesis import strategies as st
from weather import Weather, play_job

CHANCES = st.sampled_from([0.0, 0.05, 0.3])
ANY_WEATHER = st.builds(
    Weather, CHANCES, CHANCES, CHANCES, st.booleans(), st.integers(min_value=0, max_value=3)
)
NEVER = st.just(0.0)
ORDERLY_LOSS = st.builds(Weather, CHANCES, NEVER, CHANCES, st.just(False), st.just(0))
FIRST_NUMBERS = st.sampled_from([0, 3, 2**31 - 5, 2**32 - 5, 2**32 - 1])
SIZES = st.lists(st.integers(min_value=0, max_value=25), min_size=1, max_size=4)
SEEDS = st.integers(min_value=0, max_value=2**32)


def vector_of(draws, size, kind):
    if kind == "int32":
        return draws.integers(-(2**31), 2**31, size, dtype=np.int32)
    scale = np.exp2(draws.integers(-30, 30, size))
    return (draws.standard_normal(size) * scale * draws.integers(0, 2, size)).astype(np.float32)


def float_bound(parts, workers, k):
    """Section "Numbers" of the protocol, for a scale of at least half the largest allowed."""
    total = np.sum(parts, axis=0, dtype=np.float64)
    bound = np.zeros(total.size)
    for start in range(0, total.size, k):
        block = slice(start, start + k)
        largest = max(np.abs(part[block]).max() for part in parts)
        if largest > 0:
            exponent = np.frexp(largest)[1]
            scale = (2**31 - workers) / (workers * 2.0**exponent) / 2
            bound[block] = workers / (2 * scale)
    return total, bound + 2.0**-24 * (np.abs(total) + bound)


def check(parts, k):
    """One core's part of one tensor on all workers."""
    workers = len(parts)
    for part in parts:
        assert sorted(part.stored) == list(range(part.blocks))
        assert part.result.tobytes() == parts[0].result.tobytes()
    vectors = [part.vector for part in parts]
    if vectors[0].dtype == np.int32:
        total = np.sum(vectors, axis=0, dtype=np.int64)
        np.testing.assert_array_equal(parts[0].result, total.astype(np.int32))
    else:
        total, bound = float_bound(vectors, workers, k)
        assert (np.abs(parts[0].result - total) <= bound).all()


def run(workers, slots, cores, k, sizes, kind, first_number, weather, seed, guard):
    net = AggregationNet(
        workers, slots * cores, guard=guard, cores=cores, first_number=first_number
    )
    return run_on(net, k, sizes, kind, weather, seed)


def run_on(net, k, sizes, kind, weather, seed):
    draws = np.random.default_rng(seed)
    workers, cores = net.workers, net.cores
    rounds = []
    for size in sizes:
        vectors = [vector_of(draws, size, kind) for _ in range(workers)]
        rounds.append(
            [
                [tensor_of(part, k, workers) for part in np.array_split(vector, cores)]
                for vector in vectors
            ]
        )
    play_job(net, rounds, weather, seed)
    net.settle()  # what is late must not change anything
    for tensors in rounds:
        for core in range(cores):
            check([parts[core] for parts in tensors], k)
    return net


@settings(max_examples=200, deadline=None)
@given(
    workers=st.integers(min_value=1, max_value=5),
    slots=st.integers(min_value=1, max_value=4),
    cores=st.integers(min_value=1, max_value=2),
    k=st.integers(min_value=1, max_value=4),
    sizes=SIZES,
    kind=st.sampled_from(["int32", "float32"]),
    first_number=FIRST_NUMBERS,
    weather=ANY_WEATHER,
    seed=SEEDS,
)
def test_guarded_sums_are_right_in_any_weather(
    workers, slots, cores, k, sizes, kind, first_number, weather, seed
):
    run(workers, slots, cores, k, sizes, kind, first_number, weather, seed, guard=True)


@settings(max_examples=120, deadline=None)
@given(
    workers=st.integers(min_value=1, max_value=5),
    slots=st.integers(min_value=1, max_value=4),
    cores=st.integers(min_value=1, max_value=2),
    k=st.integers(min_value=1, max_value=4),
    sizes=SIZES,
    kind=st.sampled_from(["int32", "float32"]),
    first_number=FIRST_NUMBERS,
    weather=ORDERLY_LOSS,
    seed=SEEDS,
)
def test_case_22_published_sums_are_right_on_fifo_links(
    workers, slots, cores, k, sizes, kind, first_number, weather, seed
):
    net = run(workers, slots, cores, k, sizes, kind, first_number, weather, seed, guard=False)
    assert net.switch.helps_sent == 0


@settings(max_examples=8, deadline=None)
@given(loss=CHANCES, seed=SEEDS, guard=st.booleans())
def test_sums_of_more_workers_than_a_register_has_bits_are_right(loss, seed, guard):
    weather = Weather(loss / 10, 0.0, loss / 10, guard, int(guard))
    run(34, 2, 1, 1, [3, 2], "int32", 0, weather, seed, guard)


def test_the_weather_does_what_it_says():
    """So that no property above holds for want of losses, stale packets, repeats and help."""
    weather = Weather(0.3, 0.3, 0.3, True, 3)
    nets = [run(3, 2, 1, 1, [20, 20], "int32", 0, weather, seed, guard=True) for seed in range(5)]
    for counter in ("unicasts", "repeats_dropped", "stale_dropped", "helps_sent"):
        assert sum(getattr(net.switch, counter) for net in nets) > 0, counter
    assert sum(net.counted("helps_answered") for net in nets) > 0
    assert sum(net.counted("stale") for net in nets) > 0


def test_the_published_protocol_does_not_survive_this_weather():
    weather = Weather(early=0.3, reorders=True)
    wrong = 0
    for seed in range(10):
        try:
            run(2, 1, 1, 1, [6], "int32", 0, weather, seed, guard=False)
        except AssertionError:
            wrong += 1
    assert wrong > 0
