"""Rings by compiled code come to the same as by NumPy, and are compiled only where that pays."""

import pytest

from innet.engine.recurrence import compiled_ring
from innet.engine.recurrence import run as recurrence
from innet.engine.recurrence.compiled_ring import CompiledRingRun
from innet.engine.recurrence.ring import RingRun
from innet.engine.recurrence.ring_records import trace_of_ring
from innet.engine.recurrence.run import run_ring
from innet.engine.refused import RefusedError
from tests.engine.recurrence.test_recurrence_rings import random_ring, ring

BATCH = 100


def outcome(plan, compiled):
    """The trace, with when the links are free and the longest wait, or why it is refused."""
    try:
        run = run_ring(plan, compiled=compiled)
    except RefusedError as refused:
        return str(refused)
    return trace_of_ring(run), run.free_ps.tolist(), run.longest_wait_ps


@pytest.mark.parametrize("hops_a_call", [40, 10**6])
@pytest.mark.parametrize("batch", range(4))
def test_random_rings_are_the_same_by_numba_and_by_numpy(monkeypatch, batch, hops_a_call):
    monkeypatch.setattr(compiled_ring, "_HOPS_A_CALL", hops_a_call)
    ran = 0
    for seed in range(1000 + batch * BATCH, 1000 + (batch + 1) * BATCH):
        plan = random_ring(seed)
        by_numpy = outcome(plan, compiled=False)
        assert outcome(plan, compiled=True) == by_numpy, seed
        ran += not isinstance(by_numpy, str)
    assert ran > BATCH * 2 / 3


def test_what_is_long_is_compiled(monkeypatch):
    plan = ring(workers=4, size="200 KB")
    # All ranks are alike: one is computed, 3 + 3 messages of 50 KB over two links.
    assert run_ring(plan).ring.computed_hops == 6 * 35 * 2
    monkeypatch.setattr(recurrence, "_HOPS_WORTH_COMPILING", 6 * 35 * 2)
    assert type(run_ring(plan)) is CompiledRingRun
    monkeypatch.setattr(recurrence, "_HOPS_WORTH_COMPILING", 6 * 35 * 2 + 1)
    assert type(run_ring(plan)) is RingRun


def test_numpy_does_all_where_there_is_no_numba(monkeypatch):
    monkeypatch.setattr(recurrence, "_HOPS_WORTH_COMPILING", 0)
    monkeypatch.setattr(recurrence, "find_spec", lambda name: None)
    assert type(run_ring(ring())) is RingRun


def test_both_tell_their_progress_alike():
    plan, told = random_ring(1001), ([], [])
    for compiled, reached in enumerate(told):
        run_ring(plan, reached.append, compiled=bool(compiled))
    assert told[0] == told[1]
    assert told[0][-1].share == 1
