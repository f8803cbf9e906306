"""Point-to-point all-reduce against SimGrid SMPI 3.32, for every number of workers it ran with.

SimGrid's model CM02 without cross traffic knows neither packets nor acknowledgements, so messages
here travel in packets of 8 KiB without headers, under a window that never closes. What is left is
that SimGrid has no store and forward: a packet's medium time a step.
"""

import pytest
from stars import finish_times, racks_plan, star_plan

from innet.metrics.bounds import lower_bound_ps

SIZE_BYTES = 10 * 2**20
PACKET_PS = 8192 * 800  # At 10 Gbps.

# 10 MiB, 10 Gbps, 1 us a link: (algorithm, workers): microseconds.
SIMGRID_US = {
    ("ring", 2): 8394.7,
    ("ring", 4): 12597.0,
    ("ring", 8): 14710.3,
    ("ring", 16): 15791.2,
    ("recursive_doubling", 2): 8392.6,
    ("recursive_doubling", 4): 16783.3,
    ("recursive_doubling", 8): 25174.0,
    ("recursive_doubling", 16): 33564.7,
    ("halving_doubling", 2): 8394.7,
    ("halving_doubling", 4): 12593.0,
    ("halving_doubling", 8): 14694.2,
    ("halving_doubling", 16): 15746.9,
    ("binomial_tree", 4): 33564.5,
    ("binomial_tree", 8): 50345.8,
    ("binomial_tree", 16): 67127.2,
}


def plan_of(algorithm, workers, rates=None):
    return star_plan(
        algorithm, SIZE_BYTES, workers=workers, rate="10 Gbps", delay="1 us", rates=rates
    )


def steps_of(plan):
    return plan.schedule.messages[-1].step + 1


@pytest.mark.parametrize(("algorithm", "workers"), SIMGRID_US)
def test_times_are_those_of_simgrid_and_a_packet_a_step(algorithm, workers):
    plan = plan_of(algorithm, workers)
    right_ps = SIMGRID_US[algorithm, workers] * 1e6
    allowed_ps = right_ps / 1000 + steps_of(plan) * PACKET_PS
    assert abs(max(finish_times(plan)) - right_ps) <= allowed_ps
    assert abs(lower_bound_ps(plan) - right_ps) <= allowed_ps


# The same with one of four hosts at 1 Gbps.
SLOW_HOST_US = {"ring": 125843.9, "recursive_doubling": 167776.4, "halving_doubling": 125837.6}


@pytest.mark.parametrize("algorithm", SLOW_HOST_US)
def test_one_slow_host_takes_as_long_as_in_simgrid(algorithm):
    plan = plan_of(algorithm, 4, rates={1: "1 Gbps"})
    right_ps = SLOW_HOST_US[algorithm] * 1e6
    allowed_ps = right_ps / 1000 + steps_of(plan) * 10 * PACKET_PS
    assert abs(max(finish_times(plan)) - right_ps) <= allowed_ps


# Racks below one switch, hosts at 10 Gbps, 1 us a link: (racks, hosts of each, rate of an uplink).
RACKS_US = {
    (2, 4, "10 Gbps"): {
        "ring": 14740.3,
        "recursive_doubling": 50343.8,
        "halving_doubling": 20991.7,
    },
    (2, 4, "40 Gbps"): {
        "ring": 14740.3,
        "recursive_doubling": 25177.9,
        "halving_doubling": 14700.2,
    },
    (4, 2, "5 Gbps"): {
        "ring": 29420.7,
        "recursive_doubling": 75511.8,
        "halving_doubling": 33578.8,
    },
    (4, 4, "20 Gbps"): {
        "ring": 15853.2,
        "recursive_doubling": 50347.9,
        "halving_doubling": 18902.7,
    },
}


@pytest.mark.parametrize(
    ("racks", "algorithm"), [(racks, name) for racks, us in RACKS_US.items() for name in us]
)
def test_two_tiers_take_as_long_as_in_simgrid_and_packets_a_step(racks, algorithm):
    """A step may cross two uplinks more. SimGrid's steps begin one after another, while a ring's
    blocks follow each other over four links, which makes up for 4 us a step at most."""
    plan = racks_plan(algorithm, SIZE_BYTES, *racks, rate="10 Gbps", delay="1 us")
    right_ps = RACKS_US[racks][algorithm] * 1e6
    stored_ps = PACKET_PS + 2 * PACKET_PS * 10 / int(racks[2].split()[0])
    steps, time_ps = steps_of(plan), max(finish_times(plan))
    assert right_ps * 0.999 - steps * 4e6 <= time_ps <= right_ps * 1.001 + steps * stored_ps
