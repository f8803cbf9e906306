"""Exact lengths of sets of time, as intervals of whole picoseconds.

An interval (start, end) holds the instants from `start` up to, not including, `end`.
"""

from collections.abc import Iterable, Sequence

Interval = tuple[int, int]
Intervals = Sequence[Interval]


def union(intervals: Iterable[Interval]) -> list[Interval]:
    """Return the instants in any of the intervals, as intervals in order with gaps between."""
    found: list[Interval] = []
    for start, end in sorted(intervals):
        if start >= end:
            continue
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found


def length_ps(intervals: Intervals) -> int:
    """Return the length of a union."""
    return sum(end - start for start, end in intervals)


def overlap_ps(first: Intervals, second: Intervals) -> int:
    """Return for how long two unions hold the same instants."""
    found, place = 0, 0
    for start, end in first:
        while place < len(second) and second[place][1] <= start:
            place += 1
        ahead = place
        while ahead < len(second) and second[ahead][0] < end:
            found += min(end, second[ahead][1]) - max(start, second[ahead][0])
            ahead += 1
    return found
