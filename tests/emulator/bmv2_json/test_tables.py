"""Tables at run time: what matches, and what a control plane may do."""

import pytest

from innet.emulator.bmv2_json.program import Action, Entry, Key, Table
from innet.emulator.bmv2_json.tables import RuntimeTable
from innet.emulator.bmv2_json.terms import Field
from innet.errors import ConfigurationError

ACTIONS = {
    0: Action("NoAction", (), ()),
    1: Action("Ingress.forward", (("port", 9), ("mac", 48)), ()),
    2: Action("Ingress.drop", (), ()),
}


def table(*kinds, **changes):
    keys = tuple(
        Key(f"k{place}", kind, Field("h", f"f{place}", 32), 32, None)
        for place, kind in enumerate(kinds)
    )
    given = {
        "name": "Ingress.t",
        "keys": keys,
        "actions": (0, 1, 2),
        "size": 4,
        "counted": False,
        "default": Entry((), 0, (), 0),
        "default_fixed": False,
        "entries": None,
        "after_action": None,
        "after_hit": None,
        "after_miss": None,
    }
    return RuntimeTable(Table(**{**given, **changes}), ACTIONS)


def port(row):
    return None if row is None else row.data[0]


def fill(made, *entries, priorities=()):
    for number, entry in enumerate(entries):
        match = {f"k{place}": value for place, value in enumerate(entry)}
        priority = priorities[number] if priorities else 0
        made.insert(match, "forward", {"port": number, "mac": 0}, priority)
    return made


def test_exact_entries_are_found_by_value_or_tuple():
    one = fill(table("exact"), (5,), (6,))
    assert port(one.exact_rows.get(6)) == 1
    two = fill(table("exact", "exact"), (5, 1), (6, 2))
    assert port(two.exact_rows.get((5, 1))) == 0
    assert two.exact_rows.get((5, 2)) is None


def test_the_longest_prefix_wins_whatever_the_order():
    made = fill(
        table("exact", "lpm"),
        (1, (0x0A000000, 8)),
        (1, (0x0A010200, 24)),
        (1, (0x0A010000, 16)),
        (1, (0, 0)),
    )
    found = [port(made.lookup((1, each))) for each in (0x0A010203, 0x0A010303, 0x0A020000, 7)]
    assert found == [1, 2, 0, 3]
    assert made.lookup((2, 0x0A010203)) is None


def test_the_highest_priority_wins_and_then_the_first():
    made = fill(
        table("ternary", "range"),
        ((0x10, 0xF0), (0, 9)),
        ((0x12, 0xFF), (5, 5)),
        ((0, 0), (0, 2**32 - 1)),
        ((0x10, 0xF0), (3, 9)),
        priorities=(5, 9, 1, 5),
    )
    found = [port(made.lookup(each)) for each in ((0x12, 5), (0x12, 4), (0x12, 10), (0x22, 4))]
    assert found == [1, 0, 2, 2]


def test_keys_that_match_anything_may_be_left_out():
    made = table("ternary", "range", "lpm", "exact")
    made.insert({"k3": 1}, "drop", {})
    assert made.lookup((9, 9, 9, 1)).action == 2
    assert made.lookup((9, 9, 9, 2)) is None


def test_entries_are_changed_and_removed():
    made = fill(table("exact"), (5,), (6,))
    made.modify({"k0": 5}, "drop", {})
    assert made.exact_rows[5].action == 2
    made.delete({"k0": 5})
    assert 5 not in made.exact_rows
    assert list(made.entries()) == [({"k0": 6}, "Ingress.forward", {"port": 1, "mac": 0}, 0)]
    lookups = fill(table("lpm"), ((0, 0),))
    assert port(lookups.lookup((1,))) == 0
    lookups.delete({"k0": (0, 0)})
    assert lookups.lookup((1,)) is None


def test_the_default_action_changes_and_comes_back():
    made = table("exact")
    assert made.default_action() == ("NoAction", {})
    made.set_default("forward", {"port": 3, "mac": 1})
    assert made.default_action() == ("Ingress.forward", {"port": 3, "mac": 1})
    assert made.default[0].data == (3, 1)
    fill(made, (1,))
    made.clear()
    assert made.default_action() == ("NoAction", {})
    assert not made.exact_rows
    assert list(made.entries()) == []


def test_direct_counters_go_on_when_an_entry_is_modified():
    made = fill(table("exact", counted=True), (5,))
    made.exact_rows[5].packets += 2
    made.exact_rows[5].bytes += 100
    made.modify({"k0": 5}, "drop", {})
    assert made.counts({"k0": 5}) == (2, 100)


FIXED = (Entry((5,), 2, (), 0),)


@pytest.mark.parametrize(
    ("made", "change", "problem"),
    [
        (table("exact"), lambda t: fill(t, (1,), (1,)), "has an entry with this match already"),
        (table("exact"), lambda t: fill(t, *((n,) for n in range(5))), "is full: it holds 4"),
        (table("exact"), lambda t: t.delete({"k0": 1}), "has no entry with this match"),
        (table("exact"), lambda t: t.modify({"k0": 1}, "drop", {}), "has no entry with this match"),
        (table("exact"), lambda t: t.counts({"k0": 1}), "has no direct counter"),
        (table("exact"), lambda t: t.insert({}, "drop", {}), "cannot match key 'k0' .exact, 32"),
        (table("exact"), lambda t: t.insert({"k0": 2**32}, "drop", {}), "cannot match key 'k0'"),
        (table("lpm"), lambda t: t.insert({"k0": (1, 33)}, "drop", {}), "cannot match key 'k0'"),
        (table("exact"), lambda t: t.insert({"k0": 1, "x": 1}, "drop", {}), "has no key 'x'"),
        (table("exact"), lambda t: t.insert({"k0": 1}, "away", {}), "has no action 'away'"),
        (
            table("exact"),
            lambda t: t.insert({"k0": 1}, "forward", {"port": 1}),
            r"needs the parameters \['port', 'mac'\]",
        ),
        (
            table("exact"),
            lambda t: t.insert({"k0": 1}, "forward", {"port": 512, "mac": 0}),
            "cannot give 512 to 'port', which has 9 bits",
        ),
        (
            table("exact", entries=FIXED),
            lambda t: fill(t, (1,)),
            "has entries that the program fixes",
        ),
        (
            table("exact", default_fixed=True),
            lambda t: t.set_default("drop", {}),
            "has a default action that the program fixes",
        ),
    ],
)
def test_what_does_not_fit_is_refused(made, change, problem):
    with pytest.raises(ConfigurationError, match=f"table 'Ingress.t' {problem}"):
        change(made)


def test_entries_of_the_program_stay():
    made = table("exact", entries=FIXED)
    assert made.exact_rows[5].action == 2
    made.clear()
    assert made.exact_rows[5].action == 2
