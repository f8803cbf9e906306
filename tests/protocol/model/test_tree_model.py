"""The protocol's safety and liveness in trees of switches; how to write one: explore_tree.py.

The least numbers of states keep an exploration from being empty. More, by hand, all without a
wrong sum or a stuck state, each with one loss of a switch's registers: ((0,),) for 3 rounds with
two packets a link, 173,468 states; (0, (0,)) for 3 rounds, 237,194; ((0,), (0,)) for 2 rounds,
1,214,877.
"""

import pytest
from explore import Setting, explore
from explore_tree import TreeSetting, explore_tree, main

MIXED = (0, (0,))  # a worker at the root, one at a leaf
PAIR = ((0, 0),)  # one leaf with two workers
RACKS = ((0,), (0,))


@pytest.mark.parametrize("guard", [True, False])
def test_a_tree_without_lower_switches_is_a_star(guard):
    star = explore(Setting(2, 2, guard, up=1, down=1, wipes=guard))
    tree = explore_tree(TreeSetting((0, 0), 2, guard, wipes=guard))
    assert star.states > 100
    assert tree == star


@pytest.mark.parametrize(
    ("setting", "least"),
    [
        (TreeSetting(MIXED, 2, True, wipes=True), 90_000),
        (TreeSetting(PAIR, 2, True, wipes=True), 50_000),
        (TreeSetting(((0,),), 2, True, up=2, down=2, wipes=True), 25_000),
        (TreeSetting(MIXED, 3, True), 6_000),
        (TreeSetting(RACKS, 2, True), 10_000),
    ],
)
def test_the_guarded_protocol_is_never_wrong_and_never_stuck(setting, least):
    found = explore_tree(setting)
    assert found.wrong is None
    assert found.stuck == 0
    assert found.states > least
    assert found.finished > 0


def test_without_help_a_loss_of_a_switchs_state_leaves_a_tree_silent():
    found = explore_tree(TreeSetting(MIXED, 2, True, wipes=True, helps=False))
    assert found.wrong is None
    assert found.stuck > 0


@pytest.mark.parametrize(
    ("setting", "least"),
    [
        (TreeSetting(MIXED, 3, False, reorder=False), 2_500),
        (TreeSetting(RACKS, 2, False, reorder=False), 3_500),
    ],
)
def test_the_published_protocol_is_right_in_trees_of_fifo_links(setting, least):
    found = explore_tree(setting)
    assert found.wrong is None
    assert found.stuck == 0
    assert found.states > least
    assert found.finished > 0


@pytest.mark.parametrize(
    "setting",
    [
        TreeSetting(MIXED, 3, False, up=2),
        TreeSetting(MIXED, 3, False, reorder=False, wipes=True),
    ],
    ids=["overtaking", "loss of state"],
)
def test_the_published_protocol_gives_a_wrong_sum_in_a_tree_too(setting):
    assert explore_tree(setting).wrong is not None


def test_by_hand(capsys):
    main(["((0,),)", "guarded", "2", "1", "1", "reorder", "wipes"])
    assert "no wrong sum; 0 states" in capsys.readouterr().out
