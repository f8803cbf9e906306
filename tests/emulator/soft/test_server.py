"""A Python switch behind its ports: sockets to frames and back, states, counts."""

import itertools
import socket

import numpy as np
import pytest

from innet.emulator.check.packets import SWITCH, star_job
from innet.emulator.server.ports import UdpPort
from innet.emulator.server.server import SwitchServer
from innet.emulator.soft import SoftSwitch
from innet.wire.frames import FrameWriter, Message, pack_message, parse, parse_message, payload_of
from innet.wire.headers import MessageType

K, CORES = 32, 2
JOB = star_job(1, 2, K, cores=CORES)


def update(number, value=1, **changes):
    payload = payload_of(np.full(K, value, dtype=np.int32), K)
    message = Message(MessageType.UPDATE, False, K, 1, number, 0, number % 2, 0, 0, payload)
    return message._replace(**changes)


def opened():
    each = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    each.bind(("127.0.0.1", 0))
    each.setblocking(False)
    return each


class Cables:
    """A socket on each side for each worker and core."""

    def __init__(self):
        self.workers = [[opened() for _ in range(CORES)] for _ in JOB.members]
        self.switch = [[opened() for _ in range(CORES)] for _ in JOB.members]
        self.stranger = opened()

    def ports(self):
        return [
            UdpPort(
                member.port,
                self.switch[worker],
                [each.getsockname() for each in self.workers[worker]],
                member.address,
                JOB.switch,
            )
            for worker, member in enumerate(JOB.members)
        ]

    def send(self, worker, core, body):
        target = self.switch[worker][core].getsockname()
        self.workers[worker][core].sendto(body, target)

    def received(self, worker, core):
        try:
            return parse_message(self.workers[worker][core].recv(4096))
        except BlockingIOError:
            return None

    def close(self):
        for each in (self.stranger, *itertools.chain(*self.workers, *self.switch)):
            each.close()


@pytest.fixture
def cables():
    made = Cables()
    yield made
    made.close()


@pytest.fixture
def server(cables):
    made = SwitchServer(SoftSwitch(K), cables.ports())
    made.switch.add(JOB)
    return made


def test_sums_go_to_the_core_that_contributed(server, cables):
    for worker in range(2):
        cables.send(worker, 1, pack_message(update(4, worker + 1)))
    server.on_readable(0)
    for worker in range(2):
        assert cables.received(worker, 1) == update(4, 3)
        assert cables.received(worker, 0) is None
    assert server.heard() == [(1, 1), (2, 1)]


def test_datagrams_become_the_frames_of_a_cable(cables):
    port = cables.ports()[1]
    cables.send(1, 1, pack_message(update(4)))
    (frame,) = port.receive()
    parsed = parse(frame)
    own = JOB.members[1].address
    assert parsed.source == own._replace(port=own.port + 1)
    assert parsed.target == SWITCH._replace(port=SWITCH.port + 1)
    assert parsed.message == update(4)


def test_strangers_and_malformed_packets_are_counted_and_answered_to_nobody(server, cables):
    cables.stranger.sendto(pack_message(update(4)), cables.switch[0][0].getsockname())
    # Worker 1 at worker 0's port speaks for nobody.
    cables.workers[1][0].sendto(pack_message(update(4)), cables.switch[0][0].getsockname())
    for body in (b"", pack_message(update(4))[:-1], pack_message(update(4)) + b"\0", b"\xff" * 138):
        cables.send(0, 0, body)
    cables.send(0, 0, pack_message(update(4, job=2)))
    cables.send(0, 0, pack_message(update(4, slot=99)))
    server.on_readable(0)
    counted = {name: count for name, count in server.counters().items() if count}
    assert counted == {
        "unknown_dropped": 2,
        "malformed_dropped": 4,
        "other_job_dropped": 1,
        "out_of_pool_dropped": 1,
    }
    assert all(cables.received(worker, core) is None for worker in range(2) for core in range(2))


def test_paused_it_keeps_what_comes_and_gone_it_loses_it(server, cables):
    server.state = "paused"
    assert server.descriptors() == ()
    cables.send(0, 0, pack_message(update(4)))
    server.state = "running"
    server.on_readable(0)
    assert server.counters()["absorbed"] == 1
    server.state = "gone"
    cables.send(1, 0, pack_message(update(4)))
    server.on_readable(0)
    server.state = "running"
    server.on_readable(0)
    assert server.counters()["absorbed"] == 1
    assert len(server.descriptors()) == 4


def test_what_no_datagram_can_carry_or_no_port_takes_is_counted(server, cables):
    frame = FrameWriter(SWITCH, JOB.members[0].address._replace(port=9)).pack(update(4))
    cables.ports()[0].send(frame)
    server._ports[1].send(frame)
    assert server.counters()["not_sent"] == 1
    server.switch.add(star_job(9, 3, K, first_slot=8, switch=SWITCH._replace(port=0xBEEF)))
    broadcast = b"\xff" * 6 + frame[6:12] + b"\x88\xcc" + bytes(50)
    assert server.switch.process(1, broadcast) == [(2, broadcast), (3, broadcast)]
    server._process(1, broadcast)
    assert server.counters()["not_sent"] == 3
