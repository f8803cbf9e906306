"""What a link does at the agent's edge: the draws of the simulator, and the faults of the plan."""

from dataclasses import replace

import pytest

from innet.draws import LOSS, draw, stream_key
from innet.emulator.agent.lane import Lane
from innet.scenario.build import build_plan
from innet.scenario.load import parse_scenario

MS = 10**9
SCENARIO = """\
version: 1
name: lane
seed: 11
topology: {kind: star, workers: 2, link: {rate: 10 Gbps, delay: 1 us}}
collective: {size: 4 KiB, dtype: int32}
algorithms: [in_network]
"""
UPLINK_OF_1 = 2  # of a star: 2r is the uplink of worker r


def plan_of(*overrides):
    return build_plan(parse_scenario(SCENARIO, overrides=overrides), "in_network", True, 1024)


@pytest.fixture
def arrived():
    return []


def lane_of(arrived, *overrides):
    return Lane(plan_of(*overrides), UPLINK_OF_1, arrived.append)


def send(lane, count, now=0, first=1):
    for packet in range(first, first + count):
        lane.send(packet, "update", packet, 100, now)


def test_a_link_without_faults_delivers_at_once_in_order(arrived):
    lane = lane_of(arrived)
    send(lane, 5)
    assert arrived == [1, 2, 3, 4, 5]
    assert lane.next_time() is None
    record = lane.record()
    assert (record.link, record.packets, record.bytes, record.lost) == (UPLINK_OF_1, 5, 500, 0)


def test_the_packets_that_are_lost_are_those_that_the_simulator_loses(arrived):
    lane = lane_of(arrived, "topology.link.loss=0.25")
    send(lane, 1000)
    key = stream_key(11, UPLINK_OF_1, LOSS)
    lost = {count for count in range(1, 1001) if draw(key, count) < 2**62}
    assert set(arrived) == set(range(1, 1001)) - lost
    assert lane.record().lost == len(lost)


def test_a_workers_own_link_may_lose_more(arrived):
    lane = lane_of(arrived, "workers.1.link.loss=0.9")
    send(lane, 100)
    assert lane.record().lost > 50
    other = Lane(plan_of("workers.1.link.loss=0.9"), 0, arrived.append)
    send(other, 100)
    assert other.record().lost == 0


def test_drop_and_corrupt_take_the_packets_that_they_name(arrived):
    faults = "[{drop: {from: 1, to: switch, packet: [2, 4]}}, "
    faults += "{corrupt: {from: 1, to: switch, packet: 5}}]"
    lane = lane_of(arrived, f"faults={faults}")
    send(lane, 6)
    assert arrived == [1, 3, 6]
    record = lane.record()
    assert (record.lost, record.corrupted) == (2, 1)


def test_a_fault_may_choose_by_kind_number_and_time(arrived):
    faults = "[{drop: {from: 1, to: switch, kind: help}}, {drop: {from: 1, to: switch, chunk: 3}}, "
    faults += "{drop: {from: 1, to: switch, after: 10 ms, until: 20 ms}}]"
    lane = lane_of(arrived, f"faults={faults}")
    send(lane, 4)
    lane.send(5, "help", 1, 100, 0)
    lane.send(6, "update", 6, 100, 10 * MS)
    lane.send(7, "update", 7, 100, 20 * MS)
    assert arrived == [1, 2, 4, 7]


def test_a_duplicate_comes_later(arrived):
    lane = lane_of(arrived, "faults=[{duplicate: {from: 1, to: switch, packet: 1, by: 3 ms}}]")
    send(lane, 2)
    assert arrived == [1, 2]
    assert lane.next_time() == 3 * MS
    lane.due(3 * MS - 1)
    assert arrived == [1, 2]
    lane.due(3 * MS)
    assert arrived == [1, 2, 1]
    assert lane.record().duplicated == 1


def test_a_reordered_packet_is_overtaken_and_a_delayed_one_is_not(arrived):
    lane = lane_of(arrived, "faults=[{reorder: {from: 1, to: switch, packet: 1, by: 3 ms}}]")
    send(lane, 3)
    lane.due(3 * MS)
    assert arrived == [2, 3, 1]
    arrived.clear()
    lane = lane_of(arrived, "faults=[{delay: {from: 1, to: switch, packet: 1, by: 3 ms}}]")
    send(lane, 3)
    assert arrived == []
    lane.due(3 * MS)
    assert arrived == [1, 2, 3]


def test_a_sender_that_vanishes_takes_with_it_what_is_held_back(arrived):
    lane = lane_of(arrived, "faults=[{delay: {from: 1, to: switch, by: 3 ms}}]")
    send(lane, 3)
    lane.cut()
    lane.due(10 * MS)
    assert arrived == []
    assert lane.next_time() is None


def test_another_seed_loses_other_packets(arrived):
    plan = plan_of("topology.link.loss=0.5")
    other = []
    for seed, into in ((plan.seed, arrived), (plan.seed + 1, other)):
        send(Lane(replace(plan, seed=seed), UPLINK_OF_1, into.append), 200)
    assert arrived != other
