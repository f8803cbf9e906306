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


@pytest.mark.parametrize("algorithm", ["ring", "double_tree"])
def test_quorums_lanes_and_slack_are_the_same_by_both_engines(algorithm):
    """The absent take part from another rank's completion on, at which no host may be ahead."""
    size = {"size": "40 KB", "over": "dp,tp"}
    turn = [
        {"all_reduce": size},
        {"all_reduce": {**size, "quorum": "1 + i % 3"}},
        {"all_reduce": {**size, "lane": "other", "async": "g"}},
        {"when": "rank == i", "do": [{"compute": "13 us"}]},
    ]
    scenario = step_scenario(
        [{"repeat": 4, "slack": 1, "do": turn}, {"repeat": 4, "do": turn}],
        mesh=MESH,
        more="workers: {2: {link: {delay: 7 us}}, 3: {link: {rate: 1 Gbps}}}\n",
    )
    plan = build_step_plan(scenario, algorithm, requests_of(scenario))
    expected = simulate_step(plan, engine="reference")[1]
    assert simulate_step(plan, engine="compiled") == ("compiled", expected)


@pytest.mark.parametrize("numbers", [(30, 8, 19, 3, 1), (61, 3, 28, 4, 3), (24, 7, 33, 37, 1)])
def test_the_absent_take_part_no_sooner_than_their_hosts_have_been_simulated(numbers):
    """Ranks that compute, and whose hosts carry another lane, when a completion makes a quorum."""
    other, pair, compute, late, whole = numbers
    over = {"over": "dp,tp"}
    body = [
        {"when": "rank < 2", "do": [{"all_reduce": {"size": f"{pair} KB", "over": "tp"}}]},
        {"when": "rank >= 2", "do": [{"compute": f"{compute} us + rank*1 us"}]},
        {"when": "rank == i", "do": [{"compute": f"{late} us"}]},
        {"all_reduce": {**over, "size": f"{whole} KB", "quorum": 1}},
    ]
    beside = {"all_reduce": {**over, "size": f"{other} KB", "lane": "other", "async": "g"}}
    scenario = step_scenario(
        [beside, {"repeat": 4, "do": body}],
        mesh=MESH,
        more="workers: {2: {link: {delay: 7 us}}, 3: {link: {rate: 1 Gbps}}}\n",
    )
    plan = build_step_plan(scenario, "ring", requests_of(scenario))
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


@pytest.mark.parametrize(
    "keys", [{}, {"network": RACKS, "mesh": {"dp": 4, "tp": 2}}, {"more": "host: {rto: 30 us}\n"}]
)
def test_a_step_with_sums_in_the_network_is_the_same_by_both_engines(keys):
    """Two jobs and messages share links; all-to-alls and messages run point to point."""
    step = [each for each in STEP if not each.keys() & {"reduce_scatter", "broadcast"}]
    scenario = step_scenario(step, **{"mesh": MESH, "more": "", **keys})
    plan = build_step_plan(scenario, "in_network", requests_of(scenario))
    assert any(each.operation.aggregation for each in plan.operations.values())
    expected = simulate_step(plan, engine="reference")[1]
    assert simulate_step(plan, engine="compiled") == ("compiled", expected)


def test_kinds_that_are_not_simulated_in_the_network_are_refused():
    with pytest.raises(RefusedError, match="reduce_scatter in the network"):
        simulate_step(plan_of("in_network"), engine="compiled")
