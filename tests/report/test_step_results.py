"""The results of training scenarios as JSON, and reading a run directory of one back."""

import json

import pytest
from made_results import run_summary, single_point, stored
from made_step_results import MS, RESOLVED, step_results, step_summary, stored_steps

from innet.errors import ConfigurationError
from innet.report.results import Unfinished, json_text, kind_of_run, read_run
from innet.report.step_results import StepResults, read_step_run


def test_results_are_read_back_as_they_were(tmp_path):
    unfinished = (Unfinished("binomial_tree", "deadlock"),)
    parameters = {"topology.link.rate": "10 Gbps"}
    results = step_results(
        step_summary(), step_summary("ring", 150), parameters=parameters, unfinished=unfinished
    )
    stored_steps(tmp_path / "made", results)
    found = read_step_run(tmp_path / "made")
    assert found.results == results
    assert found.scenario == RESOLVED
    assert kind_of_run(tmp_path / "made") == "training"


def test_the_object_says_what_is_gained_at_each_point():
    found = step_results(step_summary(), step_summary("ring", 150)).as_json()
    assert (found["version"], found["kind"], found["name"]) == (1, "training", "made")
    (point,) = found["points"]
    assert point["gain"] == {"over": "ring", "gain": 1.25, "offloaded": True, "among": 1}
    assert [run["algorithm"] for run in point["runs"]] == ["in_network", "ring"]
    assert step_results(step_summary()).as_json()["points"][0]["gain"] is None
    (run, _) = json.loads(json_text(found))["points"][0]["runs"]
    assert run["operations"][0]["mean"] == {
        "exposed_ps": 12 * MS,
        "waiting_ps": 2 * MS,
        "hidden_ps": 55 * MS,
    }


def test_kinds_of_run_directories_are_not_mistaken(tmp_path):
    stored(tmp_path / "collective", single_point(run_summary()))
    stored_steps(tmp_path / "training", step_results(step_summary()))
    assert kind_of_run(tmp_path / "collective") == "collective"
    with pytest.raises(ConfigurationError, match="of a collective scenario, not of a training one"):
        read_step_run(tmp_path / "collective")
    with pytest.raises(ConfigurationError, match="of a training scenario, not of a collective one"):
        read_run(tmp_path / "training")


def test_a_damaged_summary_is_refused_by_name(tmp_path):
    folder = tmp_path / "made"
    stored_steps(folder, step_results(step_summary()))
    document = StepResults("made", ()).as_json() | {"points": [{"parameters": {}, "runs": [{}]}]}
    (folder / "summary.json").write_text(json.dumps(document))
    with pytest.raises(ConfigurationError, match=r"points\.0\.runs\.0\.algorithm: does not hold"):
        read_step_run(folder)
    with pytest.raises(ConfigurationError, match="there is no such run directory"):
        kind_of_run(tmp_path / "nothing")
