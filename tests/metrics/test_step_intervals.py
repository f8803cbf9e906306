"""Unions and overlaps of intervals, against sets of single instants."""

from hypothesis import given
from hypothesis import strategies as st

from innet.metrics.step_intervals import length_ps, overlap_ps, union

instants = st.integers(0, 30)
many = st.lists(st.tuples(instants, instants), max_size=12)


def held(intervals):
    return {instant for start, end in intervals for instant in range(start, end)}


@given(many)
def test_a_union_holds_the_instants_of_all(intervals):
    found = union(intervals)
    assert held(found) == held(intervals)
    assert length_ps(found) == len(held(intervals))
    # In order, none empty, with gaps between.
    flat = [at for interval in found for at in interval]
    assert flat == sorted(set(flat))


@given(many, many)
def test_an_overlap_is_what_both_hold(first, second):
    assert overlap_ps(union(first), union(second)) == len(held(first) & held(second))
    assert overlap_ps(union(first), union(second)) == overlap_ps(union(second), union(first))


def test_no_intervals_have_no_length():
    assert union([]) == union([(3, 3), (5, 4)]) == []
    assert length_ps([]) == overlap_ps([], [(1, 2)]) == 0
