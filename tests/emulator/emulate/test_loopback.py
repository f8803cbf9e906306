"""The loopback's cables: separate for each worker and core, and as wide as they say."""

import pytest

from innet.emulator.loopback import LoopbackNetwork, addresses
from innet.emulator.sockets import enlarge_buffer


@pytest.fixture
def network():
    with LoopbackNetwork(2, 3) as made:
        yield made


def test_ends_name_each_other(network):
    worker, switch = network.worker_end(1), network.switch_end(1)
    cable = network.cables[1]
    assert [each.descriptor for each in worker.sockets] == [s.fileno() for s in cable.worker]
    assert [each[1:] for each in worker.sockets] == addresses(cable.switch)
    assert [each[1:] for each in switch.sockets] == addresses(cable.worker)
    assert worker.interface is None


def test_every_socket_has_an_address_of_its_own(network):
    sockets = [each for cable in network.cables for each in (*cable.worker, *cable.switch)]
    assert len(set(addresses(sockets))) == len(sockets) == 2 * 2 * 3


@pytest.mark.parametrize("elements", [32, 64, 128, 256])
def test_a_window_of_packets_fits_even_into_a_small_buffer(network, elements, monkeypatch):
    monkeypatch.setattr("innet.emulator.loopback._WANTED_BYTES", 106496)
    window = network.window(elements)
    sender, receiver = network.cables[0].worker[0], network.cables[0].switch[0]
    packet = bytes(10 + 4 * elements)
    for _ in range(window):
        sender.sendto(packet, receiver.getsockname())
    receiver.setblocking(False)
    assert [receiver.recv(4096) for _ in range(window)] == [packet] * window
    assert window >= 32


def test_a_buffer_is_at_least_what_is_granted_without_rights(network):
    assert enlarge_buffer(network.cables[0].worker[0], 100_000) >= 100_000
