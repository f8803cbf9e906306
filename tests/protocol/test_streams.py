"""Reliable streams: messages in, packets out, and back, by selective repeat and go-back-N."""

import numpy as np
import pytest
from stream_net import FIXED_TIMEOUT, StreamNet

from innet.protocol.machine import Timeout
from innet.protocol.stream import ACK, DATA, StreamEndpoint
from innet.protocol.stream_transitions import (
    ACKED,
    IN_FLIGHT,
    LOST,
    NOTHING,
    stream_ack_selective,
    stream_data,
    stream_next,
)

BOTH = pytest.mark.parametrize("go_back_n", [False, True], ids=["selective", "go_back_n"])


def text(values):
    return None if values is None else values.tobytes().decode()


def letters(message):
    return np.frombuffer(message.encode(), dtype=np.uint8)


def arrived(net):
    return [(rank, event.source, event.message, text(event.values)) for rank, event in net.arrived]


@BOTH
def test_messages_arrive_whole_and_in_order(go_back_n):
    net = StreamNet(2, 3, 4, go_back_n)
    net.send(0, 1, 5, letters("one"))
    net.send(0, 1, 6, letters("and four"))
    net.send(0, 1, 7, letters("x"))
    net.settle()
    assert arrived(net) == [(1, 0, 5, "one"), (1, 0, 6, "and four"), (1, 0, 7, "x")]
    assert [endpoint.progress for endpoint in net.endpoints] == [5, 5]  # packets of 3 bytes
    assert net.endpoints[0].retransmissions == 0
    assert net.endpoints[0].next_deadline() is not None  # it names a time, when nothing is due:
    net.endpoints[0].handle_timeout(net.endpoints[0].next_deadline())
    assert net.endpoints[0].next_deadline() is None
    assert net.endpoints[0].unacknowledged() == []


@BOTH
def test_packets_are_cut_at_the_payload(go_back_n):
    net = StreamNet(2, 4, 8, go_back_n)
    packets = net.send(0, 1, 9, letters("abcdefghij"))
    assert [(p.kind, p.number, p.place, p.packets, p.size_bytes) for p in packets] == [
        (DATA, 0, 0, 3, 4),
        (DATA, 1, 1, 3, 4),
        (DATA, 2, 2, 3, 2),
    ]
    assert [text(packet.values) for packet in packets] == ["abcd", "efgh", "ij"]


@BOTH
@pytest.mark.parametrize("window", [1, 2, 5])
def test_the_window_is_never_exceeded(go_back_n, window):
    net = StreamNet(2, 1, window, go_back_n)
    outstanding = len(net.send(0, 1, 0, letters("abcdefgh")))
    assert outstanding == window
    assert net.endpoints[0].window_full
    while net.first_used_link():
        link = net.first_used_link()
        sent = net.deliver(link)
        outstanding += len(sent) - 1 if link == (1, 0) else 0
        assert outstanding <= window
    assert arrived(net) == [(1, 0, 0, "abcdefgh")]
    assert not net.endpoints[0].window_full


@BOTH
def test_streams_know_nothing_of_each_other(go_back_n):
    net = StreamNet(3, 2, 2, go_back_n)
    net.send(0, 1, 0, letters("to one"))
    net.send(0, 2, 1, letters("to two"))
    net.send(2, 0, 2, letters("back"))
    net.links[0, 1].clear()
    net.settle()
    assert sorted(arrived(net)) == [(0, 2, 2, "back"), (2, 0, 1, "to two")]
    assert net.endpoints[0].unacknowledged() == [(1, 0, 0)]
    net.run_out(0)
    net.settle()
    assert (1, 0, 0, "to one") in arrived(net)


@BOTH
@pytest.mark.parametrize("in_turn", [False, True])
def test_messages_to_different_ranks_leave_together_or_in_turn(go_back_n, in_turn):
    net = StreamNet(3, 1, 2, go_back_n, in_turn=in_turn)
    net.send(0, 1, 0, letters("abc"))
    sent = [packet.number for packet in net.send(0, 2, 1, letters("xy"))]
    assert sent == ([] if in_turn else [0, 1])
    net.deliver((0, 1))
    (third, *others) = net.deliver((1, 0))
    assert (third.destination, third.number) == (1, 2)
    assert [packet.destination for packet in others] == ([2, 2] if in_turn else [])
    net.settle()
    assert sorted(arrived(net)) == [(1, 0, 0, "abc"), (2, 0, 1, "xy")]


