"""The agent around its machines: times, faults of its node, counts. The network is a list."""

from collections import Counter

import numpy as np
import pytest

from innet.emulator.agent.agent import Agent, real_timeout
from innet.protocol.endpoint import HELP, RESULT, UPDATE
from innet.scenario.build import build_plan
from innet.scenario.load import parse_scenario

MS = 10**9
JOB = 9
SCENARIO = """\
version: 1
name: agent
topology: {kind: star, workers: 2, link: {rate: 10 Gbps, delay: 1 us}}
switch: {slots: 2}
packet: {elements: 32}
host: {rto: 50 ms}
collective: {size: 512 B, dtype: int32}
algorithms: [in_network]
"""


class ListPath:
    """A path that keeps what is sent, and gives what was put in."""

    def __init__(self):
        self.dropped = Counter()
        self.sent = []
        self.waiting = []

    def descriptors(self):
        return [5]

    def send(self, core, update):
        self.sent.append((core, update))

    def receive(self):
        taken, self.waiting = self.waiting, []
        return taken

    def numbers(self):
        return [update.number for _, update in self.sent]


def plan_of(*overrides, elements=128):
    scenario = parse_scenario(SCENARIO, overrides=overrides)
    return build_plan(scenario, "in_network", True, elements)


def make(*overrides, worker=0):
    path = ListPath()
    vector = np.arange(128, dtype=np.int32)
    return Agent(plan_of(*overrides), worker, vector, path, JOB), path


def answer(update, add=1000, **changes):
    """The switch's sum for an update: its values with `add` added."""
    given = {"kind": RESULT, "asks_help": False, "values": update.values + np.int32(add)}
    return update._replace(**{**given, **changes})


def give(agent, path, packets, now):
    path.waiting += packets
    agent.on_readable(now)


def run_to_the_end(agent, path, now):
    while not agent.finished:
        sent, path.sent = path.sent, []
        give(agent, path, [answer(update) for _, update in sent], now)


def test_an_agent_sends_its_window_and_then_one_chunk_a_result():
    agent, path = make()
    assert agent.next_time() == 0
    agent.on_time(0)
    assert path.numbers() == [0, 1]
    core, first = path.sent[0]
    assert (core, *first[:-1]) == (0, UPDATE, JOB, 0, 0, 0, 0, False, 0)
    assert first.values.tolist() == list(range(32))
    give(agent, path, [answer(first)], 1)
    assert path.numbers() == [0, 1, 2]
    assert (path.sent[2][1].slot, path.sent[2][1].set) == (0, 1)
    assert agent.progress() == (1, 4)
    run_to_the_end(agent, path, 2)
    assert agent.result().tolist() == (np.arange(128) + 1000).tolist()
    assert agent.record().finish_ps == 2


def test_a_worker_starts_when_its_scenario_says():
    agent, path = make("workers.1.start=30 ms", worker=1)
    assert agent.next_time() == 30 * MS
    agent.on_time(30 * MS)
    assert path.numbers() == [0, 1]


def test_a_timeout_sends_again_and_the_third_try_asks_for_help():
    agent, path = make()
    for now in (0, 50 * MS, 150 * MS):
        agent.on_time(now)
    assert path.numbers() == [0, 1] * 3
    assert [update.asks_help for _, update in path.sent] == [False] * 4 + [True] * 2
    assert agent.waiting() == [(0, 0, 0, 2), (1, 0, 1, 2)]
    record = agent.record()
    assert (record.packets_sent, record.retransmissions, record.timeouts) == (6, 4, 4)


def test_a_call_for_help_is_answered_with_the_old_chunk():
    agent, path = make()
    agent.on_time(0)
    first = path.sent[0][1]
    give(agent, path, [answer(first)], 1)
    call = first._replace(kind=HELP, values=None)
    give(agent, path, [call], 2)
    core, again = path.sent[-1]
    assert (core, again[:-1]) == (0, first[:-1])
    assert again.values.tolist() == first.values.tolist()
    assert agent.record().helps_answered == 1


def test_what_is_stale_or_of_another_job_is_dropped_and_is_no_progress():
    agent, path = make()
    agent.on_time(0)
    first = path.sent[0][1]
    give(agent, path, [answer(first), answer(first)], 1)
    give(agent, path, [answer(first, job=JOB + 1), answer(first, slot=700)], 2)
    assert agent.dropped() == {"stale": 3}
    assert agent.progress() == (1, 4)


