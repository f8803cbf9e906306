"""Steps in the compiled engine end as by the reference engine, in every span and counter."""

import pytest

from innet.engine import simulate as choice
from innet.engine.refused import RefusedError
from innet.engine.simulate import simulate_step
from innet.errors import MissingToolError
from innet.scenario.asked import requests_of
from innet.scenario.build_step import build_step_plan
from tests.engine.steps.test_steps_on_racks import RACKS
from tests.scenario.made_steps import step_scenario

MESH = {"dp": 2, "tp": 2}
# Sums that share links, tokens that go to their experts, messages around and a late rank.
STEP = [
    {"compute": "(1 + 5*dp) * 1 us"},
    {"all_reduce": {"size": "60 KB", "over": "tp", "async": "g"}},
    {"all_reduce": {"size": "90 KB", "over": "dp,tp", "async": "h"}},
    {"send": {"to": {"dp": "(dp+1) % dp_n"}, "size": "40 KB", "async": "s"}},
    {"recv": {"from": {"dp": "(dp-1) % dp_n"}, "size": "40 KB"}},
    {"wait": "g"},
    {"repeat": 3, "do": [{"all_to_all": {"size": "9 KB", "over": "dp"}}, {"compute": "2 us"}]},
    {"reduce_scatter": {"size": "30 KB", "over": "tp"}},
    {"broadcast": {"size": "10 KB", "over": "dp,tp"}},
    {"wait": "h"},
    {"wait": "s"},
]


def plan_of(algorithm, more="", **keys):
    scenario = step_scenario(STEP, more=more, **{"mesh": MESH, **keys})
    return build_step_plan(scenario, algorithm, requests_of(scenario))


@pytest.mark.parametrize("algorithm", ["ring", "halving_doubling", "double_tree"])
@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"network": RACKS, "mesh": {"dp": 4, "tp": 2}},
        {"more": "message: {window: 7, recovery: go_back_n}\nhost: {rto: 30 us}\n"},
    ],
)
def test_a_step_is_the_same_by_both_engines(keys, algorithm):
    plan = plan_of(algorithm, **keys)
    expected = simulate_step(plan, engine="reference")[1]
    assert simulate_step(plan, engine="compiled") == ("compiled", expected)


def test_auto_compiles_what_is_large(monkeypatch):
    plan = plan_of("ring")
    assert simulate_step(plan)[0] == "reference"
    monkeypatch.setattr(choice, "_HOPS_WORTH_COMPILING", 1000)
    assert simulate_step(plan)[0] == "compiled"
    assert simulate_step(plan_of("in_network"))[0] == "reference"
    notes = []
    monkeypatch.setattr(choice, "find_spec", lambda name: None)
    assert simulate_step(plan, note=notes.append)[0] == "reference"
    assert "Numba is not installed" in notes[0]
    with pytest.raises(MissingToolError, match="needs Numba"):
        simulate_step(plan, engine="compiled")


def test_operations_in_the_network_are_refused():
    with pytest.raises(RefusedError, match="some are in the network"):
        simulate_step(plan_of("in_network"), engine="compiled")
