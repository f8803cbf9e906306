"""Costs per packet on a host's cores in the compiled engine, against closed forms."""

import pytest

from innet.engine.compiled.run import run_compiled
from innet.scenario.build import build_plan
from tests.engine.made_scenarios import PACKET_PS, ROUND_TRIP_PS, finish_ps, scenario


def compiled(chunks, host, **settings):
    case = scenario(more=f"host: {{{host}}}", **settings)
    return run_compiled(build_plan(case, "in_network", False, chunks * 32))


@pytest.mark.parametrize(
    ("send_ns", "receive_ns", "time_ps"),
    [
        (0, 500, ROUND_TRIP_PS + 4 * 500_000),
        (200, 0, ROUND_TRIP_PS + 4 * 200_000),
        (200, 500, ROUND_TRIP_PS + 200_000 + 4 * 500_000),
        (50, 20, ROUND_TRIP_PS + 50_000 + 3 * PACKET_PS + 20_000),
    ],
)
def test_the_slower_of_host_and_link_sets_the_pace(send_ns, receive_ns, time_ps):
    trace = compiled(4, f"send: {send_ns} ns, receive: {receive_ns} ns")
    assert finish_ps(trace) == time_ps
    busy_ps = 4 * 1000 * (send_ns + receive_ns)
    assert [rank.cpu_busy_ps for rank in trace.ranks] == [busy_ps, busy_ps]


def test_two_cores_share_the_work():
    trace = compiled(4, "receive: 500 ns, cores: 2")
    assert finish_ps(trace) == ROUND_TRIP_PS + 2 * PACKET_PS + 2 * 500_000


def test_a_core_receives_and_answers_one_packet_after_another():
    trace = compiled(5, "send: 300 ns, receive: 200 ns", slots=1)
    assert finish_ps(trace) == 5 * (ROUND_TRIP_PS + 500_000)


def test_only_the_host_that_is_slow_is_busy():
    more = "workers: {1: {host: {receive: 500 ns}}}"
    trace = run_compiled(build_plan(scenario(more=more), "in_network", False, 4 * 32))
    assert [rank.cpu_busy_ps for rank in trace.ranks] == [0, 4 * 500_000]
    assert [rank.finish_ps for rank in trace.ranks] == [
        ROUND_TRIP_PS + 3 * PACKET_PS,
        ROUND_TRIP_PS + 4 * 500_000,
    ]
