"""The estimate of point-to-point schedules, on rings small enough to reckon by hand."""

from dataclasses import replace

import pytest
from made_traces import plan_of, trace_of

from innet.collectives.schedule import Message, Schedule
from innet.metrics.diagnosis import diagnose, loss_free_estimate
from innet.metrics.estimate import Burden
from innet.plan.plan import Stream

PACKET_PS = 819_200  # 1024 B at 10 Gbps
LATENCY_PS = 2 * 10**6


def loss_free_ps(plan, without=None):
    return loss_free_estimate(plan)(without)


def ring(workers):
    messages = [
        Message(step, rank, (rank + 1) % workers, (rank - step) % workers, 1, step < workers - 1)
        for step in range(2 * (workers - 1))
        for rank in range(workers)
    ]
    return Schedule("ring", workers, workers, workers, tuple(messages))


def ring_plan(*overrides, window=4096):
    """A ring of 1 MiB among 4 workers, so 256 packets a message."""
    return replace(
        plan_of(*overrides),
        algorithm="ring",
        aggregation=None,
        schedule=ring(4),
        stream=Stream(1024, 0, 0, window, "selective_repeat"),
    )


def test_a_step_takes_its_packets_one_store_and_forward_and_the_latency():
    assert loss_free_ps(ring_plan()) == 6 * (257 * PACKET_PS + LATENCY_PS)


def test_without_latency_only_packets_remain():
    assert loss_free_ps(ring_plan(), Burden.LATENCY) == 6 * 257 * PACKET_PS


def test_a_window_below_the_round_trip_is_named():
    plan = ring_plan(window=4)
    time = loss_free_ps(plan)
    found = diagnose(plan, trace_of(plan, time, ranks={0: {"window_stalled_ps": time}}))
    # A data packet crosses in 3638.4 ns, its free acknowledgement in 2000 ns.
    assert found.limited_by == "window"
    assert "message.window: 7" in found.help


def test_a_window_of_the_round_trip_costs_nothing():
    assert loss_free_ps(ring_plan(window=7)) == loss_free_ps(ring_plan())


def test_a_late_worker_holds_the_ring_up():
    plan = ring_plan("workers.1.start=5 ms")
    found = diagnose(plan, trace_of(plan, loss_free_ps(plan)))
    assert found.limited_by == "straggler"
    assert "Worker 1 started 5 ms" in found.because


def test_a_slow_link_holds_the_ring_up():
    plan = ring_plan("workers.1.link.rate=1 Gbps")
    found = diagnose(plan, trace_of(plan, loss_free_ps(plan)))
    assert found.limited_by == "straggler"


def test_small_blocks_are_limited_by_latency():
    plan = ring_plan("collective.size=64 B")
    found = diagnose(plan, trace_of(plan, loss_free_ps(plan)))
    assert found.limited_by == "latency"
    assert "now 1 us" in found.help


def test_steps_that_wait_for_each_other_leave_links_idle():
    plan = ring_plan()
    time = loss_free_ps(plan)
    links = {link: {"busy_ps": time // 3} for link in range(8)}
    found = diagnose(plan, trace_of(plan, time, links=links))
    assert found.limited_by == "link"
    assert "steps wait for each other" in found.help


@pytest.mark.parametrize(("cores", "limit"), [(1, "host"), (2, "host"), (3, "link")])
def test_slow_hosts_are_named_unless_cores_make_up_for_it(cores, limit):
    """Of 3 cores two work, for the two neighbours; with 2 both neighbours are the same core's."""
    plan = ring_plan("host.receive=600 ns", f"host.cores={cores}")
    time = loss_free_ps(plan)
    found = diagnose(plan, trace_of(plan, time, ranks={0: {"cpu_busy_ps": time}}))
    assert found.limited_by == limit


def test_a_core_works_on_data_and_acknowledgements_of_both_directions():
    plan = ring_plan("host.send=300 ns", "host.receive=600 ns")
    packets, work = 6 * 256, 900_000
    assert 2 * packets * work <= loss_free_ps(plan) < 2.1 * packets * work


def test_an_empty_tensor_takes_no_time():
    assert loss_free_ps(ring_plan("collective.size=0 B")) == 0
