"""The flag that writes the golden conversations anew: review them as text afterwards."""

import pytest

FLAG = "--regenerate-golden"


def pytest_addoption(parser):
    parser.addoption(FLAG, action="store_true", help="write tests/protocol/golden anew")


@pytest.fixture
def regenerate_golden(request):
    # Without the folder's name on pytest's command line this file is read too late for options.
    return request.config.getoption(FLAG, default=False)
