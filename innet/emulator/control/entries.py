"""From jobs to the entries of the P4 program's tables, and back.

Pure functions; p4/README.md describes the tables. Receiver and group numbers follow from the
job's number, so that the same job has the same entries whoever installs it, and installing it
again writes what is there already. Nothing has to be remembered: which jobs a switch holds is
read from its tables.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from innet.emulator.job_checks import MAXIMUM_JOB, MAXIMUM_WORKERS
from innet.emulator.jobs import Job, Member
from innet.wire.frames import Address

CONTRIBUTORS, RECEIVERS, HOSTS = "contributors", "receivers", "hosts"
OWN_ADDRESSES, ROUTES = "own_addresses", "routes"
FLOOD_GROUP = MAXIMUM_JOB + 2
"""The multicast group of all ports with a host; jobs have 1 to MAXIMUM_JOB + 1."""

Match = int | tuple[int, int]
Data = tuple[tuple[str, int], ...]


class Key(NamedTuple):
    """Where an entry is: its table and match, which is empty for the default action."""

    table: str
    match: tuple[tuple[str, Match], ...]


class Action(NamedTuple):
    """What an entry does."""

    name: str
    data: Data


Rows = dict[Key, Action]
Groups = dict[int, frozenset[tuple[int, int]]]


class Contents(NamedTuple):
    """Entries of tables, and replicas (port, instance) of multicast groups."""

    rows: Rows
    groups: Groups


class Installed(NamedTuple):
    """A job as a switch holds it. `job` is None if some of its entries are missing."""

    number: int
    epoch: int
    job: Job | None


def key(table: str, **match: Match) -> Key:
    """A key with its match in the order of names, by which keys are compared."""
    return Key(table, tuple(sorted(match.items())))


def job_group(number: int) -> int:
    """The multicast group of a job's workers."""
    return number + 1


def receiver_number(number: int, worker: int) -> int:
    """What links a worker's entries and its replica."""
    return number * MAXIMUM_WORKERS + worker + 1


def job_contents(job: Job, epoch: int) -> Contents:
    """Everything a job needs but the forwarding of other traffic (see `host_rows`)."""
    rows: Rows = {}
    for core in range(job.cores):
        for worker, member in enumerate(job.members):
            rows[_contributor_key(job, member, core)] = _contributor(job, worker, epoch)
            place = key(
                RECEIVERS,
                receiver=receiver_number(job.number, worker),
                udp_port=job.switch.port + core,
            )
            rows[place] = _address(job, member, core)
    replicas = frozenset(
        (member.port, receiver_number(job.number, worker))
        for worker, member in enumerate(job.members)
    )
    return Contents(rows, {job_group(job.number): replicas})


def _contributor_key(job: Job, member: Member, core: int) -> Key:
    return key(
        CONTRIBUTORS,
        ingress_port=member.port,
        source_mac=_number(member.address.mac),
        source_ip=_number(member.address.ip),
        udp_port=job.switch.port + core,
    )


def _contributor(job: Job, worker: int, epoch: int) -> Action:
    return _action(
        "contributor",
        job=job.number,
        worker_bit=1 << worker,
        workers=len(job.members),
        group=job_group(job.number),
        receiver=receiver_number(job.number, worker),
        first_slot=job.first_slot,
        slots=job.slots,
        epoch=epoch,
        guard=int(job.guard),
    )


def _address(job: Job, member: Member, core: int) -> Action:
    return _action(
        "address",
        own_mac=_number(job.switch.mac),
        own_ip=_number(job.switch.ip),
        mac=_number(member.address.mac),
        ip=_number(member.address.ip),
        port=member.address.port + core,
    )


