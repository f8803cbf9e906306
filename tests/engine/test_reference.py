"""The reference engine against closed forms and golden times, and with losses."""

from pathlib import Path

import numpy as np
import pytest

from innet.engine.simulate import simulate
from innet.errors import UnfinishedError
from innet.scenario.build import build_plan
from innet.scenario.load import parse_scenario
from innet.tensors.generate import generate
from innet.tensors.verify import BlockLayout, verify

POINT_TO_POINT = [
    "ring",
    "double_tree",
    "binomial_tree",
    "halving_doubling",
    "recursive_doubling",
    "parameter_server",
    "sharded_parameter_server",
]


def scenario(workers=2, rate="10 Gbps", delay="1 us", latency="1 us", slots=128, more=""):
    text = f"""
version: 1
name: test
topology: {{kind: star, workers: {workers}, link: {{rate: {rate}, delay: {delay}, loss: 0}}}}
switch: {{latency: {latency}, slots: {slots}}}
collective: {{op: all_reduce, size: 4000 B, dtype: int32}}
algorithms: [in_network]
{more}
"""
    return parse_scenario(text, "test.yaml", (), Path("."))


def finish(plan):
    return max(rank.finish_ps for rank in simulate(plan).ranks)


@pytest.mark.parametrize(
    ("slots", "chunks", "time_ps"),
    [
        (1, 10, 33_264_000),
        (4, 40, 33_753_600),
        (16, 160, 35_712_000),
        (64, 640, 107_611_200),
        (128, 1280, 212_059_200),
        (128, 1000, 166_363_200),
    ],
)
def test_a_loss_free_star_meets_its_closed_form(slots, chunks, time_ps):
    case = scenario(slots=slots, more="packet: {elements: 32}")
    assert finish(build_plan(case, "in_network", False, chunks * 32)) == time_ps


def test_a_worker_that_starts_late_delays_everybody_by_as_much():
    case = scenario(more="packet: {elements: 32}\nworkers: {1: {start: 50 us}}")
    assert finish(build_plan(case, "in_network", False, 32_000)) == 216_363_200


@pytest.mark.parametrize("dtype", ["int32", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("elements", [0, 1, 63, 64, 65, 5003])
@pytest.mark.parametrize("workers", [1, 2, 3, 5])
def test_sums_are_right_in_the_network_under_loss(dtype, elements, workers):
    case = parse_scenario(LOSSY.format(n=workers, d=dtype), "test.yaml", (), Path("."))
    tensors = [generate(worker, elements, dtype, 1) for worker in range(workers)]
    trace = simulate(build_plan(case, "in_network", True, elements), tensors)
    assert verify(trace.results, tensors, dtype, "in_network", BlockLayout(64, 3)).wrong == 0


LOSSY = """
version: 1
name: lossy
topology: {{kind: star, workers: {n}, link: {{rate: 10 Gbps, delay: 1 us, loss: 0.1}}}}
switch: {{latency: 1 us, slots: 8}}
packet: {{elements: 64}}
host: {{cores: 3}}
collective: {{op: all_reduce, size: 4000 B, dtype: {d}}}
algorithms: [in_network]
"""


@pytest.mark.parametrize("recovery", ["selective_repeat", "go_back_n"])
@pytest.mark.parametrize("workers", [2, 3, 6])
@pytest.mark.parametrize("algorithm", POINT_TO_POINT)
def test_sums_are_right_point_to_point_under_loss(algorithm, workers, recovery):
    text = LOSSY.format(n=workers, d="int32").replace("0.1}", "0.03}")
    text += f"message: {{recovery: {recovery}, window: 8}}\n"
    case = parse_scenario(text, "test.yaml", (), Path("."))
    elements = 5003
    tensors = [generate(worker, elements, "int32", 1) for worker in range(workers)]
    trace = simulate(build_plan(case, algorithm, True, elements), tensors)
    for result in trace.results:
        np.testing.assert_array_equal(result, sum(tensors))


def test_a_lost_upload_is_sent_again_and_costs_one_timeout():
    case = scenario(more="faults: [{drop: {from: 1, to: switch, packet: first}}]")
    trace = simulate(build_plan(case, "in_network", False, 256))
    assert trace.links[2].lost == 1
    assert trace.ranks[1].retransmissions == 1


def test_a_worker_that_is_cut_off_is_named():
    case = scenario(more="faults: [{drop: {from: 1, to: switch, packet: all}}]")
    with pytest.raises(UnfinishedError, match="lacks the contribution of worker 1"):
        simulate(build_plan(case, "in_network", False, 256))
