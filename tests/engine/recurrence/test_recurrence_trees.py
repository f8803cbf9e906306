"""The recurrence over trees of switches leaves the reference engine's trace, or refuses."""

import pytest

from innet.engine.recurrence.conditions import refusal
from innet.engine.recurrence.run import run_recurrence
from innet.engine.recurrence.tree import tree_of
from tests.engine.made_networks import Tiers, star_tree
from tests.engine.recurrence.comparison import outcome, reference, undisturbed
from tests.engine.recurrence.made_random_trees import random_tree
from tests.engine.recurrence.made_stars import star

BATCH = 50


@pytest.mark.parametrize("batch", range(4))
def test_random_trees_are_equal_or_refused_with_a_reason(batch):
    equal = 0
    for seed in range(batch * BATCH, (batch + 1) * BATCH):
        plan = random_tree(seed)
        expected = reference(plan)
        for at_once in (True, False):
            found = outcome(plan, at_once)
            assert found == (expected if undisturbed(expected) else None), seed
        equal += found is not None
    assert equal > BATCH / 3


def test_equal_racks_are_computed_once():
    tiers = Tiers((4, 8))
    plan = tiers.plan(chunks=100)
    assert [len(level.parent) for level in tree_of(plan, plan.aggregation).levels] == [1, 1]
    assert run_recurrence(plan) == reference(plan)


def test_a_late_worker_has_a_rack_of_a_class_of_its_own():
    tiers = Tiers((3, 4))
    plan = tiers.plan(late={5: 10**6}, chunks=10)
    assert [len(level.parent) for level in tree_of(plan, plan.aggregation).levels] == [2, 3]
    assert run_recurrence(plan) == reference(plan)


def test_links_that_members_share_are_refused():
    """The leaves only forward: a leaf's uplink carries the packets of all its workers."""
    tiers = Tiers((2, 4))
    plan = tiers.plan(tree=star_tree(tiers.workers, tiers.workers))
    assert "carries the packets of several members" in refusal(plan)


def test_a_star_is_a_tree_of_one_level():
    assert len(tree_of(star(), star().aggregation).levels) == 1
