"""What `innet p4 deploy` does: a scenario's job on a switch that runs already."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from innet.campaign.hosts_file import read_hosts
from innet.emulator.control.p4runtime import RuntimePlane
from innet.emulator.emulate import job_of
from innet.emulator.hosts import scheme_hosts
from innet.emulator.jobs import Job
from innet.scenario.build import build_plan
from innet.scenario.load import expand, load_collective


def deploy_scenario(
    file: Path,
    overrides: Sequence[str],
    switch: tuple[str, int],
    hosts_file: Path | None,
    number: int,
    first_slot: int,
    remove: bool,
) -> Job:
    """Add the job of a scenario's first point to a switch, or remove it; returns the job.

    `switch` is its P4Runtime address and device id. ConfigurationError for a job that does
    not fit, SwitchError for a switch that does not answer, MissingToolError without finsy.
    """
    scenario = expand(load_collective(file, overrides))[0].scenario
    workers = scenario.topology.workers
    hosts = scheme_hosts(workers) if hosts_file is None else read_hosts(hosts_file, workers)
    plan = build_plan(scenario, "in_network", True, 0)
    job = replace(job_of(plan, hosts, number), first_slot=first_slot)
    plane = RuntimePlane(switch[0], job.elements_per_packet, switch[1])
    if remove:
        plane.remove(number)
    else:
        plane.add(job)
    return job
