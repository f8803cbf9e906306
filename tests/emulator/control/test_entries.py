"""Jobs to table entries and back."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from innet.emulator.check.packets import SWITCH, star_job, three_jobs, worker_address
from innet.emulator.control.entries import (
    CONTRIBUTORS,
    FLOOD_GROUP,
    RECEIVERS,
    host_rows,
    installed_jobs,
    job_contents,
    job_group,
    job_rows,
    key,
    receiver_number,
)
from innet.wire.headers import BASE_PORT, PORTS


@st.composite
def jobs(draw):
    workers = draw(st.integers(1, 32))
    cores = draw(st.integers(1, 4))
    first = BASE_PORT + draw(st.integers(0, PORTS - cores))
    return star_job(
        draw(st.integers(0, 255)),
        workers,
        32,
        cores=cores,
        guard=draw(st.booleans()),
        first_slot=draw(st.integers(0, 1000)),
        slots=draw(st.integers(1, 24)),
        switch=SWITCH._replace(port=first),
    )


@settings(max_examples=50, deadline=None)
@given(jobs(), st.integers(1, 2**32 - 1))
def test_a_job_is_read_back_from_its_entries(job, epoch):
    found = installed_jobs(job_contents(job, epoch).rows, 32)
    assert list(found) == [job.number]
    assert found[job.number].job == job
    assert found[job.number].epoch == epoch


def test_receivers_and_groups_are_unique_on_a_switch():
    numbers = [receiver_number(job, worker) for job in range(256) for worker in range(32)]
    assert len(set(numbers)) == len(numbers)
    assert min(numbers) == 1
    assert max(numbers) < 2**16
    groups = [job_group(job) for job in range(256)]
    assert len({*groups, FLOOD_GROUP, 0}) == 258


def test_a_job_has_the_entries_that_the_programs_readme_names():
    job = star_job(5, 2, 32, first_slot=16, slots=4, guard=False)
    rows, groups = job_contents(job, 99)
    place = key(
        CONTRIBUTORS,
        ingress_port=2,
        source_mac=0x020000000002,
        source_ip=0x0A000002,
        udp_port=0xBEE0,
    )
    assert rows[place].name == "contributor"
    assert dict(rows[place].data) == {
        "job": 5,
        "worker_bit": 2,
        "workers": 2,
        "group": 6,
        "receiver": 162,
        "first_slot": 16,
        "slots": 4,
        "epoch": 99,
        "guard": 0,
    }
    address = rows[key(RECEIVERS, receiver=162, udp_port=0xBEE0)]
    assert dict(address.data) == {
        "own_mac": 0x02FF00000001,
        "own_ip": 0x0A0000FE,
        "mac": 0x020000000002,
        "ip": 0x0A000002,
        "port": worker_address(2).port,
    }
    assert groups == {6: {(1, 161), (2, 162)}}
    assert len(rows) == 4


def test_a_job_with_an_entry_missing_is_not_whole():
    job = three_jobs(32)[0]
    rows, _ = job_contents(job, 1)
    for place in rows:
        rest = {other: action for other, action in rows.items() if other != place}
        found = installed_jobs(rest, 32)[job.number]
        assert found.job is None or found.job != job


def test_a_jobs_entries_are_told_from_those_of_others():
    first, second, third = three_jobs(32)
    rows = {}
    for job in (first, second, third):
        rows |= job_contents(job, 1).rows
    rows |= host_rows(first.members, first.switch, routed=True)
    assert job_rows(rows, second.number) == set(job_contents(second, 1).rows)
    assert job_rows(rows, 100) == set()


def test_routes_lead_to_a_host_by_its_address():
    member = star_job(1, 1, 32).members[0]
    rows = host_rows([member], SWITCH, routed=True)
    route = rows[key("routes", mac=0x02FF00000001, ip=(0x0A000001, 32))]
    assert dict(route.data) == {"port": 1, "own": 0x02FF00000001, "next_hop": 0x020000000001}
    assert len(rows) == 3


@pytest.mark.parametrize("change", [{"guard": False}, {"slots": 9}, {"cores": 2}])
def test_another_job_has_other_entries(change):
    job = star_job(1, 2, 32)
    assert job_contents(job, 1) != job_contents(replace(job, **change), 1)