def test_a_pause_keeps_packets_waiting():
    agent, path = make("faults=[{pause: {node: 0, at: 10 ms, for: 100 ms}}]")
    agent.on_time(0)
    agent.on_time(10 * MS)
    assert agent.state == "paused"
    assert agent.descriptors() == ()
    assert agent.next_time() == 110 * MS
    agent.on_time(109 * MS)
    assert path.numbers() == [0, 1]
    agent.on_time(110 * MS)
    assert agent.state == "running"
    assert list(agent.descriptors()) == [5]
    assert path.numbers() == [0, 1, 0, 1]


def test_a_crash_loses_everything_for_good():
    agent, path = make("faults=[{crash: {node: 0, at: 10 ms}}]")
    agent.on_time(0)
    agent.on_time(10 * MS)
    give(agent, path, [answer(path.sent[0][1])], 20 * MS)
    agent.on_time(1000 * MS)
    assert path.numbers() == [0, 1]
    assert agent.state == "gone"
    assert agent.next_time() is None
    assert not agent.finished


def test_a_crash_before_the_start_sends_nothing():
    agent, path = make("workers.0.start=30 ms", "faults=[{crash: {node: 0, at: 10 ms}}]")
    agent.on_time(10 * MS)
    agent.on_time(30 * MS)
    assert path.sent == []


def test_a_restart_begins_again_with_its_first_chunk():
    agent, path = make("faults=[{restart: {node: 0, at: 10 ms, for: 5 ms}}]")
    agent.on_time(0)
    give(agent, path, [answer(path.sent[0][1])], 1)
    agent.on_time(10 * MS)
    agent.on_time(15 * MS)
    assert path.numbers() == [0, 1, 2, 0, 1]
    path.sent = path.sent[3:]
    run_to_the_end(agent, path, 16 * MS)
    assert agent.result().tolist() == (np.arange(128) + 1000).tolist()
    assert agent.record().packets_sent == 7


@pytest.mark.parametrize("verb", ["pause", "restart"])
@pytest.mark.parametrize(("at", "back"), [(10, 15), (10, 50)])
def test_a_worker_that_is_away_starts_once_when_it_can(verb, at, back):
    fault = f"{{{verb}: {{node: 0, at: {at} ms, for: {back - at} ms}}}}"
    agent, path = make("workers.0.start=30 ms", f"faults=[{fault}]")
    for now in (at, 20, 30, 50):
        agent.on_time(now * MS)
        assert bool(path.sent) == (now >= max(back, 30))
    assert path.numbers() == [0, 1]


def test_losses_up_and_down_are_counted_on_the_right_link():
    faults = "[{drop: {from: 0, to: switch, packet: 1}}, {drop: {from: switch, to: 0, packet: 1}}]"
    agent, path = make(f"faults={faults}")
    agent.on_time(0)
    assert path.numbers() == [1]
    give(agent, path, [answer(path.sent[0][1])], 1)
    assert agent.progress() == (0, 4)
    up, down = agent.links()
    assert (up.link, up.packets, up.lost, up.bytes) == (0, 2, 1, 2 * 204)
    assert (down.link, down.packets, down.lost) == (1, 1, 1)
    assert agent.record().packets_sent == 2
    assert agent.record().packets_received == 0


def test_held_back_packets_leave_when_they_are_due():
    agent, path = make("faults=[{delay: {from: 0, to: switch, packet: 1, by: 7 ms}}]")
    agent.on_time(0)
    assert path.sent == []
    assert agent.next_time() == 7 * MS
    agent.on_time(7 * MS)
    assert path.numbers() == [0, 1]


def test_floats_send_exponents_first():
    agent, path = make("collective.dtype=float32")
    agent.on_time(0)
    assert [update.exponent for _, update in path.sent] == [5, 6]  # max 31 < 2^5, 63 < 2^6
    assert [update.values for _, update in path.sent] == [None] * 2
    assert agent.progress() == (0, 4 + 2)


@pytest.mark.parametrize("workers", [2, 16])
def test_an_adaptive_timeout_leaves_room_for_a_full_window_of_all(workers):
    """A switch in software takes about 50 us a packet; 1000 chunks of each worker wait."""
    overrides = ("host.rto=adaptive", f"topology.workers={workers}", "switch.slots=1024")
    plan = plan_of(*overrides, elements=32 * 1000)
    timeout = real_timeout(plan)
    window_ps = workers * 1000 * 50 * 10**6
    assert timeout.minimum == 2 * window_ps
    assert timeout.initial == max(3 * window_ps, 200 * MS)
    assert timeout.maximum >= 2 * timeout.initial


def test_a_fixed_timeout_stays_as_it_is():
    timeout = real_timeout(plan_of())
    assert (timeout.adaptive, timeout.initial, timeout.minimum) == (False, 50 * MS, 50 * MS)
