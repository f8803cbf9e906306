"""The protocol's safety and liveness, over all that can happen to a small job.

The least numbers of states keep an exploration from being empty. Those of the published protocol
and of the guarded one without help agree with an independent model's: 112 states up to the
workers' names are 224 with them.
"""

import pytest
from explore import Setting, explore, main


def test_case_23_the_published_protocol_gives_a_wrong_sum_when_packets_overtake():
    found = explore(Setting(workers=2, rounds=3, guard=False))
    assert found.wrong is not None
    assert 300 < found.states < 1000


@pytest.mark.parametrize(
    ("workers", "rounds", "up", "down", "least"), [(2, 3, 2, 2, 1800), (3, 3, 2, 1, 6000)]
)
def test_case_22_the_published_protocol_is_right_on_fifo_links(workers, rounds, up, down, least):
    found = explore(Setting(workers, rounds, False, up, down, reorder=False))
    assert found.wrong is None
    assert found.stuck == 0
    assert found.states > least
    assert found.finished > 0


@pytest.mark.parametrize("capacity", [1, 2])
def test_the_published_protocol_gives_a_wrong_sum_after_a_loss_of_the_switchs_state(capacity):
    setting = Setting(2, 3, False, capacity, capacity, reorder=False, wipes=True)
    assert explore(setting).wrong is not None


def test_case_26_the_published_protocol_is_silent_after_a_loss_of_the_switchs_state():
    found = explore(Setting(2, 2, False, 1, 1, reorder=False, wipes=True))
    assert found.wrong is None
    assert found.stuck > 0


def test_case_26_without_help_the_guarded_protocol_is_silent_too():
    found = explore(Setting(2, 3, True, 1, 1, wipes=True, helps=False))
    assert found.wrong is None
    assert found.stuck == 112


@pytest.mark.parametrize(
    ("setting", "least"),
    [
        (Setting(2, 3, True, up=2, down=1, wipes=True), 40_000),
        (Setting(2, 4, True, up=1, down=1, wipes=True), 6_000),
        (Setting(3, 1, True, up=2, down=1, wipes=True), 12_000),
        (Setting(2, 2, True, up=2, down=1, wipes=False), 1_000),
    ],
)
def test_the_guarded_protocol_is_never_wrong_and_never_stuck(setting, least):
    found = explore(setting)
    assert found.wrong is None
    assert found.stuck == 0
    assert found.states > least
    assert found.finished > 0


def test_an_exploration_stops_when_it_grows_too_large():
    with pytest.raises(MemoryError, match="more than 100 states"):
        explore(Setting(2, 3, True), most_states=100)


def test_by_hand(capsys):
    main(["guarded", "2", "2", "1", "1", "reorder", "wipes"])
    assert "no wrong sum; 0 states" in capsys.readouterr().out
    main(["published", "2", "3", "2", "2", "reorder", "keeps"])
    assert "stopped at a wrong sum" in capsys.readouterr().out