def test_an_endpoint_sends_to_all_at_once_unless_told_otherwise():
    assert not StreamEndpoint(0, 1, 1, False, FIXED_TIMEOUT).in_turn


@BOTH
def test_the_round_trip_is_measured_on_one_packet_at_a_time(go_back_n):
    net = StreamNet(2, 1, 3, go_back_n, Timeout(True, 10_000, 1, 10**6))
    net.send(0, 1, 0, letters("abcde"))
    for _ in range(3):
        net.deliver((0, 1))
    net.now = 800
    net.deliver((1, 0))  # 0 was measured: 800; 3 is measured now
    assert due(net) == 800 + 3 * 800
    net.now = 900
    net.deliver((1, 0))  # 1 was not
    assert due(net) == 900 + 3 * 800
    net.deliver((1, 0))
    net.deliver((0, 1))
    net.now = 1600
    net.deliver((1, 0))  # 3: 800 again, so the variation shrinks to 300
    assert due(net) == 1600 + 800 + 4 * 300


def test_go_back_n_measures_no_packet_that_a_later_one_acknowledged():
    net = StreamNet(2, 1, 3, True, Timeout(True, 10_000, 1, 10**6))
    net.send(0, 1, 0, letters("abcde"))
    for _ in range(3):
        net.deliver((0, 1))
    del net.links[1, 0][:2]  # the answer to 0, which was measured, is lost
    net.now = 5000
    net.deliver((1, 0))
    assert due(net) == 5000 + 10_000
    net.deliver((0, 1))
    net.now = 5800
    net.deliver((1, 0))  # 3 was measured next
    assert due(net) == 5800 + 3 * 800


def due(net):
    """When the timer of rank 0 runs out."""
    endpoint = net.endpoints[0]
    endpoint.handle_timeout(net.now)  # nothing is due; it finds the deadline
    assert endpoint.packets_to_send() == []
    return endpoint.next_deadline()


@BOTH
def test_each_stream_has_its_own_timer(go_back_n):
    net = StreamNet(3, 2, 2, go_back_n)
    net.send(0, 1, 0, letters("a"))
    net.now = 4
    net.send(0, 2, 1, letters("b"))
    for links in net.links.values():
        links.clear()
    assert [packet.destination for packet in net.run_out(0)] == [1]
    assert net.now == 10
    assert [packet.destination for packet in net.run_out(0)] == [2]
    assert net.now == 14
    assert [packet.destination for packet in net.run_out(0)] == [1]
    assert net.now == 30


@BOTH
def test_timing_only_messages_have_no_bytes(go_back_n):
    net = StreamNet(2, 4, 8, go_back_n)
    net.endpoints[0].send_message(1, 3, 10, None, 0)
    packets = net.flush(0)
    assert [packet.size_bytes for packet in packets] == [4, 4, 2]
    assert all(packet.values is None for packet in packets)
    net.settle()
    assert arrived(net) == [(1, 0, 3, None)]


@BOTH
def test_what_is_lost_is_sent_again_when_the_timer_runs_out(go_back_n):
    net = StreamNet(2, 1, 8, go_back_n)
    net.send(0, 1, 0, letters("ab"))
    net.links[0, 1].clear()
    deadline = net.endpoints[0].next_deadline()
    assert deadline == 10
    assert [packet.number for packet in net.run_out(0)] == [0, 1]
    assert net.now == deadline
    assert net.endpoints[0].unacknowledged() == [(1, 0, 1)]
    net.links[0, 1].clear()
    net.run_out(0)
    assert net.now == deadline + 20  # backed off
    net.settle()
    assert arrived(net) == [(1, 0, 0, "ab")]
    assert net.endpoints[0].timeouts == 2
    assert net.endpoints[0].retransmissions == 4


def test_three_later_acknowledgements_tell_a_loss_and_two_do_not():
    net = StreamNet(2, 1, 8, go_back_n=False)
    net.send(0, 1, 0, letters("abcdef"))
    net.links[0, 1].pop(0)
    for _ in range(5):
        net.deliver((0, 1))
    assert [len(net.deliver((1, 0))) for _ in range(5)] == [0, 0, 1, 0, 0]
    assert net.endpoints[0].retransmissions == 1
    net.links[0, 1].clear()  # lost once more: now only the timer tells
    assert [packet.number for packet in net.run_out(0)] == [0]
    net.settle()
    assert arrived(net) == [(1, 0, 0, "abcdef")]


