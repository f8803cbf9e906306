"""Which engine runs a plan, and what an engine that was asked for refuses."""

import dataclasses
import importlib.util
import signal
import subprocess
import sys

import pytest

from innet.engine import simulate as choice
from innet.engine.compiled.run import run_compiled
from innet.engine.refused import RefusedError
from innet.engine.simulate import simulate
from innet.errors import MissingToolError
from innet.scenario.build import build_plan
from tests.engine.made_scenarios import fault, scenario

LARGE = 260_000 * 32  # elements: 260,000 chunks of two workers cross 1,040,000 links


def plan(elements=128, algorithm="in_network", carry=False, **settings):
    return build_plan(scenario(**settings), algorithm, carry, elements)


def test_auto_takes_the_recurrence_where_it_is_exact():
    assert simulate(plan(), engine="auto").engine == "recurrence"


def test_auto_does_not_compile_for_a_small_run():
    assert simulate(plan(loss="0.01"), engine="auto").engine == "reference"


def test_auto_compiles_for_a_large_run():
    assert simulate(plan(LARGE, loss="0.0001", slots=64), engine="auto").engine == "compiled"


def test_auto_counts_the_hops_of_messages(monkeypatch):
    """A ring of two sends 4 messages of half the tensor, here of 10 packets of 1460 bytes, over two
    links; as many acknowledgements come back."""
    ring = plan(20 * 1460 // 4, "ring", loss="0.01")
    for worth, engine in ((4 * 10 * 2 * 2, "compiled"), (4 * 10 * 2 * 2 + 1, "reference")):
        monkeypatch.setattr(choice, "_HOPS_WORTH_COMPILING", worth)
        assert simulate(ring, engine="auto").engine == engine


def test_auto_says_why_a_large_run_is_not_compiled(monkeypatch):
    monkeypatch.setattr(choice, "_HOPS_WORTH_COMPILING", 0)
    monkeypatch.setattr(choice, "find_spec", lambda name: None)
    notes = []
    assert simulate(plan(loss="0.01"), engine="auto", note=notes.append).engine == "reference"
    assert notes == [
        "Numba is not installed, so the reference engine runs instead of the compiled one"
    ]
    with pytest.raises(MissingToolError, match="needs Numba"):
        simulate(plan(), engine="compiled")


@pytest.mark.parametrize(
    ("case", "why"),
    [
        (
            plan(algorithm="ring", more="host: {send: 100 ns}"),
            "packets cost time on the hosts",
        ),
        (plan(carry=True, guard="off"), "values travel without the guard"),
        (
            plan(more=fault("{pause: {node: 0, at: 1 us, for: 1 us}}")),
            "a node meets the fault pause",
        ),
    ],
)
def test_what_cannot_be_compiled_is_named(case, why):
    with pytest.raises(
        RefusedError, match=f"the compiled engine does not simulate this run: {why}"
    ):
        simulate(case, engine="compiled")


def test_a_timeout_of_0_is_refused_since_time_would_stand_still():
    case = plan()
    rto = dataclasses.replace(case.rto, initial_ps=0)
    with pytest.raises(RefusedError, match="timeout of 0, with which time stands still"):
        run_compiled(dataclasses.replace(case, rto=rto))


def test_times_beyond_64_bits_are_refused():
    with pytest.raises(RefusedError, match="64 bits"):
        run_compiled(dataclasses.replace(plan(), patience_ps=1 << 61))


def test_numba_is_not_loaded_for_other_engines():
    assert importlib.util.find_spec("numba") is not None
    program = (
        "import sys; from tests.engine.made_scenarios import timing; timing(); "
        "sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0


def test_an_interrupt_ends_a_large_run(tmp_path):
    file = tmp_path / "large.yaml"
    file.write_text(
        "version: 1\nname: large\n"
        "topology: {workers: 64, link: {rate: 100 Gbps, loss: 0.0001}}\n"
        "collective: {size: 10 GB, dtype: int32, check: never}\nalgorithms: [in_network]\n"
    )
    command = [sys.executable, "-m", "innet.cli.main", "run", str(file), "--engine", "compiled"]
    process = subprocess.Popen(
        [*command, "--out", str(tmp_path)], stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    while not process.stderr.readline().startswith("innet: "):
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    rest = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 130
    assert "interrupted; no run had finished" in rest
