"""`innet trace` writes a training step's timeline for Perfetto, and says why where it cannot."""

import json

import pytest

from innet.trace.spans_file import StoredSpan, spans_file
from tests.report.made_results import run_summary, single_point, stored
from tests.report.made_step_results import step_results, step_summary, stored_steps

SPANS = [
    StoredSpan("in_network", 5, "compute", "", 0, 3_000, 0, -1, ""),
    StoredSpan("ring", 5, "compute", "", 0, 4_000, 0, -1, ""),
]


@pytest.fixture
def run(tmp_path):
    folder = tmp_path / "made"
    stored_steps(folder, step_results(step_summary(), step_summary("ring", 150)))
    (folder / "spans.csv.gz").write_bytes(spans_file(SPANS))
    return folder


def durations(path):
    return [each["dur"] for each in json.loads(path.read_text())["traceEvents"] if "dur" in each]


def test_the_in_network_step_is_written_by_default_into_the_run_directory(innet, run):
    code, out, err = innet("trace", run, "--perfetto")
    assert (code, out, err) == (0, f"{run}/trace_in_network.json\n", "")
    document = json.loads((run / "trace_in_network.json").read_text())
    assert durations(run / "trace_in_network.json") == [0.003]
    assert document["traceEvents"][0]["args"] == {"name": "rank 5: pp 1, dp 1"}
    assert document["otherData"] == {
        "scenario": "made",
        "algorithm": "in_network",
        "ts": "us of simulated time",
    }


def test_another_algorithm_and_file_can_be_named(innet, run, tmp_path):
    assert innet("trace", run, "--perfetto", "--algorithm", "ring", "-o", "a.json", "-q") == (
        0,
        "",
        "",
    )
    assert durations(tmp_path / "a.json") == [0.004]


def test_an_algorithm_that_did_not_run_is_an_error_that_names_those_that_did(innet, run):
    code, _, err = innet("trace", run, "--perfetto", "--algorithm", "tree")
    assert (code, err) == (
        2,
        f"{run}: --algorithm tree: has no run there; what has: in_network, ring\n",
    )


def test_a_format_has_to_be_named(innet, run):
    code, _, err = innet("trace", run)
    assert code == 2
    assert "--perfetto" in err


def test_a_sweep_keeps_no_spans_and_says_how_to_get_some(innet, tmp_path):
    point = step_results(step_summary(), parameters={"topology.link.rate": "10 Gbps"})
    stored_steps(tmp_path / "swept", point)
    code, _, err = innet("trace", tmp_path / "swept", "--perfetto")
    assert code == 2
    assert "innet run SCENARIO.yaml --set topology.link.rate=10Gbps" in err


def test_damaged_spans_name_their_file(innet, run):
    (run / "spans.csv.gz").write_bytes(b"no gzip")
    code, _, err = innet("trace", run, "--perfetto")
    assert code == 2
    assert err.startswith(f"{run}/spans.csv.gz: is not a text packed by gzip")


def test_a_collective_has_no_timeline(innet, tmp_path):
    stored(tmp_path / "collective", single_point(run_summary()))
    code, _, err = innet("trace", tmp_path / "collective", "--perfetto")
    assert code == 2
    assert "holds the results of a collective scenario, not of a training one" in err


def test_nothing_finished_is_said(innet, tmp_path):
    stored_steps(tmp_path / "made", step_results())
    code, _, err = innet("trace", tmp_path / "made", "--perfetto")
    assert (code, err) == (2, f"{tmp_path}/made: no run has finished there\n")
