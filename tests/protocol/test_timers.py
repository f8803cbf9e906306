"""When a packet is sent again: the estimator's closed forms, back-off and its end."""

import heapq
import itertools
import random

import pytest
from aggregation_net import AggregationNet, integers, results, start

from innet.protocol.endpoint import RESULT, AggregationPacket, Retransmitted
from innet.protocol.machine import Timeout
from innet.protocol.transitions import (
    NEW_TIMER,
    TIMER_STATE,
    rto_answered,
    rto_answered_again,
    rto_back_off,
    rto_interval,
    rto_repeated,
    rto_time,
    worker_timeout,
)
from innet.protocol.worker import AggregationWorker


def interval(timer, tries=0, *, at=0, initial=1000, minimum=1, maximum=10**12, adaptive=True):
    return rto_interval(timer, at, adaptive, initial, minimum, maximum, tries)


def measure(timer, *round_trips, at=0):
    now = 0
    for round_trip in round_trips:
        rto_time(timer, at, 7, now)
        now += round_trip
        assert rto_answered(timer, at, 7, now)


def test_the_first_round_trip_r_makes_3_r():
    """RFC 6298, (2.2): the estimate is R, its variation R/2, and R + 4 R/2 is waited."""
    timer = list(NEW_TIMER)
    assert interval(timer) == 1000
    measure(timer, 800)
    assert interval(timer) == 2400


def test_the_next_round_trips_are_smoothed():
    """RFC 6298, (2.3): 7/8 and 1/8 of the estimate, 3/4 and 1/4 of the variation."""
    timer = list(NEW_TIMER)
    measure(timer, 800, 1600)
    variation = 400 * 3 / 4 + (1600 - 800) / 4
    smoothed = 800 * 7 / 8 + 1600 / 8
    assert interval(timer) == smoothed + 4 * variation


def test_without_variation_twice_the_round_trip_is_waited():
    timer = list(NEW_TIMER)
    measure(timer, *[800] * 60)
    assert interval(timer) == 1600


def test_a_round_trip_of_nothing_is_a_round_trip():
    timer = list(NEW_TIMER)
    measure(timer, 0, 0, 0)
    assert interval(timer, minimum=5) == 5


def test_the_interval_has_a_minimum_and_a_maximum():
    timer = list(NEW_TIMER)
    measure(timer, 800)
    assert interval(timer, minimum=5000) == 5000
    assert interval(timer, maximum=2000) == 2000
    assert interval(timer, 500, maximum=10**9) == 10**9


def test_each_timeout_doubles_the_interval():
    assert [interval(list(NEW_TIMER), tries) for tries in range(4)] == [1000, 2000, 4000, 8000]
    fixed = [interval(list(NEW_TIMER), tries, adaptive=False, maximum=3000) for tries in range(4)]
    assert fixed == [1000, 2000, 3000, 3000]


def test_a_fixed_interval_learns_nothing():
    timer = list(NEW_TIMER)
    measure(timer, 800)
    rto_back_off(timer, 0, 3)
    assert interval(timer, adaptive=False) == 1000


def test_a_back_off_lasts_until_a_packet_that_was_sent_once_is_answered():
    timer = list(NEW_TIMER)
    rto_back_off(timer, 0, 3)
    rto_back_off(timer, 0, 1)  # another packet's first timeout takes nothing back
    assert interval(timer) == 8000
    assert interval(timer, 4) == 16000  # a packet that has timed out more often waits longer
    rto_time(timer, 0, 7, 0)
    rto_repeated(timer, 0, 7)
    assert not rto_answered(timer, 0, 7, 50)  # Karn: the answer could be to either
    assert interval(timer) == 8000
    measure(timer, 800)
    assert interval(timer) == 2400


def test_one_packet_is_measured_at_a_time():
    timer = list(NEW_TIMER)
    rto_time(timer, 0, 1, 100)
    rto_time(timer, 0, 2, 150)
    rto_repeated(timer, 0, 2)  # not the one that is measured
    assert not rto_answered(timer, 0, 2, 200)
    assert rto_answered(timer, 0, 1, 900)
    assert interval(timer) == 2400
    assert not rto_answered(timer, 0, 1, 901)


def test_timers_lie_side_by_side():
    timer = [*NEW_TIMER, *NEW_TIMER]
    measure(timer, 800, at=TIMER_STATE)
    assert interval(timer) == 1000
    assert interval(timer, at=TIMER_STATE) == 2400
    assert Timeout(True, 1000, 1, 10**6).interval(timer, 1, 1) == 4800


# --- Workers on links with a delay -----------------------------------------------------------


