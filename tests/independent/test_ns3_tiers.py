"""Two tiers of switches against ns-3: figures that it gave, and ns-3 itself where it is there.

Packets have 1024 bytes and rates at which they take whole picoseconds, so both must agree exactly,
for sums in both tiers or in the root alone, and for rings and recursive doubling.
"""

from dataclasses import replace

import pytest
from ns3_programs import build_ns3_program, finish_times_ps, needs_ns3

from innet.collectives.algorithms import build_schedule
from innet.plan.operation import Operation
from innet.plan.plan import Stream
from tests.engine.made_networks import GBPS, RTO, US, Tiers, run, star_tree

PACKET_BYTES = 1024

# Tiers, packets of a vector, a block or a message, window in the network.
CASES = {
    "uplinks of 2.5 times the rate": (Tiers((2, 4), rates=(10 * GBPS, 25 * GBPS)), 50, 8),
    "uplinks of half the rate": (Tiers((4, 2), rates=(10 * GBPS, 5 * GBPS)), 50, 50),
    "no latencies": (Tiers((2, 2), (10 * GBPS, 40 * GBPS), (US, US), (0, 0)), 50, 500),
    "a small window": (Tiers((4, 4)), 30, 3),
}
# When the first and the last worker ended in ns-3 3.44, in ps.
ENDS = {
    ("uplinks of 2.5 times the rate", "levels"): (77_775_520, 77_775_520),
    ("uplinks of 2.5 times the rate", "root"): (85_148_320, 86_131_360),
    ("uplinks of 2.5 times the rate", "ring"): (645_974_880, 652_330_240),
    ("uplinks of 2.5 times the rate", "doubling"): (164_777_440, 165_760_480),
    ("uplinks of half the rate", "levels"): (93_896_800, 93_896_800),
    ("uplinks of half the rate", "root"): (175_816_800, 177_455_200),
    ("uplinks of half the rate", "ring"): (1_121_716_000, 1_158_856_800),
    ("uplinks of half the rate", "doubling"): (389_859_200, 394_774_400),
    ("no latencies", "levels"): (46_188_800, 46_188_800),
    ("no latencies", "root"): (46_393_600, 46_598_400),
    ("no latencies", "ring"): (269_904_000, 269_904_000),
    ("no latencies", "doubling"): (89_968_000, 90_172_800),
    ("a small window", "levels"): (121_406_400, 121_406_400),
    ("a small window", "root"): (150_897_600, 153_355_200),
    ("a small window", "ring"): (903_224_800, 910_563_200),
    ("a small window", "doubling"): (265_883_200, 273_256_000),
}


def messages(algorithm, blocks, tiers, packets):
    elements = blocks * packets * PACKET_BYTES // 4
    schedule = build_schedule(algorithm, tiers.workers, elements, 4)
    stream = Stream(PACKET_BYTES, 0, 0, 1024, "selective_repeat")
    group = tuple(range(tiers.workers))
    return Operation("all_reduce", group, elements, "int32", RTO, stream=stream, schedule=schedule)


def sums(tree, tiers, packets, window):
    operation = tiers.aggregated(packets, slots=window, tree=tree)
    sized = replace(operation.aggregation, packet_bytes=PACKET_BYTES)
    return replace(operation, aggregation=sized)


def times_of(operation, name):
    tiers, packets, window = CASES[name]
    asked = {
        "ring": lambda: messages("ring", tiers.workers, tiers, packets),
        "doubling": lambda: messages("recursive_doubling", 1, tiers, packets),
        "levels": lambda: sums(tiers.tree(), tiers, packets, window),
        "root": lambda: sums(star_tree(tiers.workers, tiers.workers), tiers, packets, window),
    }[operation]
    _, (times,) = run(tiers.fabric(), asked())
    return times


OPERATIONS = ("levels", "root", "ring", "doubling")


@pytest.mark.parametrize(("name", "operation"), ENDS)
def test_two_tiers_end_when_ns3_did(name, operation):
    times = times_of(operation, name)
    assert (min(times), max(times)) == ENDS[name, operation]


@pytest.fixture(scope="module")
def ns3_tiers(tmp_path_factory):
    return build_ns3_program("ns3_tiers", tmp_path_factory.mktemp("ns3"))


@needs_ns3
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_worker_ends_at_the_same_instant_as_in_ns3_itself(ns3_tiers, name, operation):
    tiers, packets, window = CASES[name]
    cables = zip(tiers.rates[:2], tiers.delays[:2], strict=True)
    words = [f"{word}" for rate, delay in cables for word in (f"{rate}bps", f"{delay}ps")]
    words += [f"{latency}ps" for latency in tiers.latencies[:2]]
    sizes = map(str, (*tiers.fans, PACKET_BYTES, packets, window))
    command = [str(ns3_tiers), operation, *sizes, *words]
    assert times_of(operation, name) == finish_times_ps(command)
