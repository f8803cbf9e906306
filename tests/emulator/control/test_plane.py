"""The control plane, over the P4 program in Python and over P4Runtime."""

import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from fake_switch import DEVICE, FakeSwitch

from innet.emulator.check.packets import SWITCH, PacketMaker, by_port, star_job, three_jobs
from innet.emulator.control.entries import DEFAULT_HOST, FLOOD_GROUP, installed_jobs
from innet.emulator.control.local import LocalSwitch
from innet.emulator.control.p4runtime import RuntimePlane, RuntimeSwitch
from innet.emulator.control.plane import TablePlane
from innet.emulator.control.runtime_client import SwitchError
from innet.errors import ConfigurationError, MissingToolError

README = Path(__file__).resolve().parents[3] / "p4" / "README.md"


class Local:
    """The program in Python, which is one object for all control planes."""

    def __init__(self):
        self.switch = LocalSwitch(32)
        self.writes = 0
        write = self.switch.write

        def counting(changes):
            self.writes += len(changes)
            write(changes)

        self.switch.write = counting

    def connect(self):
        return self.switch

    def pipeline(self):
        return self.switch.pipeline

    def lose_everything(self):
        self.switch.load()


class Remote:
    """The same behind gRPC, with a new connection for every control plane."""

    def __init__(self, folder):
        self.fake = FakeSwitch(folder)
        self.target = self.fake.start()

    @property
    def writes(self):
        return self.fake.writes

    def connect(self):
        return RuntimeSwitch(self.target, DEVICE, 32)

    def pipeline(self):
        return self.fake.pipeline

    def lose_everything(self):
        self.fake.lose_everything()


@pytest.fixture(params=["local", "remote"])
def place(request, tmp_path):
    if request.param == "local":
        yield Local()
        return
    remote = Remote(tmp_path)
    yield remote
    remote.fake.stop()


@pytest.fixture
def plane(place):
    plane = TablePlane(place.connect())
    plane.load()
    return plane


def epochs(place):
    with place.connect().session() as session:
        installed = installed_jobs(session.read().rows, 32)
    return {number: each.epoch for number, each in installed.items()}


def test_twice_is_once(place, plane):
    jobs = three_jobs(32)
    for job in jobs:
        plane.add(job)
    written, before = place.writes, epochs(place)
    for job in jobs:
        plane.add(job)
        TablePlane(place.connect()).add(job)
    assert place.writes == written
    assert epochs(place) == before
    assert plane.jobs() == list(jobs)


def test_jobs_with_disjoint_slots_run_beside_each_other(place, plane):
    jobs = three_jobs(32)
    for job in jobs:
        plane.add(job)
    reference = LocalSwitch(32)
    for job in jobs:
        TablePlane(reference).add(job)
    for port, frame in PacketMaker(2, jobs).packets(1500):
        sent = place.pipeline().process(port, frame)
        assert by_port(sent) == by_port(reference.process(port, frame))
    counted = TablePlane(place.connect()).counters()
    assert counted["completed"] > 100
    assert dict(counted) == dict(reference.counters())


def test_counters_have_the_names_of_the_programs_readme(plane):
    section = README.read_text().split("| counter |")[1]
    named = re.findall(r"^\| `(\w+)` \|", section, flags=re.MULTILINE)
    assert sorted(plane.counters()) == sorted(named)
    assert len(named) == 12


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"first_slot": 7, "switch": SWITCH._replace(port=0xBEE4)}, "slots overlap .* job 1"),
        ({"first_slot": 8}, "job 1 has a worker with the same port"),
        ({"first_slot": 1020, "slots": 8}, "slots 1020 to 1027, but the switch has 1024"),
        ({"elements_per_packet": 64}, "64 values a packet, but the switch's program has 32"),
    ],
)
def test_a_job_that_does_not_fit_is_refused(place, plane, change, reason):
    plane.add(star_job(1, 2, 32))
    before = place.writes
    with pytest.raises(ConfigurationError, match=f"job 2: .*{reason}"):
        plane.add(star_job(2, 2, 32, **change))
    assert place.writes == before


def test_removing_a_job_leaves_the_others_and_what_they_share(place, plane):
    first, second, _ = three_jobs(32)
    plane.add(first)
    alone = place.connect()
    with alone.session() as session:
        before = session.read()
    plane.add(second)
    plane.remove(second.number)
    with alone.session() as session:
        after = session.read()
    assert after == before
    plane.remove(first.number)
    plane.remove(first.number)
    with alone.session() as session:
        emptied = session.read()
    assert emptied.groups == {}
    assert set(emptied.rows) == {DEFAULT_HOST}


def test_an_empty_switch_stays_empty_when_nothing_is_removed(place, plane):
    plane.remove(9)
    assert place.writes == 0


def test_a_job_that_changes_starts_afresh(place, plane):
    job = star_job(1, 2, 32)
    plane.add(job)
    first = epochs(place)[1]
    plane.add(replace(job, slots=4))
    assert epochs(place)[1] != first
    assert plane.jobs() == [replace(job, slots=4)]
    plane.add(star_job(1, 3, 32))
    assert plane.jobs() == [star_job(1, 3, 32)]
    assert len(place.pipeline().groups[FLOOD_GROUP]) == 3


