"""What the real BMv2 does with packets: byte for byte what the protocol's switch does."""

import pytest
import test_packet_cases
from star import Star
from test_packet_cases import *  # noqa: F403 - every case again, on the fixtures below

from innet.emulator.check.compare import compare
from innet.emulator.check.targets import own_bmv2, python_switch

PACKETS = 500
MOST_WORKERS = 32
pytestmark = pytest.mark.usefixtures("real_bmv2")


@pytest.fixture(scope="module", params=test_packet_cases.SIZES)
def switch(real_bmv2, request):
    with own_bmv2(request.param, MOST_WORKERS) as switch:
        yield switch, request.param


@pytest.fixture
def target(switch):
    return switch


def test_bmv2_sends_the_same_bytes_as_the_soft_switch(switch):
    bmv2, elements = switch
    with python_switch("soft", elements) as soft:
        agreement = compare(bmv2, soft, elements, PACKETS, seed=7)
    met = {name for name, count in agreement.counters.items() if count}
    assert met == set(agreement.counters) - {"no_receiver_dropped", "forward_dropped"}


def test_bmv2_lives_through_slots_outside_its_registers(switch):
    """A packet that passed with such a slot would end simple_switch."""
    bmv2, elements = switch
    star = Star(bmv2, elements)
    for slot in (star.job.slots, 1023, 1024, (1 << 14) - 1):
        for in_set in (0, 1):
            assert star.send(0, 0, [1], slot=slot, pool_set=in_set) == {}
    assert star.counted() == {"out_of_pool_dropped": 8}
    star.send(0, 0, [1])
    assert set(star.send(1, 0, [2])) == {0, 1}
