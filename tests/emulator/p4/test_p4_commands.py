"""`innet p4 compile|deploy|test|status`, with a P4Runtime server in place of BMv2."""

import hashlib
import json
import sys
import textwrap
from pathlib import Path

import pytest

from innet.cli.main import run_command
from innet.emulator.compiler import COMPILER, ELEMENTS
from innet.emulator.control.build import build_folder, program_folder
from innet.emulator.control.local import LocalSwitch

SCENARIO = """\
version: 1
name: small
topology: {kind: star, workers: 2, link: {rate: 10 Gbps, delay: 1 us}}
switch: {latency: 400 ns, slots: 16}
packet: {elements: 32}
collective: {op: all_reduce, size: 4 KiB, dtype: int32}
algorithms: [in_network]
"""


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "small.yaml"
    path.write_text(SCENARIO)
    return path


@pytest.fixture
def innet(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        code = run_command(["p4", *(str(argument) for argument in arguments)])
        return code, *capfd.readouterr()

    return run


@pytest.fixture
def switch(tmp_path):
    """A P4Runtime server, and the options that name it."""
    pytest.importorskip("finsy")
    sys.path.insert(0, str(Path(__file__).parents[1] / "control"))
    from fake_switch import DEVICE, FakeSwitch

    fake = FakeSwitch(tmp_path)
    options = ("--grpc", fake.start(), "--device-id", DEVICE)
    yield fake, options
    fake.stop()


@pytest.mark.parametrize(("target", "other"), [("soft", "p4"), ("p4", "soft")])
def test_packets_are_tried_and_counted(innet, target, other):
    code, out, _ = innet("test", "--target", target, "--packets", 300, "-q")
    assert code == 0
    first, *counters = out.splitlines()
    wanted = f"300 packets of 32 values: {target} and {other} send the same bytes and count the"
    assert first == f"{wanted} same"
    assert sum(int(line.split()[1]) for line in counters) > 200


def test_a_switch_that_sends_something_else_is_found(innet, monkeypatch):
    made = LocalSwitch.__init__

    def with_a_fault(self, elements):
        made(self, elements)
        right = self.pipeline.process
        self.process = lambda port, frame: [
            (out, sent[:-1] + bytes([sent[-1] ^ 1])) for out, sent in right(port, frame)
        ]

    monkeypatch.setattr(LocalSwitch, "__init__", with_a_fault)
    code, out, err = innet("test", "--packets", 50, "-q")
    assert (code, out) == (1, "")
    assert "must send to port" in err
    assert "but sends to port" in err


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--target", "p4", "--grpc", "x"), "--grpc and --interface are for --target bmv2"),
        (("--target", "bmv2", "--interface", "x"), "--interface needs --grpc"),
        (("--target", "p4", "-k", "128"), "compiled for 32, 64, 256 values a packet, not for 128"),
    ],
)
def test_options_that_do_not_go_together_are_refused(innet, options, told):
    code, _, err = innet("test", *options)
    assert code == 2
    assert told in err


def test_a_job_is_deployed_once_and_removed(innet, scenario, switch, tmp_path):
    fake, options = switch
    code, out, err = innet("deploy", scenario, *options, "--job", 7)
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "job 7: 2 workers, slots 0 to 15, 32 values a packet, guard on",
        "  switch          02:00:00:00:00:fe  10.0.0.254  UDP 48864",
        "  worker 0 port 1 02:00:00:00:00:01  10.0.0.1  UDP 48848",
        "  worker 1 port 2 02:00:00:00:00:02  10.0.0.2  UDP 48848",
    ]
    writes = fake.writes
    assert writes > 0
    assert innet("deploy", scenario, *options, "--job", 7)[:2] == (code, out)
    assert fake.writes == writes
    hosts = tmp_path / "hosts.yaml"
    hosts.write_text("switch: {udp_port: 48870}\nworkers: [{}, {}]")
    beside = ("--job", 8, "--first-slot", 16, "--hosts", hosts)
    assert innet("deploy", scenario, *options, *beside)[0] == 0
    told = json.loads(innet("status", *options, "--json")[1])
    assert [job["number"] for job in told["jobs"]] == [7, 8]
    assert told["jobs"][1]["first_slot"] == 16
    assert told["elements"] == 32
    assert set(told["counters"].values()) == {0}
    assert innet("deploy", scenario, *options, "--job", 7, "--remove")[1] == (
        "job 7 is not on the switch\n"
    )
    shown = innet("status", *options)[1]
    assert "job 8: 2 workers, slots 16 to 31" in shown
    assert "job 7" not in shown


def test_jobs_that_overlap_are_refused(innet, scenario, switch):
    _, options = switch
    innet("deploy", scenario, *options, "--job", 7)
    code, _, err = innet("deploy", scenario, *options, "--job", 8)
    assert code == 2
    assert "its slots overlap with those of job 7" in err


