"""What switches take part in, by their resources: every refusal is told, and others go on."""

import pytest

from innet.errors import ConfigurationError
from innet.scenario.asked import requests_of
from innet.scenario.build_step import build_step_plan
from innet.scenario.load import parse_scenario
from tests.scenario.made_steps import step_scenario

SUM = {"all_reduce": {"size": "1 KiB", "over": "dp"}}
KINDS = [
    SUM,
    {"all_reduce": {"size": "1 KiB", "over": "dp", "op": "max"}},
    {"reduce": {"size": "1 KiB", "over": "dp"}},
    {"broadcast": {"size": "1 KiB", "over": "dp"}},
]
NEVER_OFFLOADED = [
    {"all_to_all": {"size": "1 KiB", "over": "dp"}},
    {"gather": {"size": "1 KiB", "over": "dp"}},
    {"all_reduce": {"size": "1 KiB", "over": "dp", "density": 0.1}},
    {"all_reduce": {"size": "1 KiB", "over": "dp", "quorum": 3}},
]


def lowered_of(step, **keys):
    scenario = step_scenario(step, **keys)
    return list(build_step_plan(scenario, "in_network", requests_of(scenario)).operations.values())


@pytest.mark.parametrize(
    ("switch", "refusals"),
    [
        ("{}", ["", "take no max", "", ""]),
        ("{operations: [sum, max, copy]}", ["", "", "", ""]),
        ("{operations: [sum]}", ["copy no packets", "take no max", "", "copy no packets"]),
        ("{operations: [copy]}", ["take no sum", "take no max", "take no sum", ""]),
        (
            "{largest_group: 3}",
            ["more than switch.largest_group (3)", "take no max", "4 contr", "4"],
        ),
    ],
)
def test_operations_are_offloaded_as_far_as_switches_can(switch, refusals):
    found = lowered_of(KINDS, more=f"switch: {switch}\n")
    for lowered, why in zip(found, refusals, strict=True):
        assert why in lowered.why
        assert bool(why) == bool(lowered.why)
        assert (lowered.operation.aggregation is None) == bool(why)
        assert (lowered.how == "in_network") == (not why)


def test_some_operations_are_never_offloaded():
    assert [lowered.why for lowered in lowered_of(NEVER_OFFLOADED)] == [
        "all_to_all has no sum",
        "gather has no sum",
        "switches add no sparse vectors",
        "switches wait for all, not for a quorum",
    ]


def test_jobs_that_do_not_fit_take_no_slots_from_others():
    """A group of four is too large; the two groups of two and two share the slots."""
    step = [{"all_reduce": {"size": 4, "over": over}} for over in ("dp", "tp", "dp,tp")]
    keys = {"mesh": {"dp": 2, "tp": 2}, "more": "switch: {slots: 40, largest_group: 2}\n"}
    found = [lowered.operation.aggregation for lowered in lowered_of(step, **keys)]
    assert [None if each is None else each.slots for each in found] == [10, 10, None, 10, 10]


def test_groups_that_meet_above_their_racks_are_spread_over_the_spines():
    """Racks of four hosts: tp stays in one, and each of four dp groups has a spine of its own."""
    network = "topology: {kind: leaf_spine, racks: 2, hosts: 4, spines: 4, link: {rate: 1 Gbps}}\n"
    step = [{"all_reduce": {"size": 4, "over": over}} for over in ("dp", "tp")]
    mesh = {"dp": 2, "tp": 4}
    found = lowered_of(step, network=network, mesh=mesh, more="switch: {slots: 8}\n")
    aggregations = {lowered.operation.group: lowered.operation.aggregation for lowered in found}
    spines = {group: each.switch for group, each in aggregations.items() if len(group) == 2}
    assert len(spines) == len(set(spines.values())) == 4
    assert [each.slots for each in aggregations.values()] == [8] * 6


def test_too_many_jobs_for_the_slots_are_told_with_the_switch():
    step = [{"all_reduce": {"size": 4, "over": over}} for over in ("dp", "tp", "dp,tp")]
    keys = {"mesh": {"dp": 2, "tp": 2}, "more": "switch: {slots: 4}\n"}
    told = {lowered.why for lowered in lowered_of(step, **keys)}
    assert told == {"5 groups meet at switch, too many for its 4 slots"}


COLLECTIVE = """\
version: 1
name: made
topology: {workers: 40, link: {rate: 10 Gbps}}
collective: {size: 1 KiB}
algorithms: [ring, in_network]
switch: """


@pytest.mark.parametrize(
    ("switch", "told"),
    [
        ("{largest_group: 32}", "s.yaml:5: algorithms.1: 40 contributions would meet at switch"),
        ("{operations: [sum]}", "s.yaml:6: switch.operations: in_network needs copy"),
        ("{operations: [add]}", "s.yaml:6: switch.operations: a list is no list of some of sum"),
        (
            "{elements_per_pass: 64}",
            "s.yaml:6: switch.elements_per_pass: 1 pass of 64 values cannot add the 256 of a "
            "packet; write fewer packet.elements, or at least 4 switch.passes",
        ),
        ("{elements_per_pass: 64, passes: 3}", "s.yaml:6: switch.elements_per_pass: 3 passes"),
        ("{passes: 0}", "s.yaml:6: switch.passes: 0 is not a whole number from 1 to 64"),
        ("{wire: bfloat16}", "s.yaml:6: switch.wire: "),
        ("{memory: 1 MB, slots: 512}", "s.yaml:6: switch.slots: 512 slots take 2048 B each"),
    ],
)
def test_a_collective_that_switches_cannot_run_is_refused(switch, told):
    with pytest.raises(ConfigurationError) as caught:
        parse_scenario(f"{COLLECTIVE}{switch}\n", "s.yaml")
    assert str(caught.value).startswith(told)
    # 512 slots of two sets of 256 values of 4 B.
    fits = "memory: 1 MiB, slots: 512, largest_group: 40, elements_per_pass: 64, passes: 4"
    parse_scenario(f"{COLLECTIVE}{{{fits}}}\n", "s.yaml")
