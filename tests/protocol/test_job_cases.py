"""Losses, restarts and repeats in a job. Two workers and one slot unless said."""

import numpy as np
import pytest
from aggregation_net import AggregationNet, floats, integers, results, start, tensor_of

from innet.protocol.endpoint import HelpGiven, Retransmitted, StaleDropped

BOTH_PROTOCOLS = pytest.mark.parametrize("guard", [True, False], ids=["guarded", "published"])


@BOTH_PROTOCOLS
def test_case_21_a_lost_update_is_sent_again_with_one_multicast(guard):
    net = AggregationNet(2, 1, guard=guard)
    tensors = start(net, integers(1), integers(2))
    net.up[1].clear()
    net.settle()
    assert results(tensors) == [[0], [0]]
    assert [packet.number for packet in net.run_out(1)] == [0]
    net.settle()
    assert results(tensors) == [[3], [3]]
    assert (net.switch.completed, net.switch.unicasts) == (1, 0)
    assert net.counted("retransmissions") == 1


@BOTH_PROTOCOLS
def test_case_21_a_lost_result_is_answered_by_unicast_only(guard):
    net = AggregationNet(2, 1, guard=guard)
    tensors = start(net, integers(1), integers(2))
    net.to_switch(0)
    net.to_switch(1)
    net.down[0].clear()
    net.settle()
    net.run_out(0)
    net.settle()
    assert results(tensors) == [[3], [3]]
    assert (net.switch.completed, net.switch.unicasts) == (1, 1)


@BOTH_PROTOCOLS
def test_case_24_the_next_tensor_goes_on_with_the_other_set(guard):
    net = AggregationNet(2, 2, guard=guard)
    for turn in range(5):
        tensors = start(net, integers(1, 2, 3) * 10**turn, integers(4, 5, 6) * 10**turn)
        net.settle()
        assert results(tensors) == [[5 * 10**turn, 7 * 10**turn, 9 * 10**turn]] * 2
    assert net.switch.completed == 15


@BOTH_PROTOCOLS
def test_case_25_a_worker_that_restarts_one_chunk_behind_catches_up(guard):
    net = AggregationNet(2, 1, guard=guard)
    mine, theirs = start(net, integers(1, 10), integers(2, 20))
    for worker in (0, 1):
        net.to_switch(worker)
    for worker in (0, 1):
        net.to_worker(worker)
    net.up[1].clear()
    net.machines[1] = net.new_machines(1)
    again = [tensor_of(integers(2, 20), 1, 2)]
    net.all_reduce(1, again)
    net.settle()
    assert results([mine, again]) == [[3, 30], [3, 30]]
    assert theirs[0].stored == [0]


def test_case_25_a_worker_that_restarts_too_late_gets_no_sum_and_is_named():
    net = AggregationNet(2, 1)
    tensors = start(net, integers(1, 10, 100), integers(2, 20, 200))
    for _ in range(2):
        for worker in (0, 1):
            net.to_switch(worker)
        for worker in (0, 1):
            net.to_worker(worker)
    net.up[1].clear()
    net.machines[1] = net.new_machines(1)
    again = [tensor_of(integers(2, 20, 200), 1, 2)]
    net.all_reduce(1, again)
    for _ in range(5):
        net.settle()
        net.run_out(1)
    net.settle()
    assert again[0].stored == []
    assert results(tensors)[0] == [3, 30, 0]
    assert net.switch.stale_dropped == 6
    ((slot, in_set, number, _),) = net.waiting(0)
    assert net.switch.missing(slot, in_set, number) == [1]


def one_chunk_apart(net):
    """Worker 0 waits for chunk 1, worker 1 for chunk 0, and the switch has lost its registers."""
    tensors = start(net, integers(1, 10), integers(2, 20))
    net.to_switch(0)
    net.to_switch(1)
    net.down[1].clear()
    net.to_worker(0)
    net.switch.wipe()
    net.settle()
    return tensors


def test_case_26_the_published_job_is_silent_after_a_loss_of_state():
    net = AggregationNet(2, 1, guard=False)
    tensors = one_chunk_apart(net)
    for _ in range(20):
        net.run_out(0)
        net.run_out(1)
        net.settle()
    assert results(tensors) == [[3, 0], [0, 0]]
    assert net.counted("helps_answered") == 0


def test_case_26_the_guarded_job_goes_on_after_a_loss_of_state():
    net = AggregationNet(2, 1, guard=True)
    tensors = one_chunk_apart(net)
    for _ in range(2):
        net.run_out(1)
        net.settle()
    assert results(tensors) == [[3, 30], [3, 30]]
    assert net.events_of(HelpGiven) == {0: [HelpGiven(0, 0)]}
    assert net.switch.helps_sent == 1


