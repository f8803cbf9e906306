"""Sums of runs of the compiled engine that carry values."""

import dataclasses

import numpy as np
import pytest

from innet.engine.compiled.run import CompiledRun, run_compiled
from innet.engine.compiled.sums import results_of, sum_of
from innet.engine.simulate import simulate
from innet.errors import UnfinishedError
from innet.scenario.build import build_plan
from innet.tensors.generate import generate
from tests.engine.compiled.made_lossy_stars import lossy_star
from tests.engine.made_scenarios import scenario

DTYPES = ("int32", "float32", "float16", "bfloat16")


def carrying(plan, dtype="int32"):
    """The plan with values of a type, guarded, and its tensors."""
    format_ = dataclasses.replace(
        plan.aggregation, guard=True, exponent_round=dtype != "int32", first_number=2**32 - 5
    )
    plan = dataclasses.replace(plan, carry_payload=True, dtype=dtype, aggregation=format_)
    return plan, [generate(worker, plan.elements, dtype, 3) for worker in range(plan.workers)]


def outcome(engine, plan, tensors):
    """A trace without results, and their bytes; or why there is none."""
    try:
        trace = engine(plan, tensors=tensors)
    except UnfinishedError as error:
        return str(error)
    results = [vector.tobytes() for vector in trace.results]
    return dataclasses.replace(trace, engine="", results=None), results


@pytest.mark.parametrize("dtype", DTYPES)
def test_random_stars_have_the_sums_of_the_reference_engine(dtype):
    repeated = 0
    for seed in range(12):
        plan, tensors = carrying(lossy_star(seed, most_chunks=30), dtype)
        reference = outcome(simulate, plan, tensors)
        compiled = outcome(run_compiled, plan, tensors)
        assert compiled == reference, seed
        if not isinstance(compiled, str):
            repeated += sum(rank.retransmissions for rank in compiled[0].ranks)
    assert repeated > 0


def small(more="host: {cores: 2, rto: 20 us}"):
    return carrying(build_plan(scenario(3, loss="0.05", more=more), "in_network", True, 1000))


def test_integers_are_summed_modulo_2_to_the_32():
    plan, _ = small()
    tensors = [np.full(1000, 2**30 + worker, np.int32) for worker in range(3)]
    trace = run_compiled(plan, tensors=tensors)
    right = 3 * 2**30 + 3 - 2**32
    assert [set(vector.tolist()) for vector in trace.results] == [{right}] * 3


def finished():
    """A run that is done but for its trace."""
    plan, tensors = small()
    run = CompiledRun(plan, tensors)
    run.run(None)
    return plan, run.state, tensors


def test_a_result_that_is_made_of_anything_else_is_noticed():
    plan, state, tensors = finished()
    assert len(results_of(plan, state, tensors)) == 3
    state.switch.account.given[[3, 17]] += np.uint64(1)
    with pytest.raises(UnfinishedError, match="2 sums are not made of one contribution of every"):
        results_of(plan, state, tensors)


def test_two_unlike_results_of_one_number_are_noticed():
    plan, state, tensors = finished()
    state.switch.counters["contradictions"] += 1
    with pytest.raises(UnfinishedError, match="1 sums are not made of"):
        results_of(plan, state, tensors)


def test_a_switch_that_thinks_it_has_a_contribution_is_noticed():
    """What is counted is what its registers were told to add."""
    plan, tensors = small(more="")
    format_ = dataclasses.replace(plan.aggregation, first_number=0)
    run = CompiledRun(dataclasses.replace(plan, aggregation=format_), tensors)
    run.state.switch.bitmap[0] = run.state.switch.counts[0] = 1
    with pytest.raises(UnfinishedError, match="1 sums are not made of"):
        run.run(None)


def test_long_vectors_are_summed_piece_by_piece():
    tensors = [generate(worker, 700_000, "float32", 1) for worker in range(2)]
    whole = sum_of(tensors, "float32", 64)
    for start in (0, 262_144, 699_968):
        piece = [vector[start : start + 64] for vector in tensors]
        assert whole[start : start + 64].tobytes() == sum_of(piece, "float32", 64).tobytes()
    exact = sum(vector.astype(np.float64) for vector in tensors)
    # Sums are below 2^4, and scaled by 2^27 where they are largest.
    assert 0 < np.abs(whole - exact).max() <= 2.0**-21 + 2.0**-27