def test_a_hosts_file_says_what_is_different(innet, scenario, switch, tmp_path):
    _, options = switch
    hosts = tmp_path / "hosts.yaml"
    hosts.write_text(
        "switch: {ip: 192.168.1.1}\n"
        "workers:\n"
        '  - {port: 9, mac: "0a:00:00:00:00:01", ip: 192.168.1.7, udp_port: 5000}\n'
        "  - {port: 3}\n"
    )
    code, out, err = innet("deploy", scenario, *options, "--hosts", hosts)
    assert (code, err) == (0, "")
    assert out.splitlines()[1:] == [
        "  switch          02:00:00:00:00:fe  192.168.1.1  UDP 48864",
        "  worker 0 port 9 0a:00:00:00:00:01  192.168.1.7  UDP 5000",
        "  worker 1 port 3 02:00:00:00:00:02  10.0.0.2  UDP 48848",
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("workers: [{}]", "1: workers: 1 workers, but the scenario has 2"),
        ("workers:\n  - {}\n  - {mac: 1:2}", "3: workers.1.mac: '1:2' is no MAC address"),
        ("workers:\n  - {ip: 10.0.0}\n  - {}", "2: workers.0.ip: '10.0.0' is no IPv4 address"),
        ("workers:\n  - {}\n  - {pid: 7}", "3: workers.1: pid and interface need each other"),
        ("workers:\n  - {}\n  - {prot: 7}", "did you mean 'port'?"),
        ("[1]", "must be a mapping of keys: switch, workers"),
    ],
)
def test_a_wrong_hosts_file_is_located(innet, scenario, tmp_path, text, told):
    hosts = tmp_path / "hosts.yaml"
    hosts.write_text(text)
    code, _, err = innet("deploy", scenario, "--hosts", hosts)
    assert code == 2
    assert err.startswith(f"{hosts}:")
    assert told in err


def test_a_switch_that_is_not_there_is_named(innet, scenario):
    pytest.importorskip("finsy")
    code, _, err = innet("deploy", scenario, "--grpc", "unix:/nowhere/p4runtime")
    assert code == 1
    assert "the switch at unix:/nowhere/p4runtime" in err


def test_status_of_a_switch_without_a_program_or_with_another_one(innet, scenario, switch):
    fake, options = switch
    code, _, err = innet("status", *options)
    assert code == 1
    assert "has no program; innet p4 deploy gives it one" in err
    innet("deploy", scenario, *options)
    fake._config.cookie.cookie += 1
    code, _, err = innet("status", *options)
    assert code == 1
    assert "runs another program than innet's" in err


# --- compile ---------------------------------------------------------------------------------


@pytest.fixture
def compiler(tmp_path, monkeypatch):
    """A program in place of p4c that copies what p4c made, and tells how it was called."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    program = folder / COMPILER

    def install(change=""):
        script = f"""\
            #!{sys.executable}
            import pathlib, sys
            if "--version" in sys.argv:
                print("{COMPILER}\\nVersion 1.2.3 (SHA: 4)")
                sys.exit()
            elements = sys.argv[sys.argv.index("-D") + 1].removeprefix("ELEMENTS=")
            assert pathlib.Path(sys.argv[-1]).is_file(), "compile where the source is"
            built = pathlib.Path({str(build_folder())!r})
            for option, name in (
                ("-o", f"innet_{{elements}}.json"),
                ("--p4runtime-files", f"innet_{{elements}}.p4info.txtpb"),
            ):
                out = pathlib.Path(sys.argv[sys.argv.index(option) + 1])
                out.write_text((built / name).read_text() + {change!r})
        """
        program.write_text(textwrap.dedent(script))
        program.chmod(0o755)

    return install


def test_compiling_writes_all_and_says_that_it_is_the_same(innet, compiler, tmp_path):
    compiler()
    code, out, err = innet("compile", "--out", "made")
    assert (code, err) == (0, "")
    names = [name for k in ELEMENTS for name in (f"innet_{k}.json", f"innet_{k}.p4info.txtpb")]
    wanted = [f"made/{name}" for name in [*names, "provenance.json"]]
    assert out.splitlines() == [*wanted, "the same as innet's"]
    noted = json.loads((tmp_path / "made" / "provenance.json").read_text())
    assert noted["compiler"] == f"{COMPILER} 1.2.3 (SHA: 4)"
    assert noted["elements"] == list(ELEMENTS)
    for folder, part in ((program_folder(), "sources"), (tmp_path / "made", "outputs")):
        for name, noted_hash in noted[part].items():
            assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == noted_hash
    assert "innet.p4" in noted["sources"]


def test_another_outcome_is_told(innet, compiler):
    compiler(change=" ")
    assert "different from innet's: innet_256.json" in innet("compile")[1]


def test_what_the_compiler_says_is_told(innet, compiler, tmp_path):
    (tmp_path / "bin" / COMPILER).write_text("#!/bin/sh\necho no such P4 >&2\nexit 1")
    (tmp_path / "bin" / COMPILER).chmod(0o755)
    code, _, err = innet("compile")
    assert code == 1
    assert f"{COMPILER} failed for 32 values a packet:\nno such P4" in err


def test_without_a_compiler_the_error_says_how_to_get_it(innet, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    code, _, err = innet("compile")
    assert code == 3
    assert "p4c-bm2-ss is not on the PATH (apt install p4lang-p4c" in err
