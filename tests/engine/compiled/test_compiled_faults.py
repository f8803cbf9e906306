"""Packet faults in the compiled engine, with the times and counters that follow from them.

Two workers, four chunks in four slots, so a run without faults takes three packets more than a
round trip; see tests/engine/test_link_faults.py for the reference engine.
"""

import dataclasses

import pytest

from innet.engine.compiled.run import CompiledRun, run_compiled
from innet.engine.simulate import simulate
from innet.errors import UnfinishedError
from innet.plan.plan import PacketFault
from innet.scenario.build import build_plan
from tests.engine.made_scenarios import PACKET_PS, ROUND_TRIP_PS, fault, finish_ps, scenario

UNDISTURBED_PS = ROUND_TRIP_PS + 3 * PACKET_PS
UP_0, DOWN_0, UP_1 = 0, 1, 2


def compiled(text, chunks=4, **settings):
    return run_compiled(plan(text, chunks, **settings))


def plan(text, chunks=4, **settings):
    return build_plan(scenario(more=fault(text), **settings), "in_network", False, chunks * 32)


@pytest.mark.parametrize(
    ("text", "time_ps"),
    [
        ("{delay: {from: 0, to: switch, packet: first, by: 10 us}}", UNDISTURBED_PS + 10_000_000),
        ("{reorder: {from: 0, to: switch, packet: first, by: 10 us}}", ROUND_TRIP_PS + 10_000_000),
        # The first packet comes exactly with the last one, and goes on before it.
        (
            f"{{reorder: {{from: 0, to: switch, packet: first, by: {3 * PACKET_PS} ps}}}}",
            UNDISTURBED_PS + PACKET_PS,
        ),
    ],
)
def test_a_late_packet_holds_up_others_or_is_overtaken(text, time_ps):
    assert finish_ps(compiled(text)) == time_ps


def test_a_copy_takes_no_bandwidth_and_is_answered_once_more():
    trace = compiled("{duplicate: {from: 1, to: switch, packet: 2}}")
    assert (trace.links[UP_1].packets, trace.links[UP_1].duplicated) == (4, 1)
    assert trace.switches[0].unicasts == 1
    assert [rank.finish_ps for rank in trace.ranks] == [UNDISTURBED_PS, UNDISTURBED_PS + PACKET_PS]


def test_a_lost_packet_counts_in_the_order_that_faults_go_by():
    trace = compiled(
        "{drop: {from: 0, to: switch, packet: first}}, {corrupt: {from: 0, to: switch, packet: 2}}"
    )
    assert (trace.links[UP_0].lost, trace.links[UP_0].corrupted) == (1, 1)


def test_a_fault_with_a_chance_meets_about_its_share():
    trace = compiled(
        "{duplicate: {from: 0, to: switch, packet: all, probability: 0.25}}", chunks=4000
    )
    assert 900 < trace.links[UP_0].duplicated < 1100


def test_a_fault_that_is_too_unlikely_for_any_draw_does_nothing():
    trace = compiled("{drop: {from: 0, to: switch, packet: all, probability: 0}}")
    assert finish_ps(trace) == UNDISTURBED_PS


def test_rings_grow_for_copies():
    copies = ",".join(["{duplicate: {from: all, to: switch, packet: all, by: 40 us}}"] * 20)
    case = plan(copies, chunks=100, slots=16)
    run = CompiledRun(case)
    before = run.state.net.capacity
    trace = run.run(None)
    assert trace.links[UP_0].duplicated == 20 * trace.links[UP_0].packets
    assert run.state.net.capacity > before
    assert trace == dataclasses.replace(simulate(case), engine="compiled")


def test_a_link_that_loses_everything_is_named_in_the_end():
    case = plan("{drop: {from: 0, to: switch, packet: first}}")
    links = list(case.graph.links)
    links[DOWN_0] = dataclasses.replace(links[DOWN_0], loss=1.0)
    case = dataclasses.replace(case, graph=dataclasses.replace(case.graph, links=tuple(links)))
    with pytest.raises(UnfinishedError, match="worker 0 waits for slot 0") as compiled_error:
        run_compiled(case)
    with pytest.raises(UnfinishedError) as reference_error:
        simulate(case)
    assert str(compiled_error.value) == str(reference_error.value)


def test_ordinals_are_taken_in_any_order_and_once():
    case = plan("{drop: {from: 0, to: switch, packet: first}}")
    faults = (PacketFault("drop", UP_0, (3, 1, 3)), PacketFault("drop", UP_1, (2,)))
    trace = run_compiled(dataclasses.replace(case, packet_faults=faults))
    assert (trace.links[UP_0].lost, trace.links[UP_1].lost) == (2, 1)
