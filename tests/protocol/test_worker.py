"""The worker's machine alone."""

import pytest
from aggregation_net import FIXED_TIMEOUT, AggregationNet

from innet.protocol.endpoint import HELP, RESULT, UPDATE, AggregationPacket, CollectiveDone
from innet.protocol.worker import AggregationWorker


def started_worker(**more):
    worker = AggregationWorker(0, 2, FIXED_TIMEOUT, **more)
    worker.all_reduce(2, 2, 0)
    worker.packets_to_send()
    return worker


@pytest.mark.parametrize(
    "changes",
    [
        {"number": 2},
        {"number": 2**32},
        {"set": 1},
        {"slot": 1},
        {"slot": 2},
        {"slot": -1},
        {"job": 1},
        {"kind": UPDATE},
    ],
    ids=str,
)
def test_a_worker_drops_what_it_does_not_wait_for(changes):
    worker = started_worker()
    right = AggregationPacket(RESULT, 0, 0, 0, 0, 0)
    worker.receive(right._replace(**changes), 0)
    assert worker.stale == 1
    assert [place[2] for place in worker.waiting()] == [0, 1]
    worker.receive(right, 0)
    assert [place[2] for place in worker.waiting()] == [1]
    worker.receive(right, 0)  # a second time it is stale
    assert worker.stale == 2


@pytest.mark.parametrize("changes", [{}, {"number": 2}, {"set": 1}, {"set": 1, "number": 5}])
def test_a_worker_that_waits_for_the_chunk_ignores_a_call_for_help(changes):
    worker = started_worker()
    worker.receive(AggregationPacket(HELP, 0, 0, 0, 0, 0)._replace(**changes), 0)
    assert worker.packets_to_send() == []
    assert worker.helps_answered == 0
    assert worker.next_event() is None


def test_a_worker_helps_only_with_the_last_chunk_of_a_slot():
    worker = AggregationWorker(0, 1, FIXED_TIMEOUT)
    worker.all_reduce(3, 3, 0)
    for number in (0, 1):
        worker.receive(AggregationPacket(RESULT, 0, 0, 0, number, number), 0)
    worker.packets_to_send()
    for number, helps in ((0, 0), (1, 1), (2, 0)):
        worker.receive(AggregationPacket(HELP, 0, 0, 0, number % 2, number), 0)
        assert len(worker.packets_to_send()) == helps


def test_a_worker_counts_what_it_does():
    worker = started_worker()
    for deadline in (10, 30):
        worker.handle_timeout(deadline)
    worker.receive(AggregationPacket(RESULT, 0, 0, 1, 0, 1), 31)
    assert (worker.timeouts, worker.retransmissions, worker.completed) == (4, 4, 1)


def test_a_worker_is_guarded_unless_told_otherwise():
    worker = started_worker()
    for deadline in (10, 30):
        worker.handle_timeout(deadline)
    asked = [packet.asks_help for _, packet in worker.packets_to_send()]
    assert asked == [False, False, True, True]


def test_a_tensor_cannot_begin_before_the_last_one_has_ended():
    worker = started_worker()
    assert not worker.finished
    with pytest.raises(ValueError, match="not finished"):
        worker.all_reduce(1, 1, 0)


def test_timing_only_packets_carry_no_values():
    net = AggregationNet(2, 2)
    for worker in (0, 1):
        (machine,) = net.machines[worker]
        machine.all_reduce(5, 5, 0, None, True)
        net.flush(worker)
    net.settle()
    assert net.done == [1, 1]
    assert net.switch.completed == 5 + 2  # an exponent's round of a packet a slot
    assert net.events == [(0, CollectiveDone(5)), (1, CollectiveDone(5))]


def test_a_worker_starts_where_the_job_stands():
    """After 5 chunks over 3 slots, slot 2 is next, in its second set."""
    worker = AggregationWorker(0, 3, FIXED_TIMEOUT, first_number=5, first_slot=10)
    worker.all_reduce(3, 3, 0)
    sent = [packet for _, packet in worker.packets_to_send()]
    assert [(packet.slot, packet.set, packet.number) for packet in sent] == [
        (12, 1, 5),
        (10, 0, 6),
        (11, 0, 7),
    ]
