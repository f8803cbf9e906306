"""The JSON object that scripts read, and reading a run directory back."""

import json

import pytest
from made_results import run_summary, single_point, stored, swept

from innet.errors import ConfigurationError
from innet.report.results import PointResult, Results, Unfinished, json_text, read_run

PROMISED_KEYS = {
    "algorithm",
    "workers",
    "size_bytes",
    "time_ps",
    "bound_ps",
    "algbw_bps",
    "busbw_bps",
    "wrong",
    "checked",
    "wire_bytes_per_nic",
    "packets",
    "dropped",
    "retransmissions",
    "limited_by",
}


def test_the_object_has_the_promised_keys():
    found = single_point(run_summary(), parameters={"topology.workers": 8}).as_json()
    assert found["version"] == 1
    assert found["name"] == "made"
    assert set(found) == {"version", "name", "points"}
    assert set(found["points"][0]) == {"parameters", "runs"}
    assert found["points"][0]["parameters"] == {"topology.workers": 8}
    assert set(found["points"][0]["runs"][0]) == PROMISED_KEYS


def test_the_summary_file_has_the_same_values_and_more():
    run = run_summary()
    assert run.as_json().items() < run.as_stored().items()


def test_unfinished_runs_are_beside_the_finished_ones():
    point = PointResult({}, (run_summary(),), (Unfinished("ring", "worker 1 waits"),))
    found = Results("made", (point,)).as_json()["points"][0]
    assert found["unfinished"] == [{"algorithm": "ring", "message": "worker 1 waits"}]


def test_json_without_nan():
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_text({"rate": float("nan")})


def test_results_are_read_back_as_they_were(tmp_path):
    results = swept("topology.link.loss", [0, 1e-4])
    stored(tmp_path / "made", results)
    assert read_run(tmp_path / "made").results == results


@pytest.mark.parametrize(
    ("file", "content", "told"),
    [
        ("manifest.json", None, "is missing"),
        ("summary.json", None, "is missing"),
        ("summary.json", "{", "is not JSON"),
        ("summary.json", "[]", "is not version 1"),
        ("summary.json", '{"version": 2}', "is not version 1"),
        ("summary.json", "[" * 100_000, "nested too deeply"),
        ("summary.json", "\udcff", "not a text in UTF-8"),
        ("manifest.json", '{"version": 1, "scenario": 5}', "does not hold the resolved scenario"),
        ("summary.json", '{"version": 1, "name": "made"}', "points: does not hold what this innet expects (Field required)"),
        (
            "summary.json",
            '{"version": 1, "name": "a", "points": [{"parameters": {}, "runs": [{}]}]}',
            "points.0.runs.0.algorithm: does not hold what this innet expects (Field required)",
        ),
        (
            "summary.json",
            '{"version": 1, "name": "a", "points": [{"parameters": [], "runs": []}]}',
            "points.0.parameters: does not hold",
        ),
    ],
)
def test_a_damaged_run_directory_is_refused_by_name(tmp_path, file, content, told):
    folder = tmp_path / "made"
    stored(folder, single_point(run_summary()))
    if content is None:
        (folder / file).unlink()
    else:
        (folder / file).write_text(content, errors="surrogateescape")
    with pytest.raises(ConfigurationError) as caught:
        read_run(folder)
    assert str(caught.value).startswith(f"{folder / file}:")
    assert told in str(caught.value)


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(ConfigurationError, match="there is no such run directory"):
        read_run(tmp_path / "nothing")


def test_every_number_is_plain_json(tmp_path):
    text = json_text(single_point(run_summary()).as_json())
    assert json.loads(text)["points"][0]["runs"][0]["time_ps"] == 166_363_200
    assert text.endswith("}\n")
