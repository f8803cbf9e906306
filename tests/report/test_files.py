"""Run directories are written whole, byte for byte the same, or not at all."""

import os

import pytest
from made_results import run_summary, single_point

from innet import files
from innet.errors import ConfigurationError
from innet.files import write_whole
from innet.report.files import prepare_folder, write_run

ROWS = [{"rank": 0, "node": "worker0"}, {"rank": 1, "node": "a, b"}]
TABLES = {"workers": ROWS, "links": []}


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_run_directory_has_its_four_files_and_nothing_else(tmp_path):
    write_run(tmp_path, {"version": 1}, single_point(run_summary()).as_stored(), TABLES)
    assert names(tmp_path) == ["links.csv", "manifest.json", "summary.json", "workers.csv"]
    assert (tmp_path / "workers.csv").read_text() == 'rank,node\n0,worker0\n1,"a, b"\n'
    assert (tmp_path / "links.csv").read_text() == ""


def test_a_write_that_fails_keeps_the_old_file_and_leaves_no_part(tmp_path, monkeypatch):
    path = tmp_path / "summary.json"
    path.write_bytes(b"old")

    def disk_full(_descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", disk_full)
    with pytest.raises(ConfigurationError, match="cannot be written: No space left on device"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["summary.json"]


def test_an_interrupted_write_leaves_no_part(tmp_path, monkeypatch):
    def interrupted(_descriptor):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "summary.json", b"new")
    assert names(tmp_path) == []


def test_content_is_on_the_disk_before_the_name(tmp_path, monkeypatch):
    seen = []
    real = os.fsync

    def watched(descriptor):
        seen.append((tmp_path / "file").exists())
        real(descriptor)

    monkeypatch.setattr(files.os, "fsync", watched)
    write_whole(tmp_path / "file", b"content")
    assert seen[0] is False
    assert (tmp_path / "file").read_bytes() == b"content"


def test_a_file_where_the_folder_should_be(tmp_path):
    (tmp_path / "runs").write_text("")
    with pytest.raises(ConfigurationError, match="cannot be written") as caught:
        prepare_folder(tmp_path / "runs" / "made")
    assert str(tmp_path / "runs" / "made") in str(caught.value)


def test_preparing_leaves_nothing_behind(tmp_path):
    prepare_folder(tmp_path / "runs" / "made")
    assert names(tmp_path / "runs" / "made") == []
