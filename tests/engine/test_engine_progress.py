"""Engines tell how far they are: in steps of packets, with the simulated time that goes with it."""

from itertools import pairwise

import pytest

from innet.engine.compiled import run as compiled_run
from innet.engine.compiled.messages import network as compiled_network
from innet.engine.reference import run as reference_run
from innet.engine.simulate import simulate, simulate_step
from innet.scenario.asked import requests_of
from innet.scenario.build import build_plan
from innet.scenario.build_step import build_step_plan
from tests.engine.made_scenarios import finish_ps, scenario
from tests.scenario.made_steps import step_scenario


@pytest.fixture(autouse=True)
def short_slices(monkeypatch):
    monkeypatch.setattr(compiled_run, "_EVENTS_A_SLICE", 100)
    monkeypatch.setattr(compiled_network, "_EVENTS_A_SLICE", 100)
    monkeypatch.setattr(reference_run, "_EVENTS_BETWEEN_REPORTS", 100)


@pytest.mark.parametrize("engine", ["reference", "compiled"])
@pytest.mark.parametrize(
    ("algorithm", "workers"), [("in_network", 3), ("ring", 3), ("binomial_tree", 2)]
)
def test_share_and_simulated_time_grow_together(engine, algorithm, workers):
    """Without losses, a run goes on at one pace, also in the middle of a message."""
    plan = build_plan(scenario(workers), algorithm, False, 40_000)
    told = []
    whole = finish_ps(simulate(plan, None, told.append, engine))
    assert len(told) > 7
    for before, after in pairwise(told):
        assert before.share <= after.share
        assert before.at_ps <= after.at_ps
    for share, at_ps in told:
        assert at_ps / whole == pytest.approx(share, abs=0.1)


@pytest.mark.parametrize("algorithm", ["in_network", "ring"])
def test_the_recurrence_tells_when_results_are_there(algorithm):
    plan = build_plan(scenario(3), algorithm, False, 40_000)
    told = []
    whole = finish_ps(simulate(plan, None, told.append, "recurrence"))
    assert told == sorted(told)
    assert told[-1] == (1, whole)


@pytest.mark.parametrize("engine", ["reference", "compiled"])
def test_packets_that_are_sent_again_are_no_progress(engine):
    plan = build_plan(scenario(3, loss="0.05"), "ring", False, 40_000)
    told = []
    simulate(plan, None, told.append, engine)
    assert [reached.share for reached in told] == sorted(reached.share for reached in told)
    assert 0.8 < told[-1].share <= 1


@pytest.mark.parametrize(("engine", "least"), [("reference", 2), ("compiled", 10)])
def test_a_step_tells_the_calls_that_are_done_and_the_compiled_engine_what_is_between(
    engine, least
):
    reduce = {"all_reduce": {"size": "40 KB", "over": "dp"}}
    scenario = step_scenario([reduce, reduce], mesh={"dp": 4})
    plan = build_step_plan(scenario, "ring", requests_of(scenario))
    told = []
    _, trace = simulate_step(plan, told.append, engine)
    assert len(told) >= least
    assert told == sorted(told)
    assert [reached.at_ps for reached in told] == sorted(reached.at_ps for reached in told)
    assert told[-1] == (1, max(trace.finish_ps))