def test_a_place_in_the_window_is_as_good_as_new_when_it_is_used_again():
    net = StreamNet(2, 1, 4, go_back_n=False)
    net.send(0, 1, 0, letters("abcdefgh"))
    for lost in (0, 4):  # the same place twice, each time told by three later acknowledgements
        packets = net.links[0, 1]
        assert [packet.number for packet in packets] == list(range(lost, lost + 4))
        packets.pop(0)
        for _ in range(3):
            net.deliver((0, 1))
        sent = [packet.number for _ in range(3) for packet in net.deliver((1, 0))]
        assert sent == [lost]
        net.deliver((0, 1))
        net.deliver((1, 0))
    assert arrived(net) == [(1, 0, 0, "abcdefgh")]
    assert net.endpoints[0].timeouts == 0


def test_an_acknowledgement_that_comes_after_all_takes_the_repeat_back():
    """A packet is marked lost while the window lets nothing out; its answer is only late."""
    net = StreamNet(2, 1, 8, go_back_n=False)
    net.send(0, 1, 0, letters("abcd"))
    for _ in range(4):
        net.deliver((0, 1))
    late = net.links[1, 0].pop(0)
    for _ in range(3):
        net.deliver((1, 0))
    assert net.endpoints[0].retransmissions == 1
    net.links[1, 0].append(late)
    net.settle()
    assert arrived(net) == [(1, 0, 0, "abcd")]
    assert net.endpoints[0].unacknowledged() == []


def test_go_back_n_takes_nothing_after_a_gap_and_complains_once():
    net = StreamNet(2, 1, 8, go_back_n=True)
    net.send(0, 1, 0, letters("abcd"))
    net.links[0, 1].pop(0)
    answers = [net.deliver((0, 1))[0] for _ in range(3)]
    assert [(answer.kind, answer.expected, answer.gap) for answer in answers] == [
        (ACK, 0, True),
        (ACK, 0, False),
        (ACK, 0, False),
    ]
    assert [packet.number for packet in net.deliver((1, 0))] == [0, 1, 2, 3]
    assert net.deliver((1, 0)) == []
    net.settle()
    assert arrived(net) == [(1, 0, 0, "abcd")]


def test_go_back_n_takes_a_later_acknowledgement_for_all_before_it():
    net = StreamNet(2, 1, 3, go_back_n=True)
    net.send(0, 1, 0, letters("abcdef"))
    for _ in range(3):
        net.deliver((0, 1))
    del net.links[1, 0][:2]
    assert [packet.number for packet in net.deliver((1, 0))] == [3, 4, 5]
    net.settle()
    assert arrived(net) == [(1, 0, 0, "abcdef")]
    assert net.endpoints[0].retransmissions == 0


def test_go_back_n_goes_on_after_an_acknowledgement_of_what_it_has_gone_back_to():
    """A timeout sends all again; the first sending's answer then says that it all arrived."""
    net = StreamNet(2, 1, 4, go_back_n=True)
    net.send(0, 1, 0, letters("abcdef"))
    for _ in range(4):
        net.deliver((0, 1))
    net.run_out(0)
    del net.links[1, 0][:3]
    assert [packet.number for packet in net.deliver((1, 0))] == [4, 5]
    net.settle()
    assert arrived(net) == [(1, 0, 0, "abcdef")]


@pytest.mark.parametrize(
    ("number", "in_order_only", "kept"),
    [
        (4, False, False),
        (5, False, True),
        (7, False, True),
        (8, False, False),
        (9, False, False),
        (4, True, False),
        (5, True, True),
        (7, True, False),
        (9, True, False),
    ],
)
def test_a_receiver_keeps_what_is_new_and_within_its_window(number, in_order_only, kept):
    """It expects 5, has 8 already, and its window of 4 ends before 9."""
    received, expected = [1, 0, 0, 0], [5]
    assert stream_data(received, expected, 0, 4, 4, number, in_order_only) == kept
    assert expected == [6 if kept and number == 5 else 5]


def test_a_packet_that_is_acknowledged_while_it_waits_to_be_sent_again_is_not():
    state, lost, base, following = [ACKED, LOST, LOST, IN_FLIGHT], [2], [1], [5]
    repeated, highest = [0, 1, 1, 0], [5]
    assert stream_ack_selective(state, base, following, lost, repeated, 0, 4, 1)
    assert (base, lost) == ([2], [1])
    assert stream_next(state, base, following, highest, lost, [5], 0, 4, 4) == 2
    assert stream_next(state, base, following, highest, lost, [5], 0, 4, 4) == NOTHING
