"""Invariants over random scenarios: sums are right, or the run says why it cannot finish."""

import contextlib

from hypothesis import given, settings
from hypothesis import strategies as st

from innet.errors import UnfinishedError
from tests.engine.made_scenarios import fault, summed, timing

SHARES = st.sampled_from(["0.05", "0.3", "1"])
TIMES = st.integers(0, 60)
ENDS = st.sampled_from([("all", "switch"), ("switch", "all"), ("0", "switch"), ("switch", "1")])


@st.composite
def link_faults(draw):
    verb = draw(st.sampled_from(["duplicate", "reorder", "corrupt", "delay", "drop"]))
    source, target = draw(ENDS)
    share = draw(st.sampled_from(["0.05", "0.3"]) if verb in ("corrupt", "drop") else SHARES)
    by = "" if verb in ("corrupt", "drop") else f", by: {draw(st.integers(1, 30))} us"
    return f"{{{verb}: {{from: {source}, to: {target}, probability: {share}{by}}}}}"


@st.composite
def switch_faults(draw):
    verb = draw(st.sampled_from(["pause", "restart"]))
    node = "switch" if verb == "restart" else draw(st.sampled_from(["switch", "0", "1"]))
    return f"{{{verb}: {{node: {node}, at: {draw(TIMES)} us, for: {draw(st.integers(1, 40))} us}}}}"


@st.composite
def settings_of_a_run(draw):
    faults = draw(st.lists(link_faults(), max_size=3)) + draw(st.lists(switch_faults(), max_size=2))
    cost = draw(st.sampled_from(["0 ns", "150 ns"]))
    cores = draw(st.integers(1, 2))
    rto = draw(st.sampled_from(["adaptive", "20 us", "2 us"]))
    more = f"host: {{send: {cost}, receive: {cost}, cores: {cores}, rto: {rto}}}\n"
    return {
        "workers": draw(st.integers(2, 4)),
        "slots": draw(st.integers(2, 9)),
        "loss": draw(st.sampled_from(["0", "0.01", "0.2"])),
        "more": more + (fault(",".join(faults)) if faults else ""),
    }


@settings(max_examples=60, deadline=None)
@given(run=settings_of_a_run(), elements=st.integers(0, 900))
def test_the_network_adds_up_right_whatever_happens_to_it(run, elements):
    tensors, trace = summed(elements, **run)
    for result in trace.results:
        assert (result == sum(tensors)).all()
    assert all(rank.finish_ps >= 0 for rank in trace.ranks)


@settings(max_examples=40, deadline=None)
@given(
    run=settings_of_a_run(),
    algorithm=st.sampled_from(["ring", "double_tree", "recursive_doubling", "parameter_server"]),
    recovery=st.sampled_from(["selective_repeat", "go_back_n"]),
)
def test_schedules_add_up_right_whatever_happens_to_the_network(run, algorithm, recovery):
    run["more"] += f"\nmessage: {{payload: 128 B, overhead: 76 B, recovery: {recovery}}}"
    tensors, trace = summed(700, algorithm, **run)
    for result in trace.results:
        assert (result == sum(tensors)).all()


@settings(max_examples=40, deadline=None)
@given(at=st.integers(0, 60_000), run=settings_of_a_run())
def test_a_worker_that_restarts_gives_the_right_sum_or_an_error(at, run):
    run["more"] = fault(f"{{restart: {{node: 1, at: {at} ns, for: 5 us}}}}")
    tensors, results = [], ()
    with contextlib.suppress(UnfinishedError):
        tensors, trace = summed(500, **run)
        results = trace.results
    for result in results:
        assert (result == sum(tensors)).all()


@settings(max_examples=15, deadline=None)
@given(run=settings_of_a_run())
def test_the_same_scenario_gives_the_same_trace(run):
    assert timing(20, **run) == timing(20, **run)
