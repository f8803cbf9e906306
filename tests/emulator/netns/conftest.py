"""Network namespaces need a right that not every machine gives."""

import subprocess

import pytest


@pytest.fixture
def namespaces():
    """Skip where no network namespace can be made."""
    try:
        made = subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("unshare is not installed")
    if made.returncode != 0:
        pytest.skip("no right to make network namespaces")
