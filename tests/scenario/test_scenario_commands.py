"""`innet check`, `new` and `schema`: what users see, and no file half-written or overwritten."""

import json
import re
import stat
from pathlib import Path

import pytest
import yaml

from innet.cli.check import check
from innet.cli.new import new
from innet.cli.schema import schema
from innet.errors import ConfigurationError
from innet.scenario.create import create_scenario, schema_text
from innet.scenario.load import load_scenario, parse_scenario
from innet.scenario.templates import SCHEMA_FILE, template_names, template_text

RUNNABLE = [name for name in template_names() if name != "tensors"]


@pytest.mark.parametrize("name", template_names())
def test_every_template_is_valid_and_points_editors_to_the_schema(name):
    text = template_text(name)
    assert text.startswith(f"# yaml-language-server: $schema={SCHEMA_FILE}\n")
    assert parse_scenario(text).name == name


def test_the_quickstart_template_runs_every_algorithm():
    assert len(parse_scenario(template_text("quickstart")).algorithms) == 8


def test_new_writes_a_scenario_under_its_own_name_and_the_schema(tmp_path: Path, capsys):
    path = tmp_path / "sub" / "mine.yaml"
    new(path)
    assert load_scenario(path).name == "mine"
    assert json.loads((path.parent / SCHEMA_FILE).read_text()) == json.loads(schema_text())
    assert f"innet check {path}" in capsys.readouterr().out
    assert sorted(file.name for file in path.parent.iterdir()) == [SCHEMA_FILE, "mine.yaml"]


def test_new_keeps_the_templates_name_where_the_files_cannot_be_one(tmp_path: Path):
    path = tmp_path / "my first run.yaml"
    new(path, "sweep")
    assert load_scenario(path).name == "sweep"


def test_new_never_overwrites_without_force(tmp_path: Path):
    path = tmp_path / "s.yaml"
    path.write_text("mine")
    with pytest.raises(ConfigurationError, match="exists already; --force replaces it"):
        new(path)
    assert path.read_text() == "mine"
    new(path, force=True)
    assert load_scenario(path).name == "s"


def test_new_refuses_unknown_templates_and_folders(tmp_path: Path):
    with pytest.raises(
        ConfigurationError, match="one of faults, quickstart, racks, sweep, tensors"
    ):
        new(tmp_path / "s.yaml", "none")
    with pytest.raises(ConfigurationError, match="is a folder"):
        new(tmp_path)


def test_a_place_that_cannot_be_written_is_one_clear_error(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigurationError, match="cannot be written: "):
        create_scenario(tmp_path / "file" / "s.yaml", "sweep")
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


def test_written_files_have_usual_rights(tmp_path: Path):
    new(tmp_path / "s.yaml")
    assert stat.S_IMODE((tmp_path / "s.yaml").stat().st_mode) & 0o400
    probe = tmp_path / "probe"
    probe.touch()
    assert (tmp_path / "s.yaml").stat().st_mode == probe.stat().st_mode


def test_schema_is_printed_or_written(tmp_path: Path, capsys):
    schema()
    assert json.loads(capsys.readouterr().out)["properties"]["name"]
    schema(tmp_path / "x.json")
    assert (tmp_path / "x.json").read_text() == schema_text()


def test_the_schema_describes_dimensioned_values_as_texts_with_a_pattern():
    link = json.loads(schema_text())["$defs"]["LinkSection"]
    assert link["additionalProperties"] is False
    assert link["required"] == ["rate"]
    rate, delay = link["properties"]["rate"], link["properties"]["delay"]
    assert re.search(rate["pattern"], "10 Gbps")
    assert not re.search(rate["pattern"], "10 Kb")
    assert not re.search(rate["pattern"], "10")
    assert (delay["type"], delay["default"]) == ("string", "1 us")


def test_every_key_of_the_schema_is_explained():
    told = json.loads(schema_text())
    for name, section in told["$defs"].items():
        assert section["description"], name
    for key in ("seed", "limit", "algorithms", "workers", "faults", "sweep"):
        assert told["properties"][key]["description"]


def run_check(capsys, path: Path, *overrides: str, show: bool = False) -> str:
    check(path, list(overrides), show)
    return capsys.readouterr().out


def written(tmp_path: Path, template: str) -> Path:
    path = tmp_path / f"{template}.yaml"
    create_scenario(path, template)
    return path


def test_check_says_what_will_run(tmp_path: Path, capsys):
    out = run_check(capsys, written(tmp_path, "quickstart"))
    assert "quickstart: valid, 1 point, 8 runs" in out
    assert "100 Gbps, 1 us, loss 0, queue 1 MiB" in out
    assert "4 MiB, 1048576 elements of float32; every result is checked" in out
    # Round trip 2 x (88 ns + 1 us) + 400 ns = 2.576 us: 30 packets of 88 ns.
    assert "4096 chunks a worker, packets of 1100 B with 256 values of int32, 512 slots" in out
    assert "512 slots (30 fill the link)" in out
    assert "switch memory 1 MiB" in out


def test_check_lists_the_points_of_a_sweep(tmp_path: Path, capsys):
    out = run_check(capsys, written(tmp_path, "sweep"))
    assert "sweep: valid, 12 points, 24 runs" in out
    assert "point 12: topology.workers=16, topology.link.loss=0.001" in out


def test_check_cuts_a_long_list_of_points(tmp_path: Path, capsys):
    out = run_check(capsys, written(tmp_path, "sweep"), f"sweep.seed={list(range(3))}")
    assert "36 points" in out
    assert "and 12 more points" in out


def test_check_names_faults_stragglers_and_timing_only(tmp_path: Path, capsys):
    out = run_check(capsys, written(tmp_path, "faults"), "collective.check=never")
    assert "4, of which 3 differ" in out
    assert "timing only, nothing is summed" in out
    assert "faults       drop, drop, duplicate" in out


@pytest.mark.parametrize("name", RUNNABLE)
def test_what_check_shows_is_a_scenario_for_each_point(tmp_path: Path, capsys, name):
    out = run_check(capsys, written(tmp_path, name), show=True)
    shown = out[out.index("--- #") :]
    documents = list(yaml.safe_load_all(shown))
    assert len(documents) == (12 if name == "sweep" else 1)
    for document in documents:
        assert parse_scenario(yaml.safe_dump(document)).name == name


def test_check_misses_absent_tensor_files(tmp_path: Path, capsys):
    path = written(tmp_path, "tensors")
    with pytest.raises(ConfigurationError, match=r"tensors.yaml:11: collective.tensors: there is"):
        check(path)
    for worker in range(2):
        (tmp_path / f"worker{worker}.npy").write_bytes(b"")
    assert "float32 from 2 files" in run_check(capsys, path)
