"""Repeats in place of long lists: they must do the same."""

from hypothesis import given
from hypothesis import strategies as st

from innet.workload.importers.folding import folded
from innet.workload.importers.imported import Imported
from tests.workload.made_steps import programs


def entry(number):
    return {"all_reduce": {"size": number, "over": "dp"}}


def entries(text):
    return [entry(int(digit)) for digit in text]


def test_what_comes_several_times_in_a_row_is_repeated():
    assert folded(entries("1222223")) == [entry(1), {"repeat": 5, "do": [entry(2)]}, entry(3)]
    assert folded(entries("121212")) == [{"repeat": 3, "do": entries("12")}]
    # A pair alone is no shorter as a repeat.
    assert folded(entries("1123")) == entries("1123")
    nested = [{"repeat": 3, "do": [{"repeat": 4, "do": [entry(1)]}, entry(2)]}]
    assert folded(entries("111121111211112")) == nested


def test_lists_within_entries_are_folded():
    (found,) = folded([{"when": "dp == 1", "do": entries("777")}])
    assert found == {"when": "dp == 1", "do": [{"repeat": 3, "do": [entry(7)]}]}


@given(st.text("12", max_size=40).map(entries))
def test_a_folded_step_is_the_same_step(step):
    mesh = {"dp": 2}
    short = folded(step)
    assert programs(mesh, short) == programs(mesh, step)
    whole = Imported(mesh, tuple(step), ()).totals()
    assert Imported(mesh, tuple(short), ()).totals() == whole
