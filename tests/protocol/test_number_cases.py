"""What a job makes of its numbers, and of how many there are. Two workers unless said."""

import numpy as np
import pytest
from aggregation_net import AggregationNet, floats, integers, results, start

from innet.protocol.endpoint import CollectiveDone
from innet.tensors.verify import verify

BOTH_PROTOCOLS = pytest.mark.parametrize("guard", [True, False], ids=["guarded", "published"])


@BOTH_PROTOCOLS
@pytest.mark.parametrize("kind", [integers, floats])
@pytest.mark.parametrize("workers", [1, 3])
def test_case_32_a_tensor_of_no_elements_is_done_at_once_without_packets(guard, kind, workers):
    net = AggregationNet(workers, 4, guard=guard)
    start(net, *[kind()] * workers)
    assert net.done == [1] * workers
    assert net.events == [(worker, CollectiveDone(0)) for worker in range(workers)]
    assert not any(net.up)
    assert all(machine.next_deadline() is None for (machine,) in net.machines)
    tensors = start(net, *[kind(2, 3)] * workers)  # and the next one is not disturbed
    net.settle()
    assert results(tensors) == [[2 * workers, 3 * workers]] * workers


@pytest.mark.parametrize(("kind", "packets"), [(np.int32, 16), (np.float32, 32)])
def test_case_33_packets_of_1000_elements_on_4_cores(kind, packets):
    net = AggregationNet(2, 64, cores=4)
    vector = np.arange(1000).astype(kind)
    tensors = start(net, vector, vector, k=64)
    sent = 0
    while any(net.up):
        sent += len(net.up[0])
        net.settle_one_round()
    assert sent == packets
    assert results(tensors) == [(2 * vector).tolist()] * 2
    assert net.done == [4, 4]


def test_case_38_the_tail_of_a_short_last_packet_is_ignored():
    net = AggregationNet(2, 2)
    tensors = start(net, integers(1, 2, 3), integers(10, 20, 30), k=2, filler=77)
    net.settle()
    assert results(tensors) == [[11, 22, 33], [11, 22, 33]]


def test_case_41_a_sum_that_wraps_is_exact_modulo_2_to_the_32_and_reported():
    net = AggregationNet(2, 1)
    vectors = [integers(2147483647, 5), integers(1, 6)]
    tensors = start(net, *vectors, k=2)
    net.settle()
    assert results(tensors) == [[-2147483648, 11]] * 2
    held = [parts[0].result for parts in tensors]
    report = verify(held, vectors, "int32", "in_network")
    assert (report.wrong, report.wrapped) == (0, 1)


@pytest.mark.parametrize(
    ("workers", "largest", "exponent", "code"),
    [(2, 0.75, 0, 0.75 * 2**30), (8, 1.0, 1, 134217728)],
)
def test_case_42_exponents_and_codes(workers, largest, exponent, code):
    net = AggregationNet(workers, 1)
    tensors = start(net, *[floats(largest)] * workers)
    for worker in range(workers):
        assert net.up[worker][0].exponent == exponent
        assert net.up[worker][0].values is None
        net.to_switch(worker)
    for worker in range(workers):
        assert net.down[worker][0].exponent == exponent
        (packet,) = net.to_worker(worker)
        assert packet.values.tolist() == [code]
    net.settle()
    assert results(tensors) == [[workers * largest]] * workers


def test_case_43_small_whole_floats_are_exact():
    net = AggregationNet(2, 1)
    tensors = start(net, floats(1, 2, 3, 4), floats(1, 2, 3, 4), k=4)
    net.settle()
    assert results(tensors) == [[2, 4, 6, 8]] * 2


def test_case_46_a_block_of_zeros_is_exactly_zero():
    net = AggregationNet(2, 2)
    tensors = start(net, floats(0, 0, 1e-30, 3), floats(0, 0, 0, 4), k=2)
    net.settle()
    assert [result[:2] for result in results(tensors)] == [[0, 0]] * 2
    assert [result[3] for result in results(tensors)] == [7, 7]


def test_case_d8_a_worker_that_stops_a_round_early_is_named_with_the_round():
    net = AggregationNet(3, 1)
    for _ in range(3):
        start(net, *[integers(1)] * 3)
        net.settle()
    start(net, integers(1), integers(1))  # worker 2 makes no fourth round
    for _ in range(5):
        net.settle()
        net.run_out(0)
        net.run_out(1)
    net.settle()
    for worker in (0, 1):
        ((slot, in_set, number, tries),) = net.waiting(worker)
        assert number == 3  # the fourth, counted from 0
        assert tries == 5
        assert net.switch.missing(slot, in_set, number) == [2]
    assert net.waiting(2) == []


def test_case_d9_ranks_and_reciprocals_of_ranks():
    net = AggregationNet(4, 1)
    tensors = start(net, *[floats(r, 1 / r if r else 0) for r in range(4)], k=2)
    net.settle()
    for total, reciprocals in results(tensors):
        assert total == 6
        assert abs(reciprocals - 11 / 6) < 4 * 2.0**-24  # largest exponent 2, and float32
    assert len({tuple(result) for result in results(tensors)}) == 1


@BOTH_PROTOCOLS
def test_case_d10_one_worker_gets_its_tensor_back(guard):
    net = AggregationNet(1, 2, guard=guard)
    (tensor,) = start(net, integers(5, -6, 7))
    net.settle()
    assert results([tensor]) == [[5, -6, 7]]
    (tensor,) = start(net, floats(1.5, -2.5, 0))
    net.settle()
    assert results([tensor]) == [[1.5, -2.5, 0]]