def test_case_26_a_worker_that_has_finished_answers_a_call_for_help():
    net = AggregationNet(2, 1)
    tensors = start(net, floats(1.5), floats(2.25))
    for worker in (0, 1):  # the exponents
        net.to_switch(worker)
    net.to_worker(0)
    net.to_worker(1)
    for worker in (0, 1):
        net.to_switch(worker)
    net.down[1].clear()
    net.settle()
    assert net.done == [1, 0]
    net.switch.wipe()
    for _ in range(2):
        net.run_out(1)
        net.settle()
    assert results(tensors) == [[3.75], [3.75]]
    assert net.counted("helps_answered") == 1


def test_case_26_help_comes_from_the_tensor_before():
    net = AggregationNet(2, 1)
    first = start(net, integers(1), integers(2))
    net.to_switch(0)
    net.to_switch(1)
    net.to_worker(0)
    net.down[1].clear()
    net.switch.wipe()
    second = [tensor_of(integers(10), 1, 2)]
    net.all_reduce(0, second)
    for _ in range(2):
        net.run_out(1)
        net.settle()
    assert results(first) == [[3], [3]]
    last = [tensor_of(integers(20), 1, 2)]
    net.all_reduce(1, last)
    net.settle()
    assert results([second, last]) == [[30], [30]]


def test_case_26_help_is_asked_for_from_the_third_try_on_by_a_guarded_worker():
    for guard, asked in ((True, [False, False, True, True]), (False, [False] * 4)):
        net = AggregationNet(2, 1, guard=guard)
        start(net, integers(1))
        for _ in range(3):
            net.run_out(0)
        assert [packet.asks_help for packet in net.up[0]] == asked
        assert [event.tries for event in net.events_of(Retransmitted)[0]] == [1, 2, 3]


def test_case_27_an_exponent_is_formed_from_all_workers():
    net = AggregationNet(2, 1)
    tensors = start(net, floats(0.5, 0.25), floats(1000, 4))
    net.up[1].clear()  # the first batch's upload is lost
    net.settle()
    net.run_out(0)
    net.settle()
    assert [place[2] for place in net.waiting(0)] == [0]  # still the exponents' round
    net.run_out(1)
    net.settle()
    assert results(tensors) == [[1000.5, 4.25], [1000.5, 4.25]]


@BOTH_PROTOCOLS
def test_case_28_a_repeat_is_the_packet_that_was_sent(guard):
    net = AggregationNet(1, 4, guard=guard)
    start(net, np.arange(70, 80, dtype=np.int32), k=2)
    first = list(net.up[0])
    assert [packet.number for packet in first] == [0, 1, 2, 3]
    again = net.run_out(0)
    for packet, repeat in zip(first, again, strict=True):
        assert repeat[:-1] == packet[:-1]
        assert repeat.values.tolist() == packet.values.tolist()
    net.up[0].clear()
    net.down[0].clear()
    net.up[0] += again
    for _ in again:
        net.to_switch(0)
    net.to_worker(0)  # slot 0 is through, and goes on with chunk 4
    assert [packet.number for packet in net.up[0]] == [4]
    net.up[0].clear()
    repeats = {packet.slot: packet for packet in net.run_out(0) + net.run_out(0)}
    assert repeats[0].number == 4
    assert repeats[0].values.tolist() == [78, 79]
    assert repeats[3].number == 3
    assert repeats[3].values.tolist() == [76, 77]


def test_case_29_a_worker_takes_nothing_from_a_job_with_the_same_low_byte():
    net = AggregationNet(1, 1, job=257)
    tensors = start(net, integers(5))
    net.to_switch(0)
    (mine,) = net.down[0]
    net.down[0].insert(0, mine._replace(job=1, values=integers(99)))
    net.to_worker(0)
    assert net.events_of(StaleDropped) == {0: [StaleDropped(0, 0)]}
    net.to_worker(0)
    assert results(tensors) == [[5]]


@pytest.mark.parametrize("wiped", [False, True])
@pytest.mark.parametrize("first_number", [2**31 - 5, 2**32 - 5, 2**32 - 1])
def test_case_30_numbers_wrap_with_and_without_wiped_registers(first_number, wiped):
    net = AggregationNet(2, 3, first_number=first_number)
    for turn in range(3):
        mine = np.arange(4, dtype=np.int32) + turn
        tensors = start(net, mine, mine * 100)
        if wiped:
            for _ in range(3):
                net.to_switch(1)
            net.switch.wipe()
        net.settle()
        while any(net.waiting(worker) for worker in (0, 1)):
            for worker in (0, 1):
                if net.waiting(worker):
                    net.run_out(worker)
            net.settle()
        assert results(tensors) == [(mine * 101).tolist()] * 2
    assert net.switch.stale_dropped == 0
