"""A training scenario from `innet run` to every command that reads its run directory."""

import csv
import gzip
import json

import pytest

SCENARIO = """\
version: 1
name: step
topology: {kind: star, workers: 4, link: {rate: 10 Gbps, delay: 1 us}}
algorithms: [in_network, ring]
training:
  mesh: {pp: 2, dp: 2}
  let: {act: 32 KiB}
  step:
    - {recv: {from: {pp: pp-1}, size: act}}
    - {compute: 50 us}
    - {send: {to: {pp: pp+1}, size: act}}
    - {all_reduce: {size: 64 KiB, over: dp, async: g}}
    - {compute: 20 us}
    - {wait: g}
"""


@pytest.fixture
def run(innet, tmp_path):
    (tmp_path / "step.yaml").write_text(SCENARIO)
    code, out, err = innet("run", "step.yaml")
    assert code == 0, err
    return out


def rows(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_files_table_and_json_agree_on_a_steps_figures(innet, run, tmp_path):
    folder = tmp_path / "runs" / "step"
    code, out, _ = innet("run", "step.yaml", "--json", "--no-plots", "-q")
    document = json.loads(out)
    assert (code, document) == (0, json.loads((folder / "summary.json").read_text()))
    ranks = rows(folder / "ranks.csv")
    spans = list(
        csv.DictReader(
            gzip.decompress((folder / "spans.csv.gz").read_bytes()).decode().splitlines()
        )
    )
    for found in document["points"][0]["runs"]:
        own = [row for row in ranks if row["algorithm"] == found["algorithm"]]
        # Compute is what the scenario says; every rank's parts make up the step.
        assert {row["compute_ps"] for row in own} == {"70000000"}
        parts = ("compute_ps", "exposed_ps", "idle_ps")
        assert {sum(int(row[part]) for part in parts) for row in own} == {found["step_ps"]}
        assert found["bound_ps"] == 70_000_000
        # Stage 1 waits while stage 0 computes before it sends.
        assert all(int(row["waiting_ps"]) >= 50_000_000 for row in own[2:])
        ends = [
            int(span["start_ps"]) + int(span["duration_ps"])
            for span in spans
            if span["algorithm"] == found["algorithm"]
        ]
        assert max(ends) == found["step_ps"]
    (gain,) = (point["gain"] for point in document["points"])
    ours, ring = (each["step_ps"] for each in document["points"][0]["runs"])
    assert gain == {"over": "ring", "gain": round(ring / ours, 6), "offloaded": True, "among": 1}
    assert "send over pp not in the network" in run


def test_the_same_step_gives_the_same_files(innet, run, tmp_path):
    folder = tmp_path / "runs" / "step"
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert {path.name for path in before} == {
        "manifest.json",
        "summary.json",
        "ranks.csv",
        "operations.csv",
        "links.csv",
        "spans.csv.gz",
        "shares.svg",
        "timeline.svg",
    }
    assert innet("run", "step.yaml", "-q")[0] == 0
    assert {path: path.read_bytes() for path in before} == before


def test_every_command_reads_the_run_directory(innet, run):
    assert innet("plot", "runs/step", "--chart", "timeline", "-q") == (0, "", "")
    code, out, err = innet("trace", "runs/step", "--perfetto", "-q", "-o", "a.json")
    assert (code, out, err) == (0, "", "")
    code, out, _ = innet("explain", "runs/step")
    assert (code, out.count("why:"), out.count("helps:")) == (0, 2, 2)
    code, out, _ = innet("compare", "runs/step", "runs/step")
    assert (code, out.count("  =  ")) == (0, 2)


def test_a_sweep_keeps_gains_and_no_spans(innet, run, tmp_path):
    sweep = "sweep: {topology.link.rate: [1 Gbps, 100 Gbps]}\n"
    (tmp_path / "step.yaml").write_text(SCENARIO + sweep)
    code, _, err = innet("run", "step.yaml")
    assert code == 0, err
    names = {path.name for path in (tmp_path / "runs" / "step").iterdir()}
    assert "spans.csv.gz" not in names
    assert (tmp_path / "runs/step/plots/gain_against_topology.link.rate.svg").exists()
    code, _, err = innet("trace", "runs/step", "--perfetto")
    assert code == 2
    assert "innet run step.yaml --set topology.link.rate=1Gbps" in err
