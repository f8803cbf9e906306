"""Where the compiled P4 program is found."""

import pytest

from innet.emulator.control import build
from innet.emulator.control.build import build_folder, find_build
from innet.errors import ConfigurationError, MissingToolError


@pytest.mark.parametrize("elements", [32, 64, 256])
def test_a_build_has_both_files(elements):
    found = find_build(elements)
    assert found.elements == elements
    assert found.json.is_file()
    assert found.p4info.is_file()


def test_a_size_that_is_not_compiled_is_refused():
    with pytest.raises(
        ConfigurationError, match=r"compiled for 32, 64, 256 values .*, not for 128"
    ):
        find_build(128)


def test_an_installed_build_goes_first(tmp_path, monkeypatch):
    inside, beside = tmp_path / "inside", tmp_path / "beside"
    for folder in (beside, inside):
        (folder / "build").mkdir(parents=True)
        (folder / "build" / "provenance.json").write_text("{}")
        monkeypatch.setattr(build, "_FOLDERS", (inside, beside))
        assert build_folder() == folder / "build"


def test_a_missing_build_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(build, "_FOLDERS", (tmp_path / "a", tmp_path / "b"))
    with pytest.raises(MissingToolError, match=r"is not in .*a or .*b") as caught:
        build_folder()
    assert caught.value.exit_code == 3
