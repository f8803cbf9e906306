"""Jobs on a switch, and what it has counted, as text and as JSON."""

import json
from ipaddress import IPv4Address

from innet.emulator.codec import encode
from innet.emulator.deploy import Status
from innet.emulator.jobs import Job
from innet.wire.frames import Address


def job_text(job: Job) -> str:
    """A job and its workers, one a line."""
    last = job.first_slot + job.slots - 1
    guard = "on" if job.guard else "off"
    lines = [
        f"job {job.number}: {len(job.members)} workers, slots {job.first_slot} to {last}, "
        f"{job.elements_per_packet} values a packet, guard {guard}",
        f"  switch          {_shown(job.switch, job.cores)}",
    ]
    for worker, member in enumerate(job.members):
        at = f"worker {worker} port {member.port}"
        lines.append(f"  {at:<16}{_shown(member.address, job.cores)}")
    return "\n".join(lines) + "\n"


def status_text(status: Status) -> str:
    """The program, the jobs and the counters."""
    lines = [f"innet's program for {status.elements} values a packet\n"]
    lines += [job_text(job) for job in status.jobs] or ["no job\n"]
    lines += [f"  {name:<22}{count:>10}\n" for name, count in status.counters.items()]
    return "".join(lines)


def status_json(status: Status) -> str:
    """One JSON object; addresses are hexadecimal."""
    told = {
        "version": 1,
        "elements": status.elements,
        "jobs": [encode(job) for job in status.jobs],
        "counters": dict(status.counters),
    }
    return json.dumps(told, indent=2) + "\n"


def _shown(address: Address, cores: int) -> str:
    ports = f"{address.port}" if cores == 1 else f"{address.port}-{address.port + cores - 1}"
    return f"{address.mac.hex(':')}  {IPv4Address(address.ip)}  UDP {ports}"
