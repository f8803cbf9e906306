"""In-network aggregation against ns-3: figures that it gave, and ns-3 itself where it is there.

ns-3's devices are raw point-to-point ones, as innet's links are: a rate, a delay, a FIFO queue.
At a resolution of a picosecond both must agree exactly. At its usual nanosecond ns-3 takes 819 ns
for a packet of 819.2 ns; innet does the same at RATE_OF_819_NS.
"""

import pytest
from ns3_programs import build_ns3_program, finish_times_ps, needs_ns3, star_command
from stars import finish_times, star_plan

PACKET_BYTES = 1024
RATE_OF_819_NS = f"{PACKET_BYTES * 8 * 10**12 / 819_000:.0f} bps"


@pytest.fixture(scope="module")
def ns3_star(tmp_path_factory):
    return build_ns3_program("ns3_star", tmp_path_factory.mktemp("ns3"))


def small_star(rate: str, slots: int, rates=None):
    return star_plan(
        "in_network",
        1024 * PACKET_BYTES,
        workers=4,
        rate=rate,
        delay="1 us",
        slots=slots,
        rates=rates,
    )


# Four workers at 10 Gbps, 1 us a link, 1024 packets: end in ps, exact and as ns-3 rounds it.
WINDOWS = {
    1: (3_725_721_600, 3_725_312_000),
    2: (1_863_680_000, 1_863_475_000),
    4: (933_888_000, 933_785_000),
    5: (841_680_000, 841_475_000),
    64: (841_680_000, 841_475_000),
}


@pytest.mark.parametrize("slots", WINDOWS)
def test_small_windows_take_as_long_as_in_ns3(slots):
    exact_ps, rounded_ps = WINDOWS[slots]
    assert finish_times(small_star("10 Gbps", slots)) == [exact_ps] * 4
    assert finish_times(small_star(RATE_OF_819_NS, slots)) == [rounded_ps] * 4


def test_one_slow_worker_ends_last_and_holds_up_the_others():
    times_ps = finish_times(small_star(RATE_OF_819_NS, 16, rates={3: "1 Gbps"}))
    assert [round(time_ps / 1e5) / 10 for time_ps in times_ps] == [8391.4] * 3 + [8398.8]


@needs_ns3
@pytest.mark.parametrize("slots", WINDOWS)
@pytest.mark.parametrize(("resolution", "rate"), [("ps", "10 Gbps"), ("ns", RATE_OF_819_NS)])
def test_ns3_itself_ends_at_the_same_instants(ns3_star, resolution, rate, slots):
    command = star_command(
        ns3_star,
        rates=["10Gbps"] * 4,
        packet_bytes=PACKET_BYTES,
        chunks=1024,
        window=slots,
        delay="1us",
        latency="0ns",
        resolution=resolution,
    )
    assert finish_times(small_star(rate, slots)) == finish_times_ps(command)


# Rates at which a packet takes a whole number of picoseconds, so that nothing is rounded.
@needs_ns3
@pytest.mark.parametrize("slots", [3, 16, 200])
@pytest.mark.parametrize("slow", [{3: "1 Gbps"}, {0: "4 Gbps", 2: "25 Gbps", 4: "2 Gbps"}])
def test_ns3_itself_agrees_on_unequal_links(ns3_star, slow, slots):
    rates = [slow.get(rank, "10 Gbps") for rank in range(5)]
    command = star_command(
        ns3_star,
        rates=[rate.replace(" ", "") for rate in rates],
        packet_bytes=PACKET_BYTES,
        chunks=500,
        window=slots,
        delay="700ns",
        latency="350ns",
        resolution="ps",
    )
    plan = star_plan(
        "in_network",
        500 * PACKET_BYTES,
        workers=5,
        rate="10 Gbps",
        delay="700 ns",
        latency="350 ns",
        slots=slots,
        rates=slow,
    )
    assert finish_times(plan) == finish_times_ps(command)


# 100 Gbps, 500 ns a link, 400 ns in the switch, packets of 1080 B, 128 slots; ns-3 and htsim
# both end here.
@pytest.mark.parametrize(
    ("workers", "size_bytes", "time_ps"),
    [(8, 10**7, 845_268_800), (64, 2 * 10**6, 170_312_000)],
)
def test_large_stars_end_when_ns3_and_htsim_do(workers, size_bytes, time_ps):
    plan = star_plan(
        "in_network",
        size_bytes,
        workers=workers,
        rate="100 Gbps",
        delay="500 ns",
        latency="400 ns",
        packet="{elements: 256, overhead: 56 B}",
    )
    assert finish_times(plan) == [time_ps] * workers
