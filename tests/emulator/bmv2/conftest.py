"""Tests with the real BMv2 run where it is installed, with the right to make namespaces."""

import importlib.util
import shutil
import subprocess

import pytest

from innet.emulator.bmv2 import PROGRAM


def why_no_namespaces():
    try:
        made = subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False)
    except FileNotFoundError:
        return "unshare is not installed"
    return "no right to make network namespaces" if made.returncode else ""


@pytest.fixture(scope="session")
def namespaces():
    """Skip where no network namespace can be made."""
    if reason := why_no_namespaces():
        pytest.skip(reason)


@pytest.fixture(scope="session")
def real_bmv2(namespaces):
    """Skip where the real BMv2 cannot be run and controlled."""
    if shutil.which(PROGRAM) is None:
        pytest.skip(f"{PROGRAM} is not installed")
    if importlib.util.find_spec("finsy") is None:
        pytest.skip("finsy is not installed")
