"""`innet emulate` from the command line: outputs, run directory, errors and exit codes."""

import csv
import json

import pytest

from innet.cli.main import run_command
from innet.emulator import capture
from innet.wire.frames import parse

SCENARIO = """\
version: 1
name: small
seed: 1
topology: {kind: star, workers: 2, link: {rate: 10 Gbps, delay: 1 us}}
switch: {latency: 400 ns, slots: 16}
packet: {elements: 32}
collective: {op: all_reduce, size: 4 KiB, dtype: int32, check: never}
algorithms: [in_network, ring]
"""


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "small.yaml"
    path.write_text(SCENARIO)
    return path


@pytest.fixture
def innet(tmp_path, monkeypatch, capfd):
    """Run `innet` in a fresh folder; returns exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("innet.cli.emulate.end_like_interrupt", lambda: None)

    def run(*arguments):
        code = run_command([str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        return code, out, err

    return run


def test_json_and_run_directory(innet, scenario, tmp_path):
    arguments = ("--json", "--target", "soft", "--set", "host.rto=20 s", "--pcap")
    code, out, err = innet("emulate", scenario, *arguments)
    assert code == 0, err
    printed = json.loads(out)
    assert printed.pop("wall_s") > 0
    assert printed == {
        "version": 1,
        "target": "soft",
        "net": "loopback",
        "workers": 2,
        "elements": 1024,
        "wrong": 0,
        "packets": 64,
        "retransmissions": 0,
        "dropped": {"links": {"lost": 0, "corrupted": 0}, "workers": {}, "switch": {}},
    }
    folder = tmp_path / "runs" / "small-emulated"
    assert json.loads((folder / "emulation.json").read_text()) == json.loads(out)
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["complete"] is True
    assert manifest["emulation"]["target"] == "soft"
    assert manifest["command"].startswith("innet emulate ")
    workers = rows_of(folder / "workers.csv")
    assert [row["packets_sent"] for row in workers] == ["32", "32"]
    links = rows_of(folder / "links.csv")
    assert [row["packets"] for row in links] == ["32"] * 4
    with (folder / "capture.pcapng").open("rb") as file:
        captured = list(capture.read(file))
    assert len(captured) == 128
    assert captured == sorted(captured)
    sent = [parse(each.frame) for each in captured if each.interface == 1 and is_up(each.frame)]
    assert sorted(each.message.number for each in sent) == list(range(32))


def rows_of(path):
    return list(csv.DictReader(path.read_text().splitlines()))


def is_up(frame):
    return frame[36:38] == b"\xbe\xe0"


def test_the_table_says_what_is_not_enforced(innet, scenario):
    code, out, _ = innet("emulate", scenario, "-q")
    assert code == 0
    lines = out.splitlines()
    assert lines[0] == "# small: all_reduce in network, emulated: p4 on loopback"
    heads, row = lines[1].split(), lines[2].split()
    assert heads[5:] == ["#wrong", "packets", "resent", "lost", "dropped", "wall*"]
    assert row[:8] == ["4", "KiB", "1024", "int32", "sum", "2", "0", "64"]
    assert "rate, delay and queue are not enforced" in out
    assert "the switch's latency of 400 ns is not enforced" in out
    assert "only in_network is emulated, not ring" in out
    assert "check: never has no meaning here" in out


def test_a_sweep_has_a_point_each(innet, scenario):
    code, out, _ = innet(
        "emulate",
        scenario,
        "-q",
        "--json",
        "--target",
        "soft",
        "--set",
        "sweep.switch.slots=[4, 8]",
    )
    assert code == 0
    printed = json.loads(out)
    assert [point["parameters"] for point in printed["points"]] == [
        {"switch.slots": 4},
        {"switch.slots": 8},
    ]
    assert [point["wrong"] for point in printed["points"]] == [0, 0]


def test_a_run_that_cannot_finish_ends_with_1_and_the_reason(innet, scenario):
    fault = "faults=[{crash: {node: switch, at: 0 ms}}]"
    code, out, err = innet(
        "emulate", scenario, "-q", "--json", "--target", "soft", "--deadline", "0.5", "--set", fault
    )
    assert code == 1
    printed = json.loads(out)
    assert printed["wrong"] is None
    assert "nothing has moved for 500 ms" in printed["unfinished"]
    assert "the switch is gone, by a fault of the scenario" in err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--set", "algorithms=[ring]"], "small.yaml"),
        (["--set", "topology.workers=33"], "33 workers, but the switch's 32-bit marks"),
        (["--set", "packet.elements=128"], "compiled for 32, 64, 256 values a packet, not for 128"),
        (
            ["--set", "packet.elements=500", "--set", "packet.overhead=76 B"],
            "500 values a packet are not in the wire format",
        ),
        (["--target", "bmv2", "--net", "loopback"], "needs --net netns or mininet"),
        (["--target", "no"], "--target"),
        (["--deadline", "0"], "--deadline"),
        (["--set", "collective.tensors=[a.npy]", "--set", "collective.size=null"], "a.npy"),
    ],
)
def test_what_cannot_be_emulated_ends_with_2(innet, scenario, arguments, told):
    code, out, err = innet("emulate", scenario, "-q", *arguments)
    assert code == 2, err
    assert told in err or "algorithms" in err
    assert out == ""


def test_an_interrupt_ends_with_130_and_keeps_what_is_finished(innet, scenario, monkeypatch):
    from innet.campaign import emulation

    run_point = emulation._Work.run_point

    def interrupted(self, number):
        if number == 1:
            raise KeyboardInterrupt
        run_point(self, number)

    monkeypatch.setattr(emulation._Work, "run_point", interrupted)
    sweep = ("--set", "sweep.switch.slots=[4, 8]")
    code, _, err = innet("emulate", scenario, "-q", "--target", "soft", *sweep)
    assert code == 130
    assert "1 of 2 points kept in runs/small-emulated" in err
