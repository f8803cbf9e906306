"""`innet doctor` tries things itself, says what is missing, and always ends well."""

import json
import shutil
import subprocess

import pytest

from innet.cli.main import run_command
from innet.emulator.doctor import Finding, combinations
from innet.emulator.doctor_text import as_json_text, as_text


def finding(name, found, detail=""):
    return Finding(name, "Programs", found, detail, "a use", "a way to get it")


@pytest.fixture
def doctor(capsys):
    def run(*arguments):
        code = run_command(["doctor", *arguments])
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def folder_of_programs(tmp_path, monkeypatch):
    """A PATH on which nothing is but what the test puts there."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("innet.emulator.mininet_python.MININET_PYTHONS", ("no-python",))

    def add(name, script):
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)

    return add


def test_a_machine_with_nothing_runs_the_default_and_hears_what_to_install(
    doctor, folder_of_programs
):
    code, out, err = doctor("--json")
    told = json.loads(out)
    assert (code, err, told["version"]) == (0, "", 1)
    by_name = {each["name"]: each for each in told["findings"]}
    assert not by_name["simple_switch_grpc"]["found"]
    assert "p4lang-bmv2" in by_name["simple_switch_grpc"]["install"]
    assert "p4lang-p4c" in by_name["p4c-bm2-ss"]["install"]
    assert not by_name["mininet"]["found"]
    works = {(each["target"], each["net"]) for each in told["combinations"] if each["works"]}
    assert works == {("soft", "loopback"), ("p4", "loopback")}


def test_a_program_is_shown_with_the_version_it_tells(doctor, folder_of_programs):
    folder_of_programs("simple_switch_grpc", "echo 1.15.0-deadbeef")
    folder_of_programs("p4c-bm2-ss", "echo p4c-bm2-ss; echo Version 1.2.5.10 '(SHA: 1)' >&2")
    told = json.loads(doctor("--json")[1])
    by_name = {each["name"]: each for each in told["findings"]}
    assert by_name["simple_switch_grpc"]["found"]
    assert by_name["simple_switch_grpc"]["detail"] == "1.15.0-deadbeef"
    assert by_name["p4c-bm2-ss"]["detail"] == "1.2.5.10"


def test_what_cannot_be_tried_is_unknown_not_missing(doctor, folder_of_programs):
    told = json.loads(doctor("--json")[1])
    by_name = {each["name"]: each["found"] for each in told["findings"]}
    assert by_name["namespaces"] is False
    assert by_name["veth"] is None
    assert by_name["netem"] is None


@pytest.mark.skipif(shutil.which("unshare") is None, reason="unshare is not installed")
def test_the_kernel_is_asked_and_left_as_it_was(doctor):
    if subprocess.run(["unshare", "--net", "true"], capture_output=True).returncode:
        pytest.skip("no right to make network namespaces")
    before = subprocess.run(["ip", "link"], capture_output=True, text=True).stdout
    told = json.loads(doctor("--json")[1])
    by_name = {each["name"]: each for each in told["findings"]}
    assert by_name["namespaces"]["found"]
    assert by_name["veth"]["found"], by_name["veth"]["detail"]
    assert subprocess.run(["ip", "link"], capture_output=True, text=True).stdout == before


def test_each_combination_names_what_it_lacks():
    lacking = combinations([finding("finsy", False), finding("ip", False), finding("tc", None)])
    missing = {(each.target, each.net): each.missing for each in lacking}
    assert missing == {
        ("soft", "loopback"): (),
        ("soft", "netns"): ("ip",),
        ("soft", "mininet"): ("ip",),
        ("p4", "loopback"): (),
        ("p4", "netns"): ("ip",),
        ("p4", "mininet"): ("ip",),
        ("bmv2", "netns"): ("ip", "finsy"),
        ("bmv2", "mininet"): ("ip", "finsy"),
    }


def test_the_text_says_how_to_get_what_is_missing():
    findings = [finding("ip", True, "6.1"), finding("tc", False, "no tc"), finding("x", None)]
    lines = as_text(findings, {"eth9": ("tso", "gro"), "eth8": ()}).splitlines()
    assert lines[3:9] == [
        "  ok       ip                  6.1         for a use",
        "  missing  tc                              for a use",
        "           no tc",
        "           a way to get it",
        "  unknown  x                               for a use",
        "           a way to get it",
    ]
    assert "    ethtool -K eth9 tso off gro off" in lines
    assert "  eth8: all off, as it must be before a software switch starts" in lines
    assert json.loads(as_json_text(findings, {"eth8": ()}))["offloads_on"] == {"eth8": []}


@pytest.mark.skipif(shutil.which("ethtool") is None, reason="ethtool is not installed")
def test_an_interface_that_is_not_there_is_an_error(doctor):
    code, _, err = doctor("--interface", "nosuch0")
    assert (code, err) == (2, "innet: there is no interface nosuch0 here\n")


@pytest.mark.skipif(shutil.which("ethtool") is None, reason="ethtool is not installed")
def test_the_offloads_of_an_interface_are_listed(doctor):
    code, out, _ = doctor("--interface", "lo")
    assert code == 0
    # The loopback interface cannot turn checksums off, so some are always on.
    assert "ethtool -K lo " in out
