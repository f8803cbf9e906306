"""Point to point on general networks: every rank, link and value as the reference engine has it."""

import dataclasses

import numpy as np
import pytest

from innet.collectives.operations import FORMS, build_operation_schedule
from innet.engine.compiled.messages import network as messages_network
from innet.engine.compiled.messages.network import CompiledNetwork
from innet.engine.compiled.run import run_compiled
from innet.engine.reference.network import ReferenceNetwork
from innet.engine.simulate import simulate
from innet.plan.operation import operation_of
from innet.scenario.build import build_plan
from innet.tensors.generate import generate
from tests.engine.compiled.made_lossy_stars import both
from tests.engine.compiled.made_messages import message_plan
from tests.engine.made_networks import US
from tests.engine.made_scenarios import scenario


@pytest.mark.parametrize("batch", range(3))
def test_random_networks_are_the_same_packet_for_packet(batch):
    kinds, dropped = set(), 0
    for seed in range(80 * batch, 80 * (batch + 1)):
        reference, compiled = both(message_plan(seed, most_bytes=12_000))
        assert compiled == reference, seed
        kinds.add(type(compiled))
        if not isinstance(reference, str):
            dropped += sum(link.queue_dropped for link in reference.links)
    assert len(kinds) == 2  # some runs end, some cannot
    assert dropped > 0


def test_every_form_of_every_kind_is_the_same_packet_for_packet():
    forms = [(kind, name) for kind, names in FORMS.items() for name in names if kind != "send"]
    for seed, (kind, name) in enumerate(2 * forms, 240):
        plan = message_plan(seed, most_bytes=12_000)
        places = len(plan.hosts)
        root = seed % places if kind in ("broadcast", "reduce", "gather") else 0
        schedule = build_operation_schedule(kind, name, places, plan.elements, 4, root)
        plan = dataclasses.replace(plan, workers=places, schedule=schedule)
        reference, compiled = both(plan)
        assert compiled == reference, (kind, name, seed)


@pytest.mark.parametrize("dtype", ["int32", "float32", "bfloat16"])
@pytest.mark.parametrize("algorithm", ["ring", "double_tree", "parameter_server"])
def test_values_meet_as_in_the_reference_engine(algorithm, dtype):
    """To the last bit, though floats are added in an order that the schedule decides."""
    plan = build_plan(scenario(workers=5, loss="0.05"), algorithm, True, 1000)
    plan = dataclasses.replace(plan, dtype=dtype)
    tensors = [generate(worker, 1000, dtype, 3) for worker in range(5)]
    results = [simulate(plan, tensors, engine=engine).results for engine in _ENGINES]
    for compiled, reference in zip(*results, strict=True):
        np.testing.assert_array_equal(compiled, reference)
        assert compiled.dtype == reference.dtype


_ENGINES = ("compiled", "reference")


def test_a_run_cut_in_slices_is_the_same(monkeypatch):
    plan = build_plan(scenario(workers=3, loss="0.05"), "ring", False, 50_000)
    whole = run_compiled(plan)
    monkeypatch.setattr(messages_network, "_EVENTS_A_SLICE", 7)
    told = []
    assert run_compiled(plan, told.append) == whole
    assert len(told) > 20


def test_more_packets_under_way_than_there_was_room_for():
    """Sixteen windows of whole messages, sent again before acknowledgements can come."""
    more = "host: {rto: 20 us}\nmessage: {window: 256, payload: 100 B}"
    plan = build_plan(scenario(workers=16, more=more), "ring", False, 16 * 5000)
    network = CompiledNetwork(plan)
    before = len(network.state.net.packets)
    begin_plan(network, plan)
    reference = ReferenceNetwork(plan)
    begin_plan(reference, plan)
    for each in (network, reference):
        assert each.advance(500 * US) == ()
    assert network.links() == reference.links()
    assert len(network.state.net.packets) > before


def begin_plan(network, plan):
    operation = network.add(operation_of(plan))
    for rank, host in enumerate(plan.hosts):
        network.begin(operation, rank, host.start_ps)
