"""How a rank's messages leave: together, in turn, or when the receiver is ready."""

import pytest

from innet.engine.simulate import simulate
from innet.scenario.build import build_plan
from tests.engine.made_scenarios import finish_ps, scenario

# One packet of 4000 bytes and no headers takes 3.2 us at 10 Gbps; across the switch, 3 us more.
MESSAGE = "message: {payload: 4 KB, overhead: 0 B, window: 256}"
WHOLE_PS, PACKET_PS, CROSSING_PS = 400 * 3_200_000, 3_200_000, 3_000_000


def time_of(algorithm, workers, more=""):
    plan = build_plan(scenario(workers, more=f"{MESSAGE}\n{more}"), algorithm, False, 400_000)
    return finish_ps(simulate(plan))


def test_a_root_sends_to_one_child_after_the_other():
    """Were they sent together, its children would get half of the rate each."""
    assert time_of("binomial_tree", 4) == 4 * (WHOLE_PS + PACKET_PS + CROSSING_PS)


@pytest.mark.parametrize("workers", [5, 6, 7])
def test_a_message_does_not_come_while_its_receiver_is_a_step_behind(workers):
    """Folding the surplus ranks in and out takes a step each, and recursive doubling two."""
    assert time_of("recursive_doubling", workers) == 4 * (WHOLE_PS + PACKET_PS + CROSSING_PS)
