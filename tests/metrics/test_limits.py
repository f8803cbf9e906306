"""Scenarios that are built to have one limit, run by the engine, are found to have it."""

import pytest

from innet.engine.simulate import simulate
from innet.metrics.diagnosis import diagnose
from innet.scenario.build import build_plan
from innet.scenario.load import parse_scenario

BASE = """
version: 1
name: limits
topology: {kind: star, workers: 4, link: {rate: 10 Gbps, delay: 1 us}}
switch: {latency: 400 ns, slots: 64}
host: {rto: 200 us}
collective: {op: all_reduce, size: 512 KiB, dtype: int32, check: never}
algorithms: [in_network]
"""


def found(*overrides, algorithm="in_network"):
    scenario = parse_scenario(BASE, overrides=[*overrides, f"algorithms=[{algorithm}]"])
    plan = build_plan(scenario, algorithm, False, scenario.collective.elements)
    return diagnose(plan, simulate(plan))


# Each: the limit, the settings that cause it, what the reasons and the help must say.
LIMITS = [
    ("link", [], "worker0 -> switch at 10 Gbps", "Faster links"),
    ("window", ["switch.slots=2"], "2 slots let a worker send 2 packets", "switch.slots: 5 is"),
    ("host", ["host.send=2 us"], "its 1 core worked 99", "host.cores, now 1"),
    (
        "loss recovery",
        ["topology.link.loss=0.01"],
        "of 2",
        "A shorter retransmission timeout (host.rto, now fixed, 200 us)",
    ),
    ("straggler", ["workers.2.start=300 us"], "Worker 2 started 300 us", "workers.2.start"),
    (
        "straggler",
        ["workers.1.link.rate=5 Gbps"],
        "Worker 1's link has 5 Gbps, the typical worker's 10 Gbps",
        "workers.1.link.rate",
    ),
    (
        "straggler",
        ["faults=[{pause: {node: 3, at: 100 us, for: 400 us}}]"],
        "Worker 3 stood still (fault pause at 100 us for 400 us)",
        "does not stop",
    ),
    ("straggler", ["workers.0.host.receive=3 us"], "Worker 0 spends 3 us", "workers.0.host"),
    ("latency", ["collective.size=1 KiB"], "Packets crossing the network", "shorter links"),
]


@pytest.mark.parametrize(("limit", "overrides", "because", "helps"), LIMITS)
def test_a_limit_of_in_network_aggregation(limit, overrides, because, helps):
    diagnosis = found(*overrides)
    assert diagnosis.limited_by == limit
    assert because in diagnosis.because
    assert helps in diagnosis.help


RING_LIMITS = [
    ("link", []),
    ("window", ["message.window=3"]),
    ("host", ["host.receive=2 us"]),
    ("loss recovery", ["topology.link.loss=0.01"]),
    ("straggler", ["workers.2.start=2 ms"]),
    ("straggler", ["workers.1.link.rate=1 Gbps"]),
    ("straggler", ["workers.1.host.send=4 us", "host.rto=adaptive"]),
    ("latency", ["collective.size=1 KiB"]),
]


@pytest.mark.parametrize(("limit", "overrides"), RING_LIMITS)
def test_a_limit_of_a_ring(limit, overrides):
    assert found(*overrides, algorithm="ring").limited_by == limit


def test_senders_that_meet_at_a_server_overflow_its_queue():
    diagnosis = found("topology.link.queue=32 KiB", algorithm="parameter_server")
    assert diagnosis.limited_by == "queue"
    assert "switch -> server" in diagnosis.because
    assert "a smaller message.window (now 64)" in diagnosis.help


def test_packets_that_were_only_late_need_a_longer_timeout():
    diagnosis = found("host.rto=20 us", "host.receive=2 us", algorithm="ring")
    assert diagnosis.limited_by == "loss recovery"
    assert diagnosis.because.startswith("Every packet arrived, but some later than the timeout")
    assert "A longer host.rto, or adaptive (now fixed, 20 us)" in diagnosis.help
