"""Aggregation trees for the engines' tests."""

from dataclasses import replace

from innet.plan.plan import Plan, TreeSwitch


def two_levels(workers: int) -> tuple[TreeSwitch, ...]:
    """A root above one switch that has all workers, at the nodes behind theirs."""
    leaf = TreeSwitch(workers, parent=0, place=0, workers=tuple(range(workers)))
    return (TreeSwitch(workers + 1, switches=(1,)), leaf)


def with_tree(plan: Plan, tree: tuple[TreeSwitch, ...]) -> Plan:
    """The plan with another aggregation tree."""
    return replace(plan, aggregation=replace(plan.aggregation, tree=tree))
