"""What limits a run is named, with the numbers that would help."""

import pytest
from made_traces import plan_of, trace_of

from innet.metrics.diagnosis import diagnose, limiting, loss_free_estimate
from innet.metrics.traffic import finish_time_ps

# Times of the published questions p4app-switchML 18 and 45, in us by number of slots.
TIMES_US = {1: 3725.7216, 2: 1863.68, 4: 933.888, 5: 841.68, 64: 841.68}


def loss_free_ps(plan, without=None):
    return loss_free_estimate(plan)(without)


def ps(microseconds):
    return round(microseconds * 10**6)


@pytest.mark.parametrize("slots", [1, 2, 4])
def test_too_few_slots_limit_by_the_window_and_five_would_fill_the_link(slots):
    plan = plan_of(f"switch.slots={slots}")
    time = ps(TIMES_US[slots])
    idle = {1: {"window_stalled_ps": time - ps(TIMES_US[64])}}
    found = diagnose(plan, trace_of(plan, time, ranks=idle))
    assert found.limited_by == "window"
    assert "switch.slots: 5" in found.help
    assert f"{slots} slot" in found.because


@pytest.mark.parametrize("slots", [5, 64])
def test_enough_slots_limit_by_the_link(slots):
    plan = plan_of(f"switch.slots={slots}")
    busy = {0: {"busy_ps": ps(838.8608)}}
    found = diagnose(plan, trace_of(plan, ps(TIMES_US[slots]), links=busy))
    assert found.limited_by == "link"
    assert "worker0 -> switch at 10 Gbps, was sending 99.7 %" in found.because


def test_links_that_never_idled_before_a_full_window_were_not_limited_by_it():
    plan = plan_of("switch.slots=4")
    assert diagnose(plan, trace_of(plan, ps(TIMES_US[4]))).limited_by == "link"


@pytest.mark.parametrize("slots", TIMES_US)
def test_the_estimate_is_exact_with_any_window(slots):
    assert loss_free_ps(plan_of(f"switch.slots={slots}")) == ps(TIMES_US[slots])


def test_exponents_cost_a_tensor_within_the_window_a_round_trip():
    plan = plan_of("collective.size=2 KiB", "collective.dtype=float32")
    # Two round trips of 3638.4 ns and one more packet of 819.2 ns.
    assert loss_free_ps(plan) == 2 * 3_638_400 + 819_200


def test_a_tensor_within_the_window_is_not_limited_by_the_window():
    plan = plan_of("switch.slots=1", "collective.size=1 KiB")
    assert diagnose(plan, trace_of(plan, loss_free_ps(plan))).limited_by == "latency"


def test_a_late_starter_is_named_with_its_delay():
    plan = plan_of("workers.3.start=200 us")
    found = diagnose(plan, trace_of(plan, ps(1041.68)))
    assert found.limited_by == "straggler"
    assert "Worker 3 started 200 us after the first" in found.because
    assert "workers.3.start" in found.help


def test_all_workers_starting_late_are_no_stragglers():
    plan = plan_of(*(f"workers.{rank}.start=200 us" for rank in range(4)))
    assert diagnose(plan, trace_of(plan, ps(1041.68))).limited_by == "link"


def test_a_worker_with_a_slow_link_is_a_straggler():
    plan = plan_of("workers.2.link.rate=1 Gbps")
    found = diagnose(plan, trace_of(plan, loss_free_ps(plan)))
    assert found.limited_by == "straggler"
    assert "Worker 2's link has 1 Gbps, the typical worker's 10 Gbps" in found.because


def test_a_slow_host_among_fast_ones_is_a_straggler():
    plan = plan_of("workers.1.host.receive=3 us")
    found = diagnose(plan, trace_of(plan, loss_free_ps(plan)))
    assert found.limited_by == "straggler"
    assert "Worker 1 spends 3 us on a packet" in found.because


def test_hosts_that_are_all_slow_limit_by_the_host():
    plan = plan_of("host.send=1 us", "host.receive=1 us")
    time = loss_free_ps(plan)
    found = diagnose(plan, trace_of(plan, time, ranks={0: {"cpu_busy_ps": time}}))
    assert found.limited_by == "host"
    assert "host.cores, now 1" in found.help
    assert "its 1 core worked 100 % of the time" in found.because


def test_a_paused_worker_is_a_straggler():
    plan = plan_of("faults=[{pause: {node: 1, at: 100 us, for: 500 us}}]")
    found = diagnose(plan, trace_of(plan, ps(1341.68)))
    assert found.limited_by == "straggler"
    assert "Worker 1 stood still" in found.because


def test_time_lost_to_losses_is_loss_recovery():
    plan = plan_of()
    trace = trace_of(
        plan, ps(2841.68), ranks={1: {"retransmissions": 2, "timeouts": 2}}, links={3: {"lost": 2}}
    )
    found = diagnose(plan, trace)
    assert found.limited_by == "loss recovery"
    assert "2 packets of 0 did not arrive" in found.because
    assert "2 ms, 70.4 % of the time" in found.because
    assert "host.rto" in found.help


def test_time_lost_to_queue_drops_is_the_queue():
    plan = plan_of("topology.link.queue=8 KiB")
    trace = trace_of(
        plan, ps(2841.68), ranks={1: {"retransmissions": 9}}, links={3: {"queue_dropped": 9}}
    )
    found = diagnose(plan, trace)
    assert found.limited_by == "queue"
    assert "switch -> worker1 (8192 B" in found.because
    assert "topology.link.queue" in found.help


def test_a_resend_that_costs_nothing_does_not_blame_the_losses():
    plan = plan_of()
    trace = trace_of(plan, ps(842), ranks={1: {"retransmissions": 1}}, links={3: {"lost": 1}})
    assert diagnose(plan, trace).limited_by == "link"


def test_an_empty_tensor_has_nothing_to_gain():
    plan = plan_of("collective.size=0 B")
    trace = trace_of(plan, 0, links={n: {"busy_ps": 0} for n in range(8)})
    found = diagnose(plan, trace)
    assert found.because == "Nothing had to be sent."


@pytest.mark.parametrize(
    ("costs", "limit"),
    [
        ({"window": 6, "latency": 90}, "window"),
        ({"window": 5, "latency": 40}, "link"),
        ({"window": 5, "latency": 50}, "latency"),
        ({"straggler": 30, "loss recovery": 31}, "loss recovery"),
    ],
)
def test_the_largest_cost_above_a_twentieth_of_the_run_wins(costs, limit):
    assert limiting(100, costs) == limit


def test_the_time_is_the_last_workers():
    plan = plan_of()
    assert finish_time_ps(plan, trace_of(plan, 10, ranks={2: {"finish_ps": 17}})) == 17
