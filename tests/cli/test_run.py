"""`innet run`: results, files and exit codes."""

import json
import os
import subprocess
import sys

import pytest

from innet.errors import UnfinishedError

FILES = ["links.csv", "manifest.json", "summary.json", "workers.csv"]


def files_of(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def failing(monkeypatch, algorithm, error):
    """Make the engine raise `error` when it runs `algorithm`."""
    from innet.campaign import runs

    simulate = runs.simulate

    def simulate_or_fail(plan, *rest):
        if plan.algorithm == algorithm:
            raise error
        return simulate(plan, *rest)

    monkeypatch.setattr(runs, "simulate", simulate_or_fail)


def test_a_run_prints_a_table_and_leaves_a_run_directory(innet, scenario, tmp_path):
    code, out, err = innet("run", scenario, "--no-plots")
    assert code == 0
    assert "in_network" in out
    assert "ring" in out
    assert err == "wrote runs/small\n"
    assert sorted(files_of(tmp_path / "runs" / "small")) == FILES


def test_json_is_one_object_of_which_the_summary_file_has_more(innet, scenario, tmp_path):
    code, out, err = innet("run", scenario, "--json", "-q", "--no-plots")
    assert (code, err) == (0, "")
    found = json.loads(out)
    kept = json.loads((tmp_path / "runs" / "small" / "summary.json").read_text())
    for run, more in zip(found["points"][0]["runs"], kept["points"][0]["runs"], strict=True):
        assert run.items() < more.items()
    assert found["name"] == "small"
    (point,) = found["points"]
    assert [run["algorithm"] for run in point["runs"]] == ["in_network", "ring"]
    for run in point["runs"]:
        assert run["size_bytes"] == 65536
        assert run["time_ps"] >= run["bound_ps"] > 0
        assert (run["wrong"], run["checked"]) == (0, True)
        assert run["algbw_bps"] == round(65536 * 8 * 10**12 / run["time_ps"])


def test_the_same_scenario_gives_the_same_bytes(innet, scenario, tmp_path):
    for out in ("a", "b"):
        assert innet("run", scenario, "--out", out)[0] == 0
    first, second = (files_of(tmp_path / out / "small") for out in ("a", "b"))
    assert first == second
    assert sorted(first) == [*FILES[:2], "plots/time.svg", *FILES[2:]]


def test_the_manifest_says_how_to_run_it_again(innet, scenario, tmp_path):
    innet("run", scenario, "--no-plots", "--seed", "7", "--set", "switch.slots=32")
    manifest = json.loads((tmp_path / "runs" / "small" / "manifest.json").read_text())
    assert manifest["command"] == f"innet run {scenario} --set switch.slots=32 --seed 7"
    assert manifest["seed"] == 7
    assert manifest["complete"] is True
    assert manifest["scenario"]["resolved"]["switch"]["slots"] == 32
    assert len(manifest["scenario"]["sha256"]) == 64


def test_a_sweep_is_run_in_order_and_drawn(innet, scenario, tmp_path):
    scenario.write_text(scenario.read_text() + "sweep: {topology.workers: [2, 4]}\n")
    code, out, err = innet("run", scenario, "--json")
    assert code == 0
    assert err.splitlines()[-1] == "wrote runs/small/plots/time_against_workers.svg"
    points = json.loads(out)["points"]
    assert [point["parameters"] for point in points] == [
        {"topology.workers": 2},
        {"topology.workers": 4},
    ]
    assert [run["workers"] for point in points for run in point["runs"]] == [2, 2, 4, 4]
    rows = (tmp_path / "runs" / "small" / "workers.csv").read_text().splitlines()
    assert rows[0].startswith("topology.workers,algorithm,rank,node,")
    assert len(rows) == 1 + 2 * (2 + 4)


def test_an_engine_refuses_what_it_does_not_simulate(innet, scenario):
    code, out, err = innet("run", scenario, "--engine", "recurrence", "--no-plots")
    assert (code, out) == (2, "")
    assert "the recurrence engine does not simulate this run: values travel" in err


def test_the_engine_that_ran_is_told(innet, scenario):
    lossy = ("--set", "topology.link.loss=0.001", "--set", "collective.check=never")
    words = ("run", scenario, *lossy, "--set", "algorithms=[in_network]", "--no-plots")
    tables = [innet(*words, "--engine", engine)[1] for engine in ("reference", "compiled")]
    assert "reference engine" in tables[0]
    assert tables[1] == tables[0].replace("reference engine", "compiled engine")


def test_points_that_are_the_same_are_run_once(innet, scenario, monkeypatch):
    from innet.campaign import runs

    simulate, sizes = runs.simulate, []

    def counted(plan, *rest):
        sizes.append(plan.elements)
        return simulate(plan, *rest)

    monkeypatch.setattr(runs, "simulate", counted)
    sweep = "sweep.collective.size=[4 KiB, 8 KiB, 4 KiB, 4096 B]"
    out = innet("run", scenario, "--json", "--no-plots", "--set", sweep)[1]
    assert sizes == [1024] * 2 + [2048] * 2
    points = json.loads(out)["points"]
    assert [point["parameters"]["collective.size"] for point in points][2:] == ["4 KiB", "4096 B"]
    assert points[0]["runs"] == points[2]["runs"] == points[3]["runs"]


def test_a_bad_scenario_is_told_with_file_and_line(innet, scenario):
    scenario.write_text(scenario.read_text().replace("10 Gbps", "10"))
    code, out, err = innet("run", scenario)
    assert (code, out) == (2, "")
    assert err.startswith(f"{scenario}:4:")
    assert not os.path.exists("runs")


def test_an_unwritable_directory_is_told_before_any_work(innet, scenario, tmp_path, monkeypatch):
    failing(monkeypatch, "in_network", AssertionError("work was begun"))
    (tmp_path / "taken").write_text("")
    code, out, err = innet("run", scenario, "--out", "taken")
    assert (code, out) == (2, "")
    assert err.startswith("taken/small: cannot be written")


def test_a_wrong_sum_is_an_error_that_names_the_element(innet, scenario, monkeypatch):
    from innet.campaign import runs

    simulate = runs.simulate

    def simulate_wrongly(plan, *rest):
        trace = simulate(plan, *rest)
        if plan.algorithm == "ring":
            trace.results[2][17] += 1
        return trace

    monkeypatch.setattr(runs, "simulate", simulate_wrongly)
    code, out, err = innet("run", scenario, "--json", "--no-plots")
    assert code == 1
    assert [run["wrong"] for run in json.loads(out)["points"][0]["runs"]] == [0, 1]
    assert "ring" in err
    assert "worker 2" in err
    assert "element 17" in err


def test_a_run_that_cannot_finish_is_reported_with_the_finished_ones(
    innet, scenario, monkeypatch, tmp_path
):
    failing(monkeypatch, "in_network", UnfinishedError("worker 1 waits for slot 3"))
    code, out, err = innet("run", scenario, "--no-plots")
    assert code == 1
    assert "in_network  did not finish: worker 1 waits for slot 3" in out
    assert "\n  ring " in out
    assert err.endswith("innet: in_network cannot finish: worker 1 waits for slot 3\n")
    manifest = json.loads((tmp_path / "runs" / "small" / "manifest.json").read_text())
    assert manifest["complete"] is False


def test_an_interrupted_run_keeps_what_is_finished(innet, scenario, monkeypatch, tmp_path):
    failing(monkeypatch, "ring", KeyboardInterrupt())
    code, out, err = innet("run", scenario)
    assert (code, out) == (130, "")
    assert err == "innet: interrupted; 1 finished run kept in runs/small\n"
    summary = json.loads((tmp_path / "runs" / "small" / "summary.json").read_text())
    assert [run["algorithm"] for run in summary["points"][0]["runs"]] == ["in_network"]
    assert sorted(files_of(tmp_path / "runs" / "small")) == FILES


def test_an_interruption_before_anything_is_finished_keeps_the_last_run(
    innet, scenario, monkeypatch, tmp_path
):
    innet("run", scenario, "--no-plots")
    before = files_of(tmp_path / "runs")
    failing(monkeypatch, "in_network", KeyboardInterrupt())
    assert innet("run", scenario)[0] == 130
    assert files_of(tmp_path / "runs") == before


def test_an_internal_error_has_no_traceback(innet, scenario, monkeypatch):
    failing(monkeypatch, "ring", ZeroDivisionError("by\nzero"))
    code, out, err = innet("run", scenario)
    assert (code, out) == (1, "")
    assert err == (
        "innet: internal error (ZeroDivisionError: by); please report it. "
        "INNET_DEBUG=1 shows where\n"
    )


def test_a_traceback_on_request(innet, scenario, monkeypatch):
    monkeypatch.setenv("INNET_DEBUG", "1")
    failing(monkeypatch, "ring", ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        innet("run", scenario)


def test_too_little_memory_is_told_with_a_way_out(innet, scenario, monkeypatch):
    failing(monkeypatch, "ring", MemoryError())
    code, _, err = innet("run", scenario)
    assert code == 1
    assert "not enough memory" in err


def test_timing_only_says_so(innet, scenario):
    code, out, _ = innet("run", scenario, "--no-plots", "--set", "collective.check=never")
    assert code == 0
    assert "timing only" in out


def test_an_empty_tensor_takes_no_packets(innet, scenario):
    code, out, _ = innet("run", scenario, "--json", "--set", "collective.size=0 B")
    assert code == 0
    for run in json.loads(out)["points"][0]["runs"]:
        assert (run["time_ps"], run["packets"], run["algbw_bps"]) == (0, 0, 0)


def test_a_reader_that_leaves_early_is_no_error(scenario, tmp_path):
    program = (
        "import sys; from innet.cli.main import run_command; "
        f"sys.exit(run_command(['run', {str(scenario)!r}, '-q', '--out', {str(tmp_path)!r}]))"
    )
    read, write = os.pipe()
    os.close(read)
    found = subprocess.run([sys.executable, "-c", program], stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    assert (found.returncode, found.stderr) == (0, b"")


def test_a_terminated_run_ends_like_an_interrupted_one(scenario, tmp_path):
    scenario.write_text(scenario.read_text().replace("64 KiB", "256 MiB"))
    command = [sys.executable, "-m", "innet.cli.main", "run"]
    process = subprocess.Popen(
        [*command, str(scenario), "--engine", "reference", "--out", str(tmp_path)],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    assert process.stderr.readline().startswith("innet: ")
    process.terminate()
    rest = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 130
    assert "interrupted; no run had finished" in rest
