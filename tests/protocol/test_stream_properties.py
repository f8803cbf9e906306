"""Every message arrives once and whole whatever the network does; by go-back-N, in order."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stream_net import StreamNet
from weather import Weather, play_streams

CHANCES = st.sampled_from([0.0, 0.05, 0.3])
ANY_WEATHER = st.builds(Weather, CHANCES, CHANCES, CHANCES, st.booleans(), st.just(0))
MESSAGES = st.lists(
    st.tuples(
        st.integers(min_value=0, max_value=2),
        st.integers(min_value=1, max_value=2),
        st.integers(min_value=1, max_value=30),
    ),
    min_size=1,
    max_size=8,
)


def run(window, payload, messages, weather, seed, go_back_n, in_turn):
    net = StreamNet(3, payload, window, go_back_n, in_turn=in_turn)
    draws = np.random.default_rng(seed)
    sent: dict[tuple[int, int], list[tuple[int, bytes]]] = {}
    for message, (source, step, size) in enumerate(messages):
        destination = (source + step) % 3
        values = draws.integers(0, 256, size, dtype=np.uint8)
        sent.setdefault((source, destination), []).append((message, values.tobytes()))
        net.send(source, destination, message, values)
    play_streams(net, weather, seed)
    net.settle()  # what is late must not change anything
    came: dict[tuple[int, int], list[tuple[int, bytes]]] = {}
    for rank, event in net.arrived:
        stream = came.setdefault((event.source, rank), [])
        stream.append((event.message, event.values.tobytes()))
    return net, sent, came


@pytest.mark.parametrize("go_back_n", [False, True], ids=["selective", "go_back_n"])
@settings(max_examples=150, deadline=None)
@given(
    window=st.integers(min_value=1, max_value=9),
    payload=st.integers(min_value=1, max_value=7),
    messages=MESSAGES,
    weather=ANY_WEATHER,
    seed=st.integers(min_value=0, max_value=2**32),
    in_turn=st.booleans(),
)
def test_every_message_arrives_once_and_whole(
    go_back_n, window, payload, messages, weather, seed, in_turn
):
    _, sent, came = run(window, payload, messages, weather, seed, go_back_n, in_turn)
    if not go_back_n:  # a later message may be whole before an earlier one
        came = {stream: sorted(arrivals) for stream, arrivals in came.items()}
    assert came == sent


@pytest.mark.parametrize("go_back_n", [False, True], ids=["selective", "go_back_n"])
def test_the_weather_does_what_it_says(go_back_n):
    weather = Weather(0.3, 0.3, 0.3, True)
    net, _, _ = run(4, 2, [(0, 1, 30), (0, 1, 30), (1, 1, 20)], weather, 1, go_back_n, False)
    assert net.endpoints[0].retransmissions > 0
    assert net.endpoints[0].timeouts > 0
    assert net.endpoints[0].stale > 0
