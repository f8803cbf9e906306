"""The protocol's invariants in trees of switches, under whatever the network does.

What is checked is said in test_job_properties.py; here every switch may lose its state.
"""

from hypothesis import given, settings
from hypothesis import strategies as st
from test_job_properties import ANY_WEATHER, FIRST_NUMBERS, ORDERLY_LOSS, SEEDS, run_on
from tree_net import TreeNet
from weather import Weather

TREES = st.sampled_from(
    [
        ((0,),),
        ((0, 0), 0),
        ((0, 0), (0, 0)),
        (0, (0,), (0, 0)),
        (((0, 0), 0), (0,)),
        ((((0,),), 0), 0),
    ]
)
SIZES = st.lists(st.integers(min_value=0, max_value=12), min_size=1, max_size=3)
KINDS = st.sampled_from(["int32", "float32"])


@settings(max_examples=80, deadline=None)
@given(
    tree=TREES,
    slots=st.integers(min_value=1, max_value=3),
    cores=st.integers(min_value=1, max_value=2),
    sizes=SIZES,
    kind=KINDS,
    first_number=FIRST_NUMBERS,
    weather=ANY_WEATHER,
    seed=SEEDS,
)
def test_guarded_sums_are_right_in_any_weather(
    tree, slots, cores, sizes, kind, first_number, weather, seed
):
    net = TreeNet(tree, slots * cores, cores=cores, first_number=first_number)
    run_on(net, 2, sizes, kind, weather, seed)


@settings(max_examples=60, deadline=None)
@given(
    tree=TREES,
    slots=st.integers(min_value=1, max_value=3),
    sizes=SIZES,
    kind=KINDS,
    first_number=FIRST_NUMBERS,
    weather=ORDERLY_LOSS,
    seed=SEEDS,
)
def test_published_sums_are_right_on_fifo_links(
    tree, slots, sizes, kind, first_number, weather, seed
):
    net = TreeNet(tree, slots, guard=False, first_number=first_number)
    run_on(net, 1, sizes, kind, weather, seed)
    assert net.counted_by_switches("helps_sent") == 0


@settings(max_examples=20, deadline=None)
@given(tree=TREES, slots=st.integers(min_value=1, max_value=3), seed=SEEDS)
def test_case_50_every_cable_carries_the_tensor_once_each_way(tree, slots, seed):
    net = TreeNet(tree, slots)
    carried = [[0, 0] for _ in net.up]
    up, down = net.to_switch, net.to_worker

    def to_switch(cable, index=0):
        carried[cable][0] += 1
        return up(cable, index)

    def to_worker(cable, index=0):
        carried[cable][1] += 1
        return down(cable, index)

    net.to_switch, net.to_worker = to_switch, to_worker
    run_on(net, 1, [9], "int32", Weather(), seed)
    assert carried == [[9, 9]] * len(net.up)


def test_the_weather_does_what_it_says():
    """So that no property above holds for want of what it is about."""
    weather = Weather(0.3, 0.3, 0.3, True, 3)
    counters = (
        "unicasts",
        "repeats_dropped",
        "stale_dropped",
        "helps_sent",
        "repeats_passed_up",
        "results_passed_down",
    )
    totals = dict.fromkeys(counters, 0)
    for seed in range(5):
        net = TreeNet(((0, 0), (0, 0)), 2)
        run_on(net, 1, [20, 20], "int32", weather, seed)
        for counter in counters:
            totals[counter] += net.counted_by_switches(counter)
    assert min(totals.values()) > 0, totals
