"""How hosts on which packets cost time become cores, with two rows of LINK each."""

import numpy as np

from innet.engine.compiled.state import CORE, LINK, Records
from innet.plan.plan import Host, Plan
from innet.protocol.machine import NEVER


def is_busy(host: Host) -> bool:
    """Whether packets cost time on a host."""
    return host.send_ps > 0 or host.receive_ps > 0


def lower_cores(plan: Plan, first_row: int) -> tuple[Records, Records]:
    """Return a core a shard, and their rows of LINK, which stand from `first_row` on.

    There are none if no host is busy. A host that is not has cores without any work.
    """
    hosts = plan.hosts[: plan.workers]
    owners = [host for host in hosts for _ in range(host.cores)]
    if not any(is_busy(host) for host in hosts):
        owners = []
    cores, rows = np.zeros(len(owners), CORE), np.zeros(2 * len(owners), LINK)
    rows["limit"], rows["first_sent"] = -1, -1
    rows["target"] = np.repeat([host.node for host in owners], 2)
    rows["time_ps"] = np.repeat([host.send_ps for host in owners], 2)
    cores["work"] = first_row + np.arange(0, len(rows), 2)
    cores["inbox"] = cores["work"] + 1
    cores["receive_ps"] = [host.receive_ps for host in owners]
    cores["received_at"] = NEVER
    return cores, rows


def connect(plan: Plan, workers: Records, shards: Records, cores: Records) -> None:
    """Let shards send to their cores where that costs time, else to the uplink."""
    for host, row in zip(plan.hosts, workers, strict=False):
        own = slice(row["first_shard"], row["end_shard"])
        row["is_busy"] = is_busy(host)
        shards["outlet"][own] = cores["work"][own] if host.send_ps else row["uplink"]
