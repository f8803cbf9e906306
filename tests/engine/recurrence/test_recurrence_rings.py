"""The recurrence over a ring's streams leaves the reference engine's trace, or refuses."""

import random
from pathlib import Path

import pytest

from innet.engine.recurrence.conditions import refusal
from innet.engine.recurrence.ring import Ring
from innet.engine.recurrence.run import run_recurrence
from innet.engine.refused import RefusedError
from innet.scenario.build import build_plan
from innet.scenario.load import parse_scenario
from tests.engine.recurrence.comparison import outcome, reference, undisturbed

BATCH = 50
STAR = "workers: {workers}, link: {{rate: 10 Gbps, delay: 1 us{link}}}"

LEAF = (
    "kind: leaf_spine, racks: 1, hosts: {workers}, spines: 1, "
    "link: {{rate: 10 Gbps, delay: 1 us{link}}}"
)


def ring(more="", topology=STAR, workers=4, size="200 KB", link="", message="", algorithm="ring"):
    """The plan of a ring; messages have TCP's packets of 1538 bytes, 1230.4 ns at 10 Gbps."""
    text = f"""
version: 1
name: ring
topology: {{{topology.format(workers=workers, link=link)}}}
switch: {{latency: 500 ns}}
message: {{{message}}}
collective: {{size: {size}, dtype: int32, check: never}}
algorithms: [{algorithm}]
{more}
"""
    scenario = parse_scenario(text, "ring.yaml", (), Path("."))
    return build_plan(scenario, algorithm, False, scenario.collective.elements)


def random_ring(seed):
    draw = random.Random(seed)
    workers = draw.randint(2, 7)
    window, payload = draw.choice([1, 2, 5, 64]), draw.choice([100, 1460, 4096])
    others = []
    for worker in range(workers if draw.random() < 0.6 else 0):
        link = f"rate: {draw.choice([1, 7, 10, 40])} Gbps, delay: {draw.choice([1, 333])} ns"
        start = draw.choice([0, 0, 0, 30, 700])
        others.append(f"{worker}: {{start: {start} us, link: {{{link}}}}}")
    queue, rto = draw.choice(["null", "null", "8 KB", "200 KB"]), draw.choice(["adaptive", "1 ms"])
    recovery = draw.choice(["selective_repeat", "go_back_n"])
    return ring(
        f"workers: {{{', '.join(others)}}}\nhost: {{rto: {rto}}}",
        draw.choice([STAR, STAR, LEAF]),
        workers,
        f"{4 * draw.randint(workers, draw.choice([60, 9000, 60000]))} B",
        f", queue: {queue}",
        f"window: {window}, payload: {payload} B, recovery: {recovery}",
    )


@pytest.mark.parametrize("batch", range(4))
def test_random_rings_are_equal_or_refused_with_a_reason(batch):
    equal = 0
    for seed in range(batch * BATCH, (batch + 1) * BATCH):
        plan = random_ring(seed)
        expected, found = reference(plan), outcome(plan, True)
        if found is None:
            assert refusal(plan) is None
        else:
            assert undisturbed(expected), seed
            assert found == expected, seed
        equal += found is not None
    assert equal > BATCH * 2 / 3


def test_two_racks_whose_ring_crosses_every_link_once():
    racks = (
        "kind: leaf_spine, racks: 2, hosts: 4, spines: 1, link: {{rate: 10 Gbps, delay: 1 us}}, "
        "spine_link: {{rate: 4 Gbps, delay: 3 us}}"
    )
    plan = ring(topology=racks, workers=8)
    assert run_recurrence(plan) == reference(plan)


def test_equal_ranks_are_computed_once():
    plan = ring(size="800 KB")
    assert len(Ring(plan, plan.stream, plan.schedule).rows) == 1
    assert run_recurrence(plan) == reference(plan)


def test_messages_longer_than_a_piece_are_equal(monkeypatch):
    monkeypatch.setattr("innet.engine.recurrence.ring._PIECE", 8)
    for window in (3, 8, 64):
        plan = ring(message=f"window: {window}", size="1 MB", more="workers: {1: {start: 1 ms}}")
        assert run_recurrence(plan) == reference(plan)


def test_a_queue_that_the_longest_wait_could_fill_is_refused():
    """Worker 0 sends to worker 1, whose link is ten times as slow."""
    slow = "workers: {1: {link: {rate: 1 Gbps}}}"
    assert run_recurrence(ring(slow)) == reference(ring(slow))
    with pytest.raises(RefusedError, match="queue of link"):
        run_recurrence(ring(slow, link=", queue: 8 KB"))


def test_a_wait_beyond_the_timeout_is_refused():
    with pytest.raises(RefusedError, match="longer than its retransmission timeout"):
        run_recurrence(ring("host: {rto: 5 us}"))


def test_a_run_beyond_its_time_limit_is_refused():
    with pytest.raises(RefusedError, match="time limit"):
        run_recurrence(ring("limit: 100 us"))


@pytest.mark.parametrize(
    ("plan", "why"),
    [
        (ring(algorithm="halving_doubling"), "halving_doubling is no ring"),
        (ring(message="ack: 64 B"), "acknowledgements take time"),
        (ring("host: {send: 10 ns}"), "packets cost time on the hosts"),
        (ring(size="12 B"), "fewer elements"),
        (ring(workers=1), "one rank is alone"),
        (ring(link=", loss: 0.01"), "loses packets"),
    ],
)
def test_a_plan_that_is_not_for_the_recurrence_is_refused_by_name(plan, why):
    assert why in refusal(plan)
