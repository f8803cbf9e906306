"""Questions that users of such tools have asked in public, each with its right answer.

The others are beside what they ask about: D2 in test_ns3.py, D11 and D12 in
test_reported_cases.py, D6, D8, D9, D10 and D14 among the protocol's cases.
"""

from pathlib import Path

import numpy as np
import pytest

from innet.engine.simulate import simulate
from innet.errors import ConfigurationError
from innet.metrics.rates import algorithm_bandwidth_bps, bus_bandwidth_bps
from innet.metrics.summary import summarise
from innet.scenario.build import build_plan
from innet.scenario.load import parse_scenario
from innet.tensors.generate import generate
from innet.workload.buckets import bucket_sizes

TEXT = """
version: 1
name: cases
topology: {{kind: star, workers: {workers}, link: {{rate: 10 Gbps, delay: 1 us}}}}
switch: {{latency: 1 us, slots: 512}}
collective: {{op: all_reduce, size: 100 MB, dtype: int32}}
algorithms: [in_network]
{more}
"""


def scenario(workers=8, more=""):
    return parse_scenario(TEXT.format(workers=workers, more=more), "cases.yaml", (), Path("."))


def test_case_d1_two_workers_that_say_they_are_the_same_are_named():
    more = "workers:\n  0: {start: 1 us}\n  0: {start: 2 us}"
    with pytest.raises(ConfigurationError, match=r"cases\.yaml:10: .*0"):
        scenario(2, more)


@pytest.mark.parametrize(
    ("operation", "busbw"),
    [("all_reduce", 187.90), ("reduce_scatter", 93.95), ("all_gather", 93.95)],
)
def test_case_d3_one_gibibyte_in_ten_milliseconds(operation, busbw):
    assert round(algorithm_bandwidth_bps(2**30, 10**10) / 8e9, 2) == 107.37
    assert round(bus_bandwidth_bps(2**30, 10**10, operation, 8) / 8e9, 2) == busbw


def test_case_d4_in_the_network_a_tensor_takes_its_bytes_and_headers():
    """80 ms without headers; 1100 bytes on the medium for 1024 of payload."""
    plan = build_plan(scenario(), "in_network", False, 25_000_000)
    trace = simulate(plan, engine="recurrence")
    run = summarise(plan, trace, 0, False)
    assert 80e9 * 1100 / 1024 <= run.time_ps <= 80e9 * 1100 / 1024 * 1.001
    assert round(run.algbw_bps / 8e9, 2) == round(1.25 * 1024 / 1100, 2)
    assert run.wire_bytes_per_nic == -(-100_000_000 // 1024) * 1100


def test_case_d5_integers_are_the_same_fused_or_apart():
    whole = [generate(worker, 2500, "int32", 3) for worker in range(4)]
    parts = [[vector[:1000] for vector in whole], [vector[1000:] for vector in whole]]
    apart = [summed(part) for part in parts]
    np.testing.assert_array_equal(np.concatenate(apart), summed(whole))


def summed(tensors):
    plan = build_plan(scenario(4), "in_network", True, tensors[0].size)
    return simulate(plan, tensors).results[0]


def test_case_d7_gradients_are_put_in_pytorchs_buckets():
    ready = [4000, 2048000, *[9437184] * 3, *[2359296] * 5]
    assert bucket_sizes(ready) == [2052000, 28311552, 11796480]


@pytest.mark.parametrize("sizes", [[], [1], [2**20], [2**20 - 1, 1, 5]])
def test_buckets_lose_no_byte(sizes):
    assert sum(bucket_sizes(sizes)) == sum(sizes)


@pytest.mark.parametrize(
    ("key", "line"),
    [("latency: 1e-6", 5), ("latency: 12:30", 5), ("guard: maybe", 5), ("slots: 1, slots: 2", 5)],
)
def test_case_d13_what_could_be_misread_is_refused_with_its_line(key, line):
    text = TEXT.format(workers=2, more="").replace("latency: 1 us", key, 1)
    with pytest.raises(ConfigurationError, match=rf"cases\.yaml:{line}:"):
        parse_scenario(text, "cases.yaml", (), Path("."))


def test_case_d13_numbers_and_switches_are_what_they_look_like():
    text = TEXT.format(workers=2, more="").replace("slots: 512", "slots: 512, guard: off")
    read = parse_scenario(text.replace("delay: 1 us", "delay: 1 us, loss: 1e-3"), "cases.yaml")
    assert (read.switch.guard, read.topology.link.loss) == (False, 1e-3)
