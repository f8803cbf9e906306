"""Times that have a closed form, or that other simulators gave, at sizes that need no events."""

import pytest

from innet.engine.recurrence.run import run_recurrence
from tests.engine.recurrence.made_stars import plan_of, star

DELAY_PS = LATENCY_PS = 10**6
PACKET_PS = 163_200


def finish_ps(plan):
    (finish,) = {rank.finish_ps for rank in run_recurrence(plan).ranks}
    return finish


# (slots, chunks): us, from T = (N + 1) t + 2d + g, or m RTT + (N - (m - 1) s - 1) t.
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
def test_the_latency_of_a_small_window_and_of_a_full_link(slots, chunks, time_ps):
    assert finish_ps(star(slots=slots, chunks=chunks)) == time_ps


def test_a_late_worker_makes_all_as_late():
    plan = star(slots=128, chunks=1000, more="workers: {1: {start: 50 us}}")
    assert finish_ps(plan) == 216_363_200


@pytest.mark.parametrize("chunks", [10**4, 10**6 + 7, 10**8])
def test_a_full_link_takes_a_packet_time_a_chunk(chunks):
    plan = star(slots=64, chunks=chunks)
    assert finish_ps(plan) == (chunks + 1) * PACKET_PS + 2 * DELAY_PS + LATENCY_PS


# ns-3 and htsim gave these instants for 1080-byte packets, 128 slots, 500 ns a link and
# 400 ns in the switch.
@pytest.mark.parametrize(
    ("workers", "size_bytes", "rate", "time_ps"),
    [
        (8, 10_000_000, "100 Gbps", 845_268_800),
        (8, 100_000_000, "100 Gbps", 8_439_051_200),
        (8, 100_000_000, "10 Gbps", 84_377_912_000),
        (64, 2_000_000, "100 Gbps", 170_312_000),
        (512, 2_000_000, "100 Gbps", 170_312_000),
    ],
)
def test_large_stars_end_when_other_simulators_say(workers, size_bytes, rate, time_ps):
    chunks = -(-size_bytes // 1024)
    plan = plan_of(f"""
version: 1
name: star
topology: {{workers: {workers}, link: {{rate: {rate}, delay: 500 ns}}}}
switch: {{latency: 400 ns, slots: 128}}
packet: {{elements: 256, overhead: 56 B}}
collective: {{size: {1024 * chunks} B, dtype: int32, check: never}}
algorithms: [in_network]
""")
    assert finish_ps(plan) == time_ps
