"""Completion of every worker and every counter, against the reference engine."""

import dataclasses
from collections import Counter

import numpy as np
import pytest

from innet.engine.compiled import run as compiled_run
from innet.engine.compiled.lower import grown, lower
from innet.engine.compiled.run import CompiledRun, run_compiled
from innet.engine.simulate import simulate
from innet.scenario.build import build_plan
from tests.engine.compiled.made_lossy_stars import both, lossy_star
from tests.engine.made_scenarios import scenario


@pytest.mark.parametrize("batch", range(4))
def test_random_stars_are_the_same_packet_for_packet(batch):
    seen = Counter()
    for seed in range(75 * batch, 75 * (batch + 1)):
        reference, compiled = both(lossy_star(seed))
        assert compiled == reference, seed
        seen.update(what_happened(compiled))
    assert min(seen[kind] for kind in HAPPENINGS) > 0, seen


HAPPENINGS = (
    "lost",
    "queue_dropped",
    "corrupted",
    "duplicated",
    "queued_ps",
    "retransmissions",
    "stale",
    "helps_sent",
    "cpu_busy_ps",
    "unfinished",
)


def what_happened(outcome):
    """At how many links, workers and switches of a run each kind of trouble was met."""
    if isinstance(outcome, str):
        return {"unfinished": 1}
    records = [
        dataclasses.asdict(record) for record in (*outcome.links, *outcome.ranks, *outcome.switches)
    ]
    return Counter(kind for record in records for kind in HAPPENINGS if record.get(kind))


def test_many_workers_that_come_one_by_one_are_taken_in_order_of_time():
    late = ", ".join(f"{worker}: {{start: {worker * 37} ns}}" for worker in range(40))
    case = scenario(workers=40, slots=16, loss="0.01", more=f"workers: {{{late}}}")
    reference, compiled = both(build_plan(case, "in_network", False, 100 * 32))
    assert compiled == reference
    assert sum(link.lost for link in compiled.links) > 0


def test_a_run_cut_in_slices_is_the_same(monkeypatch):
    plan = build_plan(scenario(workers=3, loss="0.05"), "in_network", False, 200 * 32)
    whole = run_compiled(plan)
    monkeypatch.setattr(compiled_run, "_EVENTS_A_SLICE", 7)
    told = []
    assert run_compiled(plan, told.append) == whole
    assert len(told) > 100


def test_rings_that_grow_keep_their_packets_in_order():
    state = lower(build_plan(scenario(), "in_network", False, 128))
    links, capacity = state.net.links, state.net.capacity
    links["head"], links["tail"] = capacity - 3, 2 * capacity - 3  # full, and wrapped round
    for index in range(len(links)):
        for place in range(capacity - 3, 2 * capacity - 3):
            state.net.rings[index * state.net.stride + place % capacity]["word"] = (
                1000 * index + place
            )
    net = grown(state).net
    assert net.capacity == 2 * capacity
    rings = net.rings.reshape(len(links), -1)
    places = np.arange(capacity - 3, 2 * capacity - 3)
    for index in range(len(links)):
        found = rings[index, places % net.capacity]["word"]
        assert (found == 1000 * index + places).all()


def test_more_packets_on_a_link_than_its_ring_had_room_for():
    more = "host: {rto: 2 us}\nlimit: 3 ms"
    case = scenario(workers=2, slots=1024, more=more)
    plan = build_plan(case, "in_network", False, 2000 * 32)
    run = CompiledRun(plan)
    before = run.state.net.capacity
    assert dataclasses.replace(run.run(None), engine="reference") == simulate(plan)
    assert run.state.net.capacity > before


def test_sequence_numbers_wrap_round():
    plan = build_plan(scenario(workers=3, loss="0.05"), "in_network", False, 100 * 32)
    aggregation = dataclasses.replace(plan.aggregation, first_number=2**32 - 50)
    reference, compiled = both(dataclasses.replace(plan, aggregation=aggregation))
    assert compiled == reference


def test_the_engine_is_named():
    plan = build_plan(scenario(), "in_network", False, 128)
    assert (simulate(plan, engine="compiled").engine, simulate(plan).engine) == (
        "compiled",
        "reference",
    )