def test_a_job_in_part_is_completed(place, plane):
    job = star_job(1, 2, 32)
    plane.add(job)
    table = place.pipeline().table("receivers")
    match = next(table.entries())[0]
    table.delete(match)
    place.pipeline().delete_group(2)
    with pytest.raises(ConfigurationError, match="job 1 is on the switch only in part"):
        plane.jobs()
    with pytest.raises(ConfigurationError, match="job 1 is on the switch only in part"):
        plane.add(star_job(3, 1, 32, first_slot=20, switch=SWITCH._replace(port=0xBEE9)))
    plane.add(job)
    assert plane.jobs() == [job]
    assert len(place.pipeline().groups[2]) == 2


def test_a_switch_that_lost_everything_gets_its_jobs_again(place, plane):
    jobs = three_jobs(32)
    for job in jobs:
        plane.add(job)
    place.lose_everything()
    for job in jobs:
        plane.add(job)
    assert plane.jobs() == list(jobs)


def test_loading_empties_the_switch(place, plane):
    plane.add(star_job(1, 2, 32))
    plane.load()
    assert plane.jobs() == []
    assert place.pipeline().groups == {}


def test_no_multicast_group_is_left_when_the_program_is_exchanged(tmp_path):
    remote = Remote(tmp_path)
    try:
        plane = TablePlane(remote.connect())
        plane.add(star_job(1, 2, 32))
        plane.load()
        plane.add(star_job(1, 2, 32))
        TablePlane(RuntimeSwitch(remote.target, DEVICE, 64)).add(star_job(1, 2, 64))
    finally:
        remote.fake.stop()
    assert remote.fake.programs == 3
    assert remote.fake.groups_left == 0


def test_hosts_in_no_job_are_reached_and_kept(place, plane):
    hosts = star_job(0, 4, 32).members[2:]
    plane.connect(hosts, SWITCH)
    plane.add(star_job(1, 2, 32))
    plane.remove(1)
    hosts_reached = {match["mac"] for match, *_ in place.pipeline().table("hosts").entries()}
    assert hosts_reached == {int.from_bytes(host.address.mac) for host in hosts}
    frame = b"\xff" * 6 + hosts[0].address.mac + b"\x88\xb5" + bytes(46)
    assert place.pipeline().process(3, frame) == [(4, frame)]


def test_another_default_for_unknown_hosts_is_left_alone(place, plane):
    place.pipeline().table("hosts").set_default("to_port", {"port": 5})
    plane.add(star_job(1, 2, 32))
    frame = bytes(6) + star_job(0, 1, 32).members[0].address.mac + b"\x88\xb5" + bytes(46)
    assert place.pipeline().process(1, frame) == [(5, frame)]


@pytest.mark.parametrize("now", [1, 2**32 - 1, 2**32, 5 * 2**32])
def test_an_epoch_is_never_zero_and_never_used_before(now):
    switch = LocalSwitch(32)
    seen = set()
    for process in range(3):
        plane = TablePlane(switch, now_ms=lambda start=now + 1000 * process: start)
        for number in range(3):
            plane.add(
                star_job(
                    number,
                    1,
                    32,
                    first_slot=8 * number,
                    guard=process % 2 == 0,
                    switch=SWITCH._replace(port=0xBEE0 + number),
                )
            )
        with switch.session() as session:
            installed = installed_jobs(session.read().rows, 32).values()
        seen |= {(each.number, each.epoch) for each in installed}
    chosen = [epoch for _, epoch in seen]
    assert len(set(chosen)) == len(seen) == 9
    assert 0 not in chosen


def test_a_switch_with_another_program_gets_ours(tmp_path):
    remote = Remote(tmp_path)
    RuntimePlane(remote.target, 64, DEVICE).load()
    assert remote.fake.programs == 1
    plane = RuntimePlane(remote.target, 32, DEVICE)
    plane.add(star_job(1, 2, 32))
    plane.add(star_job(1, 2, 32))
    assert remote.fake.programs == 2
    assert plane.jobs() == [star_job(1, 2, 32)]
    remote.fake.stop()


def test_what_a_switch_refuses_is_told_with_its_address(tmp_path):
    remote = Remote(tmp_path)
    with pytest.raises(SwitchError, match=rf"switch at {remote.target}: no device {DEVICE + 1}"):
        RuntimePlane(remote.target, 32, DEVICE + 1).load()
    remote.fake.stop()


def test_the_first_change_that_a_switch_refuses_is_told(tmp_path):
    remote = Remote(tmp_path)
    plane = RuntimePlane(remote.target, 32, DEVICE)
    plane.load()
    remote.fake.full = "receivers"
    wanted = r"changes were refused \(UNKNOWN\): change 4 of 10: receivers is full"
    with pytest.raises(SwitchError, match=wanted):
        plane.add(star_job(1, 2, 32))
    remote.fake.stop()


def test_another_controller_is_told(tmp_path):
    remote = Remote(tmp_path)
    remote.fake.primary_is_another = True
    with pytest.raises(SwitchError, match="obeys another controller"):
        RuntimePlane(remote.target, 32, DEVICE).load()
    remote.fake.stop()


def test_a_switch_that_is_not_there_is_named(tmp_path):
    remote = Remote(tmp_path)
    remote.fake.stop()
    with pytest.raises(SwitchError, match=f"the switch at {remote.target}") as caught:
        RuntimePlane(remote.target, 32, DEVICE).load()
    assert caught.value.exit_code == 1


def test_a_missing_finsy_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "finsy", None)
    with pytest.raises(MissingToolError, match=r"pip install 'innet\[bmv2\]'"):
        RuntimePlane("127.0.0.1:1", 32)