def play(net, delay, loss, seed):
    """Run the job in order of time, with a delay a link and losses; return when it ends."""
    draws = random.Random(seed)
    ties = itertools.count()
    armed = set()
    coming = []  # (time, tie, link or None for a timer, worker, packet)

    def send():
        for worker in range(net.workers):
            for link in (net.up[worker], net.down[worker]):
                for packet in link:
                    if draws.random() >= loss:
                        event = (net.now + delay, next(ties), link, worker, packet)
                        heapq.heappush(coming, event)
                link.clear()
            deadline = net.machines[worker][0].next_deadline()
            if deadline is not None and (worker, deadline) not in armed:
                armed.add((worker, deadline))
                heapq.heappush(coming, (deadline, next(ties), None, worker, None))

    send()
    while not all(net.done):
        net.now, _, link, worker, packet = heapq.heappop(coming)
        if link is None:
            net.machines[worker][0].handle_timeout(net.now)
            net.flush(worker)
        else:
            link.append(packet)
            (net.to_switch if link is net.up[worker] else net.to_worker)(worker)
        send()
    return net.now


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("adaptive", [True, False])
def test_an_interval_far_below_the_round_trip_does_not_livelock(adaptive, seed):
    """A round trip of 2000 and a first interval of 20, with 30 % loss on every link."""
    timeout = Timeout(adaptive, 20, 1, 64_000)
    net = AggregationNet(2, 2, timeout=timeout)
    values = integers(*range(20))
    tensors = start(net, values, values)
    end = play(net, 1000, 0.3, seed)
    assert results(tensors) == [[2 * value for value in range(20)]] * 2
    assert end < 20 * 64_000
    if adaptive:
        assert net.counted("retransmissions") < 20 * 10


def test_a_packet_that_is_answered_twice_was_repeated_too_early():
    timer = list(NEW_TIMER)
    tries = [0, 0]
    rto_time(timer, 0, 1, 100)
    for times in (1, 2, 3):
        assert worker_timeout(tries, timer, 0, 1) == times
    assert worker_timeout(tries, timer, 0, 0) == 1
    assert interval(timer) == 1000  # other packets do not wait longer for it
    assert not rto_answered(timer, 0, 1, 900)
    rto_answered_again(timer, 0, 0)  # a copy that the network made
    assert interval(timer) == 1000
    for longer in (2000, 4000, 8000):
        rto_answered_again(timer, 0, 1)
        assert interval(timer) == longer
    measure(timer, 800)
    assert interval(timer) == 2400
    rto_answered_again(timer, 0, 1)
    assert interval(timer) == 2400


@pytest.mark.parametrize("first_interval", [1, 20, 1999])
def test_the_round_trip_is_learned_though_the_first_interval_is_too_short(first_interval):
    net = AggregationNet(1, 2, timeout=Timeout(True, first_interval, 1, 64_000))
    start(net, integers(*range(200)))
    assert play(net, 1000, 0.0, 0) == 100 * 2000
    last = max(event.number for event in net.events_of(Retransmitted)[0])
    assert last < 10  # of 200: from then on no packet is repeated


@pytest.mark.parametrize("seed", range(3))
def test_losses_do_not_make_everybody_wait_ever_longer(seed):
    """With 10 % loss on every link, a chunk takes a few intervals, not the longest one."""
    net = AggregationNet(4, 16, timeout=Timeout(True, 100_000, 6000, 64 * 100_000))
    values = integers(*range(640))
    start(net, *[values] * 4)
    assert play(net, 1000, 0.1, seed) < (640 / 16) * 20 * 6000


def answer(machine, slot, now):
    number, in_set = next(
        (number, in_set) for place, in_set, number, _ in machine.waiting() if place == slot
    )
    machine.receive(AggregationPacket(RESULT, 0, 0, slot, in_set, number), now)


@pytest.mark.parametrize(("adaptive", "deadline"), [(True, 3200), (False, 10**6)])
def test_the_first_round_trip_shortens_what_the_first_window_waits(adaptive, deadline):
    """A round trip of 800 makes an interval of 2400, from the instant it was measured."""
    machine = AggregationWorker(0, 3, Timeout(adaptive, 10**6, 1, 10**9))
    machine.all_reduce(96, 3, 0)
    answer(machine, 0, 800)
    assert machine.next_deadline() == deadline
    machine.packets_to_send()
    machine.handle_timeout(deadline)
    assert [packet.slot for _, packet in machine.packets_to_send()] == [1, 2]


def test_the_first_round_trip_does_not_shorten_a_back_off():
    machine = AggregationWorker(0, 3, Timeout(True, 1000, 1, 10**9))
    machine.all_reduce(3 * 64, 6, 0)
    machine.handle_timeout(1000)  # all three; slot 0's answer is to either of its packets
    answer(machine, 0, 1100)  # its next packet is the first that is measured
    answer(machine, 0, 1200)
    machine.packets_to_send()
    deadlines = [time for time in range(1200, 4000) if due(machine, time)]
    assert deadlines == [3000]


def due(machine, time):
    machine.handle_timeout(time)
    return machine.packets_to_send() != []


def test_time_advances_with_every_repeat():
    net = AggregationNet(1, 3, timeout=Timeout(True, 1, 1, 1000))
    start(net, integers(*range(3)))
    times = []
    for _ in range(30):
        net.run_out(0)
        times.append(net.now)
    assert times == sorted(set(times))
    assert times[-1] - times[-2] == 1000
    assert len(net.events_of(Retransmitted)[0]) == 90


def test_a_timeout_before_its_time_does_nothing():
    net = AggregationNet(1, 1)
    start(net, integers(5))
    (machine,) = net.machines[0]
    before = machine.next_deadline()
    machine.handle_timeout(before - 1)
    assert machine.packets_to_send() == []
    assert machine.next_deadline() == before
    net.settle()
    machine.handle_timeout(before)  # the deadline of what has been answered meanwhile
    assert machine.packets_to_send() == []
    assert machine.next_deadline() is None
