"""The soft switch as a control plane: in step with the P4 program through every change of jobs."""

from dataclasses import replace

import pytest

from innet.emulator.check.packets import SWITCH, PacketMaker, by_port, star_job, worker_address
from innet.emulator.control.local import P4Switch
from innet.emulator.soft import POOL_SLOTS, SoftSwitch
from innet.errors import ConfigurationError

K = 32
FIRST = star_job(3, 2, K)
SECOND = star_job(4, 3, K, first_slot=8, switch=SWITCH._replace(port=SWITCH.port + 1))


@pytest.fixture(scope="module")
def program():
    return P4Switch(K)


@pytest.fixture
def soft():
    return SoftSwitch(K)


@pytest.fixture
def both(soft, program):
    program.load()
    return soft, program


def same(both, packets=300, seed=1):
    """Send random packets of both jobs, whether they are there or not; compare what comes out."""
    soft, program = both
    for port, frame in PacketMaker(seed, (FIRST, SECOND)).packets(packets):
        assert by_port(soft.process(port, frame)) == by_port(program.process(port, frame))
    assert dict(soft.counters()) == dict(program.counters())
    return {name for name, count in soft.counters().items() if count}


def change(both, verb, *arguments):
    for switch in both:
        getattr(switch, verb)(*arguments)


def test_a_switch_without_jobs_drops_everything(both):
    assert same(both) == {"malformed_dropped", "unknown_dropped", "forward_dropped"}


def test_jobs_come_and_go(both):
    change(both, "add", FIRST)
    same(both)
    change(both, "add", SECOND)
    same(both, seed=2)
    change(both, "remove", FIRST.number)
    same(both, seed=3)
    change(both, "remove", FIRST.number)
    change(both, "remove", SECOND.number)
    same(both, seed=4)
    change(both, "add", FIRST)
    same(both, seed=5)


def test_adding_a_job_again_keeps_its_sums_and_changing_it_does_not(both):
    change(both, "add", FIRST)
    same(both)
    change(both, "add", FIRST)
    same(both, seed=2)
    change(both, "add", replace(FIRST, slots=6, guard=False))
    same(both, seed=3)


def test_wiping_empties_the_registers_and_loading_everything(both):
    change(both, "add", FIRST)
    same(both)
    change(both, "wipe")
    assert "completed" in same(both)
    change(both, "load")
    assert not any(both[0].counters().values())
    same(both)


@pytest.mark.parametrize(
    ("job", "told"),
    [
        (replace(SECOND, first_slot=7), "its slots overlap with those of job 3"),
        (replace(SECOND, switch=SWITCH), "job 3 has a worker with the same port"),
        (replace(SECOND, elements_per_packet=64), "64 values a packet, but"),
        (replace(SECOND, first_slot=POOL_SLOTS - 7), "but the switch has 1024"),
        (replace(SECOND, slots=0), "slots 8 to 7, but"),
        (replace(SECOND, number=256), "a job's number is 0 to 255"),
        (star_job(4, 33, K, first_slot=8), "33 workers, but the switch marks 1 to 32"),
        (replace(SECOND, members=()), "0 workers"),
        (replace(SECOND, members=SECOND.members[:1] * 2), "two workers have the same port"),
        (replace(SECOND, cores=16), "UDP ports 48865 to 48880 are not all within"),
    ],
)
def test_a_job_that_does_not_fit_is_refused_and_changes_nothing(both, job, told):
    change(both, "add", FIRST)
    for switch in both:
        with pytest.raises(ConfigurationError, match=told):
            switch.add(job)
    same(both)


def test_an_arp_request_for_the_switch_is_answered(soft):
    """By RFC 826: the two protocol addresses change places, the asked one's MAC comes in."""
    soft.add(FIRST)
    asker = worker_address(2)
    head = b"\0\1\x08\0\6\4"
    asked = b"\xff" * 6 + asker.mac + b"\x08\x06" + head + b"\0\1"
    asked += asker.mac + asker.ip + bytes(6) + SWITCH.ip + bytes(18)
    answer = asker.mac + SWITCH.mac + b"\x08\x06" + head + b"\0\2"
    answer += SWITCH.mac + SWITCH.ip + asker.mac + asker.ip + bytes(18)
    assert soft.process(2, asked) == [(2, answer)]
    elsewhere = asked.replace(SWITCH.ip, worker_address(1).ip)
    assert soft.process(2, elsewhere) == [(1, elsewhere)]
