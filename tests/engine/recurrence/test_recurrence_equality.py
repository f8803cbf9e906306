"""The recurrence leaves the reference engine's trace, to the picosecond, or refuses."""

import pytest

from innet.engine.recurrence.run import run_recurrence
from tests.engine.recurrence.comparison import outcome, reference, undisturbed
from tests.engine.recurrence.made_stars import SLOW_RECEIVER, random_plan, star

BATCH = 50


@pytest.mark.parametrize("batch", range(8))
def test_random_stars_are_equal_or_refused_with_a_reason(batch):
    equal = 0
    for seed in range(batch * BATCH, (batch + 1) * BATCH):
        plan = random_plan(seed)
        expected = reference(plan)
        for at_once in (True, False):
            found = outcome(plan, at_once)
            assert found == (expected if undisturbed(expected) else None), seed
        equal += found is not None
    assert equal > BATCH / 3


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize(
    "settings",
    [
        {"more": "workers: {1: {start: 900 us}}"},  # longer than the least timeout
        {"more": "host: {cores: 3}", "slots": 7, "chunks": 500},  # windows of 3, 2 and 2
        {"more": "host: {send: 90 ns, receive: 110 ns}", "chunks": 301},
        {"dtype": "float32", "slots": 9, "chunks": 100},
        {"dtype": "float32", "more": "host: {cores: 2}", "slots": 9, "chunks": 2},
        {"chunks": 0, "more": "workers: {0: {start: 3 us}}"},
        {"chunks": 1, "more": "host: {cores: 4}"},
        {"workers": 1, "slots": 1},
        # Three packets wait at the switch for worker 1 while one is being sent: 612 bytes.
        {"link": ", queue: 612 B", "more": SLOW_RECEIVER},
    ],
)
def test_chosen_stars_are_equal(settings, at_once):
    plan = star(**settings)
    assert run_recurrence(plan, None, at_once) == reference(plan)


def test_repeating_rounds_are_taken_at_once():
    seen = []
    run_recurrence(star(chunks=10**6, slots=16), seen.append)
    assert len(seen) < 20
    assert seen[-1].share == 1
