"""What the recurrence refuses, by name."""

import dataclasses

import pytest

from innet.engine.recurrence.conditions import refusal
from innet.engine.recurrence.run import run_recurrence
from innet.engine.refused import RefusedError
from innet.plan.plan import Rto
from innet.scenario.build import build_plan
from tests.engine.made_scenarios import scenario
from tests.engine.recurrence.made_stars import SLOW_RECEIVER, star


@pytest.mark.parametrize(
    ("plan", "why"),
    [
        (star(link=", loss: 0.001"), "link 0 loses packets"),
        (star("faults: [{drop: {from: 0, to: switch, packet: 3}}]"), "faults"),
        (star("faults: [{pause: {node: 0, at: 1 us, for: 1 us}}]"), "faults"),
        (star("host: {send: 10 ns, cores: 2}"), "several cores"),
        (build_plan(scenario(), "in_network", True, 100), "check: never"),
        (dataclasses.replace(star(), patience_ps=10**6), "given up"),
        (dataclasses.replace(star(), maximum_time_ps=1 << 61), "64 bits"),
    ],
)
def test_a_plan_that_is_not_for_the_recurrence_is_refused(plan, why):
    assert why in refusal(plan)
    with pytest.raises(RefusedError, match=why):
        run_recurrence(plan)


@pytest.mark.parametrize(
    ("plan", "why"),
    [
        (star("host: {rto: 3 us}"), "longer than its retransmission timeout"),
        (star("workers: {1: {start: 2 ms}}"), "longer than its retransmission timeout"),
        (star("limit: 20 us"), "simulated time limit"),
        (
            star(SLOW_RECEIVER, link=", queue: 611 B"),
            "the queue of link 3 overflows",
        ),
    ],
)
def test_a_run_that_turns_out_not_to_be_is_refused(plan, why):
    assert refusal(plan) is None
    with pytest.raises(RefusedError, match=why):
        run_recurrence(plan)


def test_a_timeout_of_exactly_the_longest_wait_is_in_time():
    # One slot: every packet waits a round trip, 2 t + 2 d + g = 3326.4 ns.
    for rto_ps, refused in ((3_326_400, False), (3_326_399, True)):
        plan = dataclasses.replace(star(slots=1), rto=Rto(False, rto_ps, rto_ps, 64 * rto_ps))
        plan = dataclasses.replace(plan, patience_ps=10**12)
        try:
            run_recurrence(plan)
        except RefusedError:
            assert refused
        else:
            assert not refused
