"""Which jobs a switch can hold, alone and beside each other."""

from collections.abc import Iterator, Sequence

from innet.emulator.jobs import Job
from innet.errors import ConfigurationError
from innet.wire.headers import BASE_PORT, PORTS

MAXIMUM_WORKERS = 32
"""The P4 program marks contributions in a register of 32 bits."""

MAXIMUM_JOB = 255
"""A job's number takes 8 bits on the wire."""

_Contributor = tuple[int, bytes, bytes, int]


def require_apart(job: Job, others: Sequence[Job], elements: int, slots: int) -> None:
    """Raise ConfigurationError unless a switch can hold `job` beside `others`.

    `elements` is how many values the switch's program takes a packet, `slots` its whole pool.
    """
    problem = next(_problems(job, elements, slots), None) or next(_clashes(job, others), None)
    if problem is not None:
        raise ConfigurationError(f"job {job.number}: {problem}")


def contributor_keys(job: Job) -> Iterator[_Contributor]:
    """What tells the job's workers and cores: ingress port, MAC, IP and the switch's UDP port."""
    for core in range(job.cores):
        for member in job.members:
            yield member.port, member.address.mac, member.address.ip, job.switch.port + core


def _problems(job: Job, elements: int, slots: int) -> Iterator[str]:
    workers, first, last = len(job.members), job.switch.port, job.switch.port + job.cores - 1
    if not 0 <= job.number <= MAXIMUM_JOB:
        yield f"a job's number is 0 to {MAXIMUM_JOB}"
    if not 1 <= workers <= MAXIMUM_WORKERS:
        yield f"{workers} workers, but the switch marks 1 to {MAXIMUM_WORKERS}"
    if len(set(contributor_keys(job))) < workers * job.cores:
        yield "two workers have the same port and addresses, so the switch cannot tell them apart"
    if job.elements_per_packet != elements:
        yield f"{job.elements_per_packet} values a packet, but the switch's program has {elements}"
    if job.slots < 1 or job.first_slot < 0 or job.first_slot + job.slots > slots:
        end = job.first_slot + job.slots
        yield f"slots {job.first_slot} to {end - 1}, but the switch has {slots}"
    if not BASE_PORT <= first <= last < BASE_PORT + PORTS:
        yield f"UDP ports {first} to {last} are not all within {BASE_PORT} to {BASE_PORT + 15}"


def _clashes(job: Job, others: Sequence[Job]) -> Iterator[str]:
    keys = set(contributor_keys(job))
    for other in others:
        if (
            job.first_slot < other.first_slot + other.slots
            and other.first_slot < job.first_slot + job.slots
        ):
            yield f"its slots overlap with those of job {other.number}"
        if not keys.isdisjoint(contributor_keys(other)):
            yield f"job {other.number} has a worker with the same port, addresses and UDP port"
