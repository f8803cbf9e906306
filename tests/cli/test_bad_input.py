"""Bad input: the right exit code, one clear message, no traceback, nothing half-written."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

GARBAGE = bytes(range(256)) * 8


def files_in(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def refused(innet, tmp_path):
    """Run a command that must be refused with 2 and leave every file as it was."""

    def run(*arguments):
        before = files_in(tmp_path)
        code, out, err = innet(*arguments)
        assert (code, out) == (2, "")
        assert "Traceback" not in err
        assert "internal error" not in err
        assert files_in(tmp_path) == before
        return err

    return run


@pytest.mark.parametrize("command", ["run", "check"])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "x.yaml: there is no such file\n"),
        (b"", "x.yaml:1: a scenario is a mapping of keys: version, name, "),
        (b"\n\n# only a comment\n", "x.yaml:1: a scenario is a mapping of keys: version, name, "),
        (b"- 1\n- 2\n", "x.yaml:1: a scenario is a mapping of keys: version, name, "),
        (GARBAGE, "x.yaml: not a text in UTF-8 (byte 128)\n"),
        (b"version: 1\0", "x.yaml:1: not valid YAML: the character 0 is not allowed\n"),
        (b"name: [", "x.yaml:1: not valid YAML: "),
        ("version: 1".encode("utf-16"), "x.yaml: not a text in UTF-8 (byte 0)\n"),
    ],
)
def test_a_file_that_is_no_scenario(refused, tmp_path, command, content, message):
    if content is not None:
        (tmp_path / "x.yaml").write_bytes(content)
    assert refused(command, "x.yaml").startswith(message)


@pytest.mark.parametrize("command", ["run", "check"])
def test_a_folder_and_a_dangling_link_are_no_scenarios(refused, tmp_path, command):
    (tmp_path / "folder.yaml").mkdir()
    (tmp_path / "link.yaml").symlink_to("nowhere")
    assert refused(command, "folder.yaml") == "folder.yaml: cannot be read: Is a directory\n"
    assert refused(command, "link.yaml") == "link.yaml: there is no such file\n"


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("topology.link.rate=10", "10 has no unit"),
        ("topology.link.rate=10 Gb", "unknown unit 'Gb' for a rate"),
        ("topology.link.rate=-1 Gbps", "'-1 Gbps' is not a rate"),
        ("topology.link.rate=0 bps", "this rate must be above 0"),
        ("topology.link.rate=1e30 Gbps", "'1e30 Gbps' is too large"),
        ("topology.link.rate=10 us", "unknown unit 'us' for a rate"),
        ("topology.link.delay=.nan", "nan has no unit"),
        ("topology.link.delay=.inf", "inf has no unit"),
        ("topology.link.delay=0.1 ps", "is not a whole number of ps"),
        ("topology.link.loss=.nan", "nan is not a probability"),
        ("topology.link.loss=-1e-9", "-1e-09 is not a probability"),
        ("topology.link.loss=1", "1 loses every packet"),
        ("topology.workers=4097", "4097 is not a whole number from 1 to 4096"),
        ("topology.workers=0", "0 is not a whole number"),
        ("topology.workers=1e3", "1000.0 is not a whole number"),
        ("collective.size=64 Kb", "did you mean 'KB'?"),
        ("collective.size=1 B", "1 B is not a whole number of int32 elements"),
        ("collective.size=999 TB", "packets for each of 4 workers are too many to simulate"),
        ("collective.size=1 EB", "unknown unit 'EB' for a size"),
        ("collective.dtype=float64", "'float64' is not a data type"),
        ("algorithms=[in_network, magic]", "'magic' is not an algorithm; write some of in_network"),
        ("algorithms=[]", "is not a list of algorithms"),
        ("switch.slots=16385", "16385 is not a whole number from 1 to 16384"),
        ("packet.elements=33", "33 is not a packet size of the wire format"),
        ("host.rto=soon", "'soon' is not a duration"),
        ("workers.4.start=1 us", "there is no worker 4"),
        ("seed=-1", "-1 is not a whole number"),
        ("name=../outside", "'../outside' cannot name a run's folder"),
        ("no.such.key=1", "unknown key 'no'"),
        ("topology.workers.deeper=1", "there is no key 'deeper' in 4"),
        ("topology", "write key=value"),
        ("=1", "is not a dotted key"),
        ("sweep.topology.wrokers=[1]", "unknown key 'wrokers'; did you mean 'workers'?"),
        ("sweep.topology.workers=[2, -2]", "-2 is not a whole number"),
        ("faults=[{drop: {from: 0, to: 1}}]", "there is no link from 0 to 1"),
    ],
)
def test_a_bad_override_is_told_by_its_option(refused, scenario, override, told):
    err = refused("run", scenario, "--set", override)
    assert err.startswith(f"--set {override.partition('=')[0]}: ")
    assert told in err
    assert err.count("\n") == 1


def test_a_bad_seed(refused, scenario):
    assert "2 is not a whole number" not in refused("run", scenario, "--seed", "1.5")
    assert refused("run", scenario, "--seed", "-1").startswith("--set seed: -1 is not a whole")


@pytest.fixture
def with_tensors(scenario, tmp_path):
    """A scenario for two workers that names the files a.npy and b.npy, of which a.npy is fine."""
    text = scenario.read_text().replace("workers: 4", "workers: 2")
    text = text.replace("size: 64 KiB, dtype: int32", "tensors: [a.npy, b.npy], dtype: float32")
    scenario.write_text(text)
    np.save(tmp_path / "a.npy", np.ones(8, dtype=np.float32))
    return scenario


@pytest.mark.parametrize(
    ("array", "told"),
    [
        (np.ones(7, dtype=np.float32), "this file has one of shape (7,), but"),
        (np.ones((2, 4), dtype=np.float32), "this file has one of shape (2, 4), but"),
        (np.ones(8), "tensor 'array' is float64, but the collective's dtype float32 needs float32"),
        (np.ones(8, dtype=np.int32), "tensor 'array' is int32"),
        (np.array([1, np.nan] * 4, dtype=np.float32), "element 1 is nan"),
        (np.array([1, 1, np.inf, 1] * 2, dtype=np.float32), "element 2 is inf"),
        (np.full(8, 2.0**127, dtype=np.float32), "the tensor of worker 1: element 0 is 1.70141"),
        (np.array([{}] * 8, dtype=object), "is not a whole numpy array"),
    ],
)
def test_a_tensor_file_that_does_not_fit(refused, with_tensors, tmp_path, array, told):
    np.save(tmp_path / "b.npy", array, allow_pickle=True)
    err = refused("run", with_tensors)
    assert err.startswith(f"{tmp_path / 'b.npy'}: ")
    assert told in err


@pytest.mark.parametrize("content", [b"", GARBAGE, None])
def test_a_tensor_file_that_is_none(refused, with_tensors, tmp_path, content):
    if content is not None:
        (tmp_path / "b.npy").write_bytes(content)
    err = refused("run", with_tensors)
    assert err.startswith(f"{tmp_path / 'b.npy'}: ")


def test_a_tensor_file_that_is_cut_off_and_a_folder(refused, with_tensors, tmp_path):
    (tmp_path / "b.npy").write_bytes((tmp_path / "a.npy").read_bytes()[:-5])
    assert "could only read 6 elements" in refused("run", with_tensors)
    (tmp_path / "b.npy").unlink()
    (tmp_path / "b.npy").mkdir()
    assert "cannot read the tensor file: Is a directory" in refused("run", with_tensors)


@pytest.mark.parametrize("out", ["taken", "taken/deeper", "/dev/null", "x" * 300])
def test_a_place_that_cannot_hold_run_directories(refused, scenario, tmp_path, out):
    (tmp_path / "taken").write_text("")
    assert refused("run", scenario, "--out", out).startswith(f"{out}/small: cannot be written: ")


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_folder_without_the_right_to_write(refused, scenario, tmp_path):
    (tmp_path / "locked").mkdir(mode=0o500)
    assert "Permission denied" in refused("run", scenario, "--out", "locked")


@pytest.mark.parametrize(
    "arguments",
    [
        ("new", "taken/x.yaml"),
        ("new", "x" * 300 + ".yaml"),
        ("new", "folder"),
        ("new", "taken"),
        ("schema", "--out", "folder"),
        ("schema", "--out", "taken/x.json"),
    ],
)
def test_a_place_that_cannot_hold_a_file(refused, tmp_path, arguments):
    (tmp_path / "taken").write_text("")
    (tmp_path / "folder").mkdir()
    assert refused(*arguments).startswith(f"{arguments[-1]}: ")


def rewritten(folder, change):
    path = folder / "summary.json"
    summary = json.loads(path.read_text())
    change(summary)
    path.write_text(json.dumps(summary))


def damage_type(summary):
    summary["points"][0]["runs"][0]["time_ps"] = "soon"


def damage_name(summary):
    summary["points"][0]["runs"][0]["algorithm"] = 7


def damage_key(summary):
    del summary["points"][0]["runs"][0]["because"]


def damage_parameters(summary):
    summary["points"][0]["parameters"] = []


def damage_points(summary):
    summary["points"] = []


@pytest.fixture
def kept_run(innet, scenario):
    assert innet("run", scenario, "-q", "--no-plots", "--set", "collective.size=1 KiB")[0] == 0
    return Path("runs/small")


@pytest.mark.parametrize("command", ["plot", "explain", "compare"])
@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (damage_type, "points.0.runs.0.time_ps: does not hold what this innet expects"),
        (damage_name, "points.0.runs.0.algorithm: does not hold"),
        (damage_key, "points.0.runs.0.because: does not hold what this innet expects (Field requ"),
        (damage_parameters, "points.0.parameters: does not hold"),
    ],
)
def test_a_run_directory_with_a_wrong_summary(refused, kept_run, command, damage, told):
    rewritten(kept_run, damage)
    folders = [kept_run] * (2 if command == "compare" else 1)
    assert refused(command, *folders).startswith(f"runs/small/summary.json: {told}")


@pytest.mark.parametrize("command", ["plot", "explain", "compare"])
@pytest.mark.parametrize(
    ("file", "content", "told"),
    [
        ("manifest.json", None, "is missing"),
        ("summary.json", None, "is missing"),
        ("manifest.json", b"", "is not JSON"),
        ("summary.json", b'{"version": 1, "na', "is not JSON"),
        ("summary.json", GARBAGE, "is not JSON: not a text in UTF-8"),
        ("summary.json", b"[" * 100_000, "is not JSON: nested too deeply"),
        ("summary.json", b'{"version": 3}', "is not version 1 of this file"),
        ("manifest.json", b'{"version": 1, "scenario": 5}', "does not hold the resolved scenario"),
    ],
)
def test_a_broken_run_directory(refused, kept_run, command, file, content, told):
    if content is None:
        (kept_run / file).unlink()
    else:
        (kept_run / file).write_bytes(content)
    folders = [kept_run] * (2 if command == "compare" else 1)
    assert refused(command, *folders).startswith(f"runs/small/{file}: {told}")


@pytest.mark.parametrize("command", ["plot", "explain"])
def test_a_run_directory_in_which_nothing_has_finished(refused, kept_run, command):
    rewritten(kept_run, damage_points)
    assert refused(command, kept_run).startswith("innet: no run has finished there, so there is")


@pytest.mark.parametrize("command", ["plot", "explain", "compare"])
def test_a_file_or_a_folder_of_runs_is_no_run_directory(refused, kept_run, scenario, command):
    several = [kept_run] if command == "compare" else []
    assert "there is no such run directory" in refused(command, *several, scenario)
    assert refused(command, *several, "runs").startswith("runs/manifest.json: is missing")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("-o", "x.bmp"), "x.bmp: '.bmp' is not a plot format; end the name in .svg, .png or .pdf"),
        (("-o", "noending"), "noending: '' is not a plot format"),
        (("-o", "small.yaml/x.svg"), "small.yaml/x.svg: cannot be written"),
        (("-o", "x" * 300 + ".svg"), "x" * 300 + ".svg: cannot be written: File name too long"),
        (("--x", "loss"), "innet: --x loss: was not swept in these runs; what was: nothing"),
        (("--lines", "seed"), "innet: --lines seed: was not swept"),
    ],
)
def test_a_plot_that_cannot_be_made(refused, kept_run, options, told):
    assert refused("plot", kept_run, *options).startswith(told)


def test_runs_of_different_scenarios_are_compared_as_far_as_they_go(innet, kept_run, scenario):
    other = ["--set", "name=other", "--set", "algorithms=[ring, double_tree]"]
    assert innet("run", scenario, "-q", "--no-plots", *other)[0] == 0
    code, out, err = innet("compare", kept_run, "runs/other")
    assert (code, err) == (0, "")
    assert "collective.size: 1 KiB -> 64 KiB" in out
    assert "only in A: 1 runs (in_network)" in out
    assert "only in B: 1 runs (double_tree)" in out


def test_a_run_that_is_too_long_says_who_waits(innet, scenario):
    code, out, err = innet("run", scenario, "-q", "--no-plots", "--set", "limit=1 us")
    assert code == 1
    assert "64 KiB" in out
    assert "in_network  did not finish: reached the simulated time limit (at 1 us)\n" in out
    assert err.startswith("innet: in_network cannot finish: reached the simulated time limit")
    assert "worker 0 waits for slot 0" in err


def test_ctrl_c_in_the_middle_keeps_what_is_finished(scenario, tmp_path):
    sweep = "sweep.collective.size=[4 KiB, 256 MiB]"
    engine = ["--engine", "reference"]  # The others would be done before the signal comes.
    command = ["run", str(scenario), "--out", str(tmp_path), "--set", sweep, *engine]
    process = subprocess.Popen(
        [sys.executable, "-m", "innet.cli.main", *command, "--set", "collective.check=never"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    assert "collective.size=256 MiB" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert (process.returncode, out) == (130, "")
    assert err.endswith(f"innet: interrupted; 2 finished runs kept in {tmp_path / 'small'}\n")
    assert "Traceback" not in err
    summary = json.loads((tmp_path / "small" / "summary.json").read_text())
    assert [point["parameters"] for point in summary["points"]] == [{"collective.size": "4 KiB"}]
    names = sorted(path.name for path in (tmp_path / "small").iterdir())
    assert names == ["links.csv", "manifest.json", "summary.json", "workers.csv"]
