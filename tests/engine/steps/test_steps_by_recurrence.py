"""Steps that the recurrence runs end as by the reference engine, in every span and counter."""

import pytest

from innet.engine.refused import RefusedError
from innet.engine.simulate import simulate_step
from innet.scenario.asked import requests_of
from innet.scenario.build_step import build_step_plan
from tests.engine.steps.test_steps_on_racks import RACKS
from tests.scenario.made_steps import step_scenario

MESH = {"dp": 2, "tp": 2}


def sum_over(over, size, **options):
    return {"all_reduce": {"size": size, "over": over, **options}}


BUCKETS = [
    {"each": "layer", "do": [{"compute": "layer.fwd"}]},
    {
        "each": "layer reversed",
        "do": [
            {"compute": "layer.bwd"},
            sum_over("dp,tp", "layer.grad", bucket="256 KiB", **{"async": "g"}),
        ],
    },
    {"wait": "g"},
]
LAYERS = [
    {"name": f"l{at}", "forward": "20 us", "backward": "40 us", "parameters": 4 * size}
    for at, size in enumerate((500, 40_000, 8_000, 17_000, 365))
]
TENSOR_PARALLEL = [
    {"repeat": 3, "do": [{"compute": "9 us"}, sum_over("tp", "32 KiB"), sum_over("tp", "8 KiB")]},
    sum_over("dp", "64 KiB"),
]
UNEVEN = [{"compute": "(1 + 3*dp + tp) * 1 us"}, sum_over("dp,tp", 4 * 3001)]


def plan_of(step, algorithm, more="", **keys):
    scenario = step_scenario(step, more=more, **{"mesh": MESH, **keys})
    return build_step_plan(scenario, algorithm, requests_of(scenario))


@pytest.mark.parametrize("algorithm", ["in_network", "ring"])
@pytest.mark.parametrize(
    ("step", "keys"),
    [
        (BUCKETS, {"layers": LAYERS, "dtype": "float32"}),
        (TENSOR_PARALLEL, {}),
        (TENSOR_PARALLEL, {"more": "switch: {slots: 8}\n"}),
        (UNEVEN, {}),
        # Blocks of unequal length end at different times; a rank goes on before others are done.
        ([sum_over("dp,tp", 4 * 1001), sum_over("dp,tp", 4 * 30_003)], {}),
    ],
)
def test_a_step_of_sums_is_the_same_by_both_engines(step, keys, algorithm):
    plan = plan_of(step, algorithm, **keys)
    expected = simulate_step(plan, engine="reference")[1]
    assert simulate_step(plan, engine="recurrence")[1] == expected
    assert simulate_step(plan, engine="auto") == ("recurrence", expected)


def test_the_halves_of_a_ring_are_the_same_by_both_engines():
    halves = [
        {"compute": "dp * 1 us"},
        {"reduce_scatter": {"size": 4 * 3001, "over": "dp"}},
        {"compute": "9 us"},
        {"all_gather": {"size": "100 KB", "over": "dp"}},
    ]
    plan = plan_of(halves, "ring")
    expected = simulate_step(plan, engine="reference")[1]
    assert simulate_step(plan, engine="recurrence")[1] == expected


def test_groups_on_links_of_their_own_run_at_once():
    """The four pairs of ranks within hosts, each on its own fast links."""
    step = [{"compute": "(1+pp+dp) * 1 us"}, sum_over("tp", "1 MB"), sum_over("tp", "1 KB")]
    plan = plan_of(step, "ring", network=RACKS, mesh={"pp": 2, "dp": 2, "tp": 2})
    expected = simulate_step(plan, engine="reference")[1]
    assert simulate_step(plan, engine="recurrence")[1] == expected


@pytest.mark.parametrize(
    ("step", "why", "keys"),
    [
        ([sum_over("dp", 400, **{"async": "g"}), sum_over("tp", 400)], "share links", {}),
        ([{"all_to_all": {"size": 400, "over": "dp"}}], "runs no all_to_all", {}),
        # Nobody receives before having sent.
        (
            [
                {"send": {"to": {"dp": "1-dp"}, "size": 8}},
                {"recv": {"from": {"dp": "1-dp"}, "size": 8}},
            ],
            "runs no send",
            {},
        ),
        ([sum_over("dp", 400)], "faults", {"more": "faults: [{drop: {from: all, to: switch}}]\n"}),
        ([sum_over("dp", 400)], "longer than its", {"more": "limit: 2 us\n"}),
    ],
)
def test_what_would_not_be_exact_is_refused(step, why, keys):
    plan = plan_of(step, "ring", **keys)
    with pytest.raises(RefusedError, match=why):
        simulate_step(plan, engine="recurrence")


def test_the_reference_engine_runs_what_the_recurrence_refuses():
    plan = plan_of([sum_over("dp", 400, **{"async": "g"}), sum_over("tp", 400)], "ring")
    assert simulate_step(plan) == simulate_step(plan, engine="reference")
