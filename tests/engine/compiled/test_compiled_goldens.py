"""Large stars that ns-3 and htsim timed to the picosecond."""

import pytest

from innet.engine.simulate import simulate
from innet.scenario.build import build_plan
from innet.scenario.load import parse_scenario


@pytest.mark.parametrize(
    ("workers", "megabytes", "rate", "time_ps"),
    [
        (8, 10, "100 Gbps", 845_268_800),
        (8, 100, "100 Gbps", 8_439_051_200),
        (8, 100, "10 Gbps", 84_377_912_000),
        (64, 2, "100 Gbps", 170_312_000),
        (512, 2, "100 Gbps", 170_312_000),
    ],
)
def test_a_star_without_loss_ends_when_other_simulators_say(
    tmp_path, workers, megabytes, rate, time_ps
):
    """Packets of 1024 + 56 bytes, 128 slots, 500 ns a link, 400 ns in the switch."""
    text = f"""
version: 1
name: golden
topology: {{workers: {workers}, link: {{rate: {rate}, delay: 500 ns}}}}
switch: {{latency: 400 ns, slots: 128}}
packet: {{elements: 256, overhead: 56 B}}
collective: {{size: {megabytes} MB, dtype: int32, check: never}}
algorithms: [in_network]
"""
    scenario = parse_scenario(text, "golden.yaml", (), tmp_path)
    plan = build_plan(scenario, "in_network", False, scenario.collective.elements)
    trace = simulate(plan, engine="compiled")
    assert {rank.finish_ps for rank in trace.ranks} == {time_ps}