def host_rows(members: Iterable[Member], switch: Address, *, routed: bool = False) -> Rows:
    """Forwarding to hosts by MAC address, and answers to ARP requests for `switch`.

    `routed`: frames to the switch's own MAC address go to the host that has their IP address.
    """
    own = _number(switch.mac)
    rows: Rows = {key(OWN_ADDRESSES, ip=_number(switch.ip)): _action("answer_arp", own=own)}
    for member in members:
        mac, ip = _number(member.address.mac), _number(member.address.ip)
        rows[key(HOSTS, mac=mac)] = _action("to_port", port=member.port)
        if routed:
            place = key(ROUTES, mac=own, ip=(ip, 32))
            rows[place] = _action("route", port=member.port, own=own, next_hop=mac)
    return rows


DEFAULT_HOST = Key(HOSTS, ())
DROPPED = Action("drop", ())
FLOODED = Action("flood", (("group", FLOOD_GROUP),))


def flood_group(rows: Rows) -> frozenset[tuple[int, int]]:
    """The replicas that reach every port with a host."""
    return frozenset(
        (dict(action.data)["port"], 0)
        for place, action in rows.items()
        if place.table == HOSTS and action.name == "to_port"
    )


def installed_jobs(rows: Rows, elements: int) -> dict[int, Installed]:
    """The jobs that entries belong to, by number. `elements` is the program's."""
    found: dict[int, list[tuple[dict[str, int], dict[str, int]]]] = {}
    for place, action in rows.items():
        if place.table == CONTRIBUTORS and action.name == "contributor":
            data = dict(action.data)
            found.setdefault(data["job"], []).append((_plain(place), data))
    return {
        number: Installed(number, contributors[0][1]["epoch"], _job(rows, contributors, elements))
        for number, contributors in sorted(found.items())
    }


def _plain(place: Key) -> dict[str, int]:
    return {name: value for name, value in place.match if isinstance(value, int)}


def _job(
    rows: Rows, contributors: list[tuple[dict[str, int], dict[str, int]]], elements: int
) -> Job | None:
    """The job that has these contributors and nothing missing, else None."""
    data = contributors[0][1]
    first = min(match["udp_port"] for match, _ in contributors)
    of_core_0 = sorted(
        (each["worker_bit"], match, each["receiver"])
        for match, each in contributors
        if match["udp_port"] == first
    )
    members = []
    switch = None
    for _, match, receiver in of_core_0:
        address = rows.get(key(RECEIVERS, receiver=receiver, udp_port=first))
        if address is None or address.name != "address":
            return None
        values = dict(address.data)
        switch = Address(_mac(values["own_mac"]), _ip(values["own_ip"]), first)
        source = Address(_mac(match["source_mac"]), _ip(match["source_ip"]), values["port"])
        members.append(Member(match["ingress_port"], source))
    assert switch is not None
    job = Job(
        number=data["job"],
        members=tuple(members),
        switch=switch,
        first_slot=data["first_slot"],
        slots=data["slots"],
        elements_per_packet=elements,
        cores=len({match["udp_port"] for match, _ in contributors}),
        guard=bool(data["guard"]),
    )
    complete = job_contents(job, data["epoch"]).rows
    return job if all(rows.get(place) == action for place, action in complete.items()) else None


def job_rows(rows: Rows, number: int) -> set[Key]:
    """The entries that a job has, complete or not."""
    first, last = receiver_number(number, 0), receiver_number(number, MAXIMUM_WORKERS - 1)
    return {
        place
        for place, action in rows.items()
        if (place.table == CONTRIBUTORS and dict(action.data).get("job") == number)
        or (place.table == RECEIVERS and first <= _plain(place)["receiver"] <= last)
    }


def _action(name: str, **data: int) -> Action:
    return action(name, data)


def action(name: str, data: Mapping[str, int]) -> Action:
    """An action with its data in the order of names, by which actions are compared."""
    return Action(name, tuple(sorted(data.items())))


def _number(data: bytes) -> int:
    return int.from_bytes(data, "big")


def _mac(number: int) -> bytes:
    return number.to_bytes(6, "big")


def _ip(number: int) -> bytes:
    return number.to_bytes(4, "big")
